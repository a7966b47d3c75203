"""Rank: keep the candidates with the most votes (Xie et al. 2024, Aug-PE)."""

import numpy as np

from evomix.core.arrays import IntArray
from evomix.core.release import Release
from evomix.selection.denoising import Denoising, shrunk


def rank(release: Release, size: int, rng: np.random.Generator, *, denoise: Denoising = shrunk) -> IntArray:
    """Return the positions of the ``size`` largest estimated vote shares, best first; ties go to the lowest position.

    Deterministic (``rng`` is part of the protocol only). With fewer than ``size`` candidates the ranking is repeated
    until the size is met. Post-processing; costs nothing.
    """
    del rng
    order = np.argsort(-denoise(release), kind="stable").astype(np.int64)
    return np.resize(order, size) if size > order.size else order[:size]
