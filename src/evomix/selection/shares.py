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


def shrunk_draws(draws: Draws) -> FloatArray:
    """Return the member of ``u·empirical + (1−u)·noise`` with the least estimated squared error, float64 (d,).

    u = 1 is the draws as they are (biased towards the noise distribution N by β), u = 1/(1−β) takes the noise out
    (unbiased, noisier), u = 0 is N alone. With D = ‖P − N‖² and V the sampling variance of the draws, the squared
    error is ``(1 − (1−β)u)²·D + u²·V``, least at ``u = (1−β)D / ((1−β)²D + V)``; D is estimated without bias from
    the draws themselves. So public data that are near are leant on, and public data that are far are removed.
    """
    noise, beta = draws.noise_distribution, draws.mixing_weight
    if draws.draws == 0 or beta >= 1.0:
        return noise
    empirical = draws.counts / draws.draws
    variance = float((1.0 - (empirical**2).sum()) / max(draws.draws - 1, 1))
    distance = max(float(((empirical - noise) ** 2).sum()) - variance, 0.0) / (1.0 - beta) ** 2
    risk = (1.0 - beta) ** 2 * distance + variance
    weight = (1.0 - beta) * distance / risk if risk > 0.0 else 1.0
    return np.asarray(weight * empirical + (1.0 - weight) * noise)


def vote_shares(release: Release) -> FloatArray:
    """Return each candidate's estimated share of the votes, float64 (d,), non-negative, summing to 1."""
    if isinstance(release, Draws):
        return project_to_simplex(shrunk_draws(release))
    return project_to_simplex(release.estimate() / max(release.units, 1))
