"""From a signed vote estimate to shares: the least-risk mixture with the prior, then the nearest distribution.

Post-processing of a release; costs no privacy.
"""

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.release import Draws, Release


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


def shrunk_shares(release: Release) -> FloatArray:
    """Return the mixture of estimate and prior with the least estimated squared error, float64 (d,), sums to about 1.

    The unbiased estimate s of the private shares P has a known squared error V. The prior Q is what is expected of P
    before the release: the public votes; without them, for draws, the noise distribution. The squared error of
    ``w·s + (1−w)·Q`` is ``w²·V + (1−w)²·‖P−Q‖²``, least at ``w = ‖P−Q‖² / (‖P−Q‖² + V)``; the release itself tells
    ‖P−Q‖², because ``‖s−Q‖² − V`` is an unbiased estimate of it (James and Stein 1961). So public records that are near
    are leant on when the budget is small, and those that are far are not.
    """
    prior = release.prior
    if prior is None and isinstance(release, Draws):
        prior = release.noise_distribution
    shares = np.asarray(release.estimate() / max(release.units, 1))
    if prior is None:
        return shares
    error = release.error()
    if not np.isfinite(error):
        return prior
    seen = float(((shares - prior) ** 2).sum())
    weight = max(1.0 - error / seen, 0.0) if seen > 0.0 else 0.0
    return np.asarray(weight * shares + (1.0 - weight) * prior)


def vote_shares(release: Release) -> FloatArray:
    """Return each candidate's estimated share of the votes, float64 (d,), non-negative, summing to 1."""
    return project_to_simplex(shrunk_shares(release))
