"""From a release to the distribution that parents and rows are drawn from.

Post-processing of a release; costs no privacy.
"""

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.release import Release
from evomix.selection.denoising import Denoising, shrunk


def project_to_simplex(point: FloatArray) -> FloatArray:
    """Return the probability vector nearest to ``point`` in Euclidean distance, float64 (d,).

    It is ``max(point − τ, 0)`` for the τ at which the sum is 1 (Held, Wolfe, Crowder 1974): small and negative
    entries vanish together, and no total is inflated as clipping alone would do. Never empty, never 0/0.

    >>> project_to_simplex(np.array([0.875, 0.375, -0.25]))
    array([0.75, 0.25, 0.  ])
    """
    lowered = point - point.max()  # moves every entry alike, so not the projection; no 1 is lost beside large noise
    ordered = np.sort(lowered)[::-1]
    excess = np.cumsum(ordered) - 1.0
    count = np.arange(1, point.size + 1)
    last = int(np.flatnonzero(ordered * count > excess)[-1])
    projected = np.maximum(lowered - excess[last] / (last + 1), 0.0)
    return np.asarray(projected / projected.sum())


def vote_shares(release: Release, denoise: Denoising = shrunk) -> FloatArray:
    """Return each candidate's estimated share of the votes, float64 (d,), non-negative, summing to 1."""
    return project_to_simplex(denoise(release))
