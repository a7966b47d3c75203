"""Empirical Bayes: the posterior mean of the vote shares, under a prior that the release itself teaches.

Each candidate's private share is its prior share times a ratio, ``P_i = Q_i·θ_i``, and the ratios are draws from one
law G. A release has thousands of candidates, so it tells G: near 1 where public votes are like the private ones, spread
out where they are not, with mass at 0 where many candidates have no votes at all. Given G the best estimate of each
share is its posterior mean; unlike a mixture with one weight for all, it leaves large shares alone and takes out what
is probably noise. G has weights on a fixed grid, from a few EM steps (Robbins 1956; Laird 1978).
Post-processing; costs no privacy. Measured: benchmarks/denoising.py.
"""

from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.release import Draws, Release

_LEAST: Final = 1.0 / 32.0
"""Smallest ratio on the grid besides 0."""
_BELOW, _ABOVE = 8, 16
"""Ratios on the grid in [1/32, 1] and above 1."""
_STEPS: Final = 30
"""EM steps. Where the release tells little of G they end near the start, on the safe side."""
_SPREAD: Final = 0.5
"""Scale, in log ratio, of the Cauchy weights that G starts from beside public votes."""
_LEAST_SHARE: Final = 1e-100
"""Prior shares below count as this much: no release tells them apart, and no ratio or square of one overflows."""
_LEAST_VARIANCE, _MOST_ERROR = 1e-200, 1e300
"""Noise below counts as this much; a release of more error tells nothing."""
_FAR: Final = 40.0
"""Standard deviations beyond [0, 1] that an estimate is cut at: it says no less, and its square stays finite."""


def empirical_bayes(release: Release) -> FloatArray:
    """Return the posterior mean of the vote shares, float64 (d,), a distribution.

    The prior Q is the public votes; without them the noise distribution of draws, or for noisy votes the uniform.
    Candidates without public votes share among them what the release says they have together, and have a law of
    ratios of their own: how much is unseen in public data is not known beforehand.
    """
    prior = release.prior
    if prior is None:
        size = release.shares().size
        prior = release.noise_distribution if isinstance(release, Draws) else np.full(size, 1.0 / size)
    shares = release.shares()
    if not isinstance(release, Draws) and release.stddev == 0.0:
        return shares
    if not release.error() < _MOST_ERROR:
        return prior
    unseen = prior == 0.0
    base = prior
    if unseen.any():
        mass = min(max(float(shares[unseen].sum()), 0.0), 1.0)
        base = np.where(unseen, mass / np.count_nonzero(unseen), prior * (1.0 - mass))
    means = np.zeros(base.size)
    for group, public in ((unseen, False), (~unseen, release.prior is not None)):
        rows = np.flatnonzero(group & (base > 0.0))
        if rows.size:
            means[rows] = _group_means(release, rows, np.maximum(base[rows], _LEAST_SHARE), public=public)
    total = float(means.sum())
    return means / total if total > 0.0 else prior


def _group_means(release: Release, rows: np.ndarray, base: FloatArray, *, public: bool) -> FloatArray:
    """Return the posterior means of candidates that share one law of ratios, float64 (len(rows),), in their order."""
    noise = _noise_variance(release, rows, base)[:, None]
    spread = np.sqrt(noise)
    shares = np.clip(release.shares()[rows][:, None], -_FAR * spread, 1.0 + _FAR * spread)
    ratios, widths = _grid(float((np.minimum(shares + 2.0 * spread, 1.0) / base[:, None]).max()))
    means = base[:, None] * ratios
    within = (base[:, None] * widths) ** 2
    if isinstance(release, Draws):
        rates = (1.0 - release.mixing_weight) * means
        rates += release.mixing_weight * release.noise_distribution[rows][:, None]
        noise = rates / release.draws / (1.0 - release.mixing_weight) ** 2
        fit = _poisson(release.counts[rows][:, None], release.draws * rates)
    else:
        fit = -((shares - means) ** 2 / (noise + within) + np.log(noise + within)) / 2.0
    fit = np.exp(fit - fit.max(axis=1, keepdims=True))
    weights = _start(ratios, public=public)
    for _ in range(_STEPS):
        weights *= fit.T @ (1.0 / (fit @ weights)) / rows.size
        weights /= weights.sum()
    fit *= weights
    # A ratio on the grid stands for the interval around it: within it, the release decides as far as its noise allows.
    means += np.divide(within, within + noise, out=np.zeros_like(means), where=within > 0.0) * (shares - means)
    return np.asarray(np.maximum((fit * means).sum(axis=1) / fit.sum(axis=1), 0.0))


def _noise_variance(release: Release, rows: np.ndarray, base: FloatArray) -> FloatArray:
    """Return the variance of the signed shares, float64 (len(rows),); of draws roughly, to place the grid."""
    if not isinstance(release, Draws):
        return np.full(rows.size, max(release.spread**2, _LEAST_VARIANCE))
    private = 1.0 - release.mixing_weight
    rates = private * np.maximum(release.shares()[rows], base)
    return np.asarray((rates + release.mixing_weight * release.noise_distribution[rows]) / release.draws / private**2)


def _grid(top: float) -> tuple[FloatArray, FloatArray]:
    """Return the ratios 0, 1/32 … 1 … ``top`` and the standard deviation of the interval that each stands for."""
    below = np.geomspace(_LEAST, 1.0, _BELOW + 1)
    above = np.geomspace(1.0, max(top, 2.0), _ABOVE + 1)[1:]
    ratios = np.concatenate([below, above])
    widths = ratios * np.gradient(np.log(ratios)) / np.sqrt(12.0)
    return np.concatenate([[0.0], ratios]), np.concatenate([[0.0], widths])


def _start(ratios: FloatArray, *, public: bool) -> FloatArray:
    """Return the weights that EM starts from: near 1 beside public votes, else half on 0 and the rest on all alike."""
    if public:
        weights = 1.0 / (1.0 + (np.log(np.maximum(ratios, _LEAST / 2)) / _SPREAD) ** 2)
    else:
        weights = np.where(ratios == 0.0, ratios.size - 1.0, 1.0)
    return np.asarray(weights / weights.sum())


def _poisson(counts: np.ndarray, rates: FloatArray) -> FloatArray:
    """Return the log-likelihood of ``counts`` at ``rates``, up to a constant a row; 0 counts fit a rate of 0."""
    logs = np.log(rates, out=np.full(rates.shape, -np.inf), where=rates > 0.0)
    return np.asarray(np.multiply(counts, logs, out=np.zeros(rates.shape), where=counts > 0) - rates)
