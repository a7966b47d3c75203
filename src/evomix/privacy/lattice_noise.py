"""Integer noise on the vote lattice: OpenDP's exact samplers, fed by the operating system's entropy.

Votes are whole micro-votes, noise is discrete Gaussian or discrete Laplace (Canonne, Kamath & Steinke
2020), so no rounding of real numbers can betray a vote. Sums beyond 64 bits saturate, which is
post-processing of the exact sum. Each sampler is used only when OpenDP's own proof (zero-concentrated DP
for the Gaussian, pure DP for the Laplace) grants at most the privacy loss that the accounting here
assumes: two independent opinions must agree.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from evomix.core.arrays import IntArray
from evomix.core.errors import PrivacyError, SpecError
from evomix.privacy.adjacency import ADJACENCIES, LATTICE, l1_sensitivity, l2_sensitivity_squared

__all__ = ["LATTICE", "add_gaussian", "add_laplace"]

_MARGIN = 1.0 + 1e-9
"""Both sides round up; they agree to nine digits."""


def add_gaussian(votes: IntArray, *, stddev: float) -> IntArray:
    """Return votes plus independent discrete Gaussian noise.

    Guarantee: one round of `gaussian_accounting.gaussian_delta` with the same ``stddev``; L2 sensitivity
    √2 under replace-one, 1 under add-remove, in private units; proof: docs/proofs/gaussian.md.

    Args:
        votes: int64 (d,), in micro-votes (`LATTICE` a private unit).
        stddev: σ, in private units.

    Returns:
        int64 (d,), in micro-votes.

    Raises:
        SpecError: for votes of another type or shape, or a ``stddev`` out of range.
        PrivacyError: when OpenDP's own analysis grants less privacy than is accounted for.
    """
    return _privatised(votes, _gaussian(_checked("stddev", stddev)))


def add_laplace(votes: IntArray, *, scale: float) -> IntArray:
    """Return votes plus independent discrete Laplace noise.

    Guarantee: one round of `laplace_accounting.laplace_delta` with the same ``scale``; L1 sensitivity 2
    under replace-one, 1 under add-remove, in private units; proof: docs/proofs/laplace.md.

    Args:
        votes: int64 (d,), in micro-votes (`LATTICE` a private unit).
        scale: b, in private units.

    Returns:
        int64 (d,), in micro-votes.

    Raises:
        SpecError: for votes of another type or shape, or a ``scale`` out of range.
        PrivacyError: when OpenDP's own analysis grants less privacy than is accounted for.
    """
    return _privatised(votes, _laplace(_checked("scale", scale)))


@lru_cache(maxsize=64)
def _gaussian(stddev: float) -> Any:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    measurement = dp.m.make_gaussian(*space, scale=stddev * LATTICE)
    for adjacency in ADJACENCIES:
        squared = l2_sensitivity_squared(adjacency)
        distance = math.sqrt(squared) * LATTICE
        _agree(measurement.map, distance, accounted=squared / (2.0 * stddev * stddev))
    return measurement


@lru_cache(maxsize=64)
def _laplace(scale: float) -> Any:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = dp.m.make_laplace(*space, scale=scale * LATTICE)
    for adjacency in ADJACENCIES:
        sensitivity = l1_sensitivity(adjacency)
        _agree(measurement.map, sensitivity * LATTICE, accounted=sensitivity / scale)
    return measurement


def _agree(privacy_map: Callable[[float], float], distance: float, *, accounted: float) -> None:
    """Refuse a sampler whose own proof grants more loss than is accounted for."""
    granted = privacy_map(distance)
    if not granted <= accounted * _MARGIN:
        raise PrivacyError(
            f"Expected OpenDP to prove a privacy loss of at most {accounted!r} for this noise; it proves "
            f"loss={granted!r}. Install a version of opendp that evomix supports (`evomix doctor`)."
        )


def _privatised(votes: IntArray, measurement: Any) -> IntArray:
    if votes.dtype != np.int64 or votes.ndim != 1:
        raise SpecError(f"Expected votes as int64 (d,); found {votes.dtype} with {votes.ndim} dimensions.")
    return np.array(measurement(votes.tolist()), dtype=np.int64)


def _checked(name: str, value: float) -> float:
    # Below, noise vanishes on the lattice; above, it saturates 64 bits: both are mistakes.
    if not 1.0 / LATTICE <= value <= 1e12:
        raise SpecError(f"Expected {name} between one micro-vote and 1e12 private units; found {name}={value!r}.")
    return float(value)


def _opendp() -> Any:
    """Return OpenDP, imported only when noise is drawn."""
    import opendp.prelude as dp  # noqa: PLC0415  (a large native library; most commands draw nothing)

    dp.enable_features("contrib")
    return dp
