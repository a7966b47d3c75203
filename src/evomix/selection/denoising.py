"""Denoising: what a release says of the vote shares, in the ways a user may choose among.

β and the noise distribution of draws, and the size of the noise on votes, are public. So the noise can be taken out
again, in part: post-processing of a release, which costs no privacy. ``DENOISINGS`` maps the names to the functions.

Each function returns a *point*, float64 (d,): the shares, with what lies below nothing left negative. The estimate is
the nearest distribution to it (:func:`evomix.selection.shares.project_to_simplex`), and a ranking reads the point
itself, in which candidates that the estimate gives nothing still have an order.
Proofs: docs/proofs/post_processing.md. Measured: benchmarks/denoising.py.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.core.release import Draws, Release
from evomix.selection.empirical_bayes import empirical_bayes

Denoising = Callable[[Release], FloatArray]
"""From a release to the point whose nearest distribution is the estimate of the vote shares."""


def none(release: Release) -> FloatArray:
    """Return the release as it is: the share of the draws; or noisy votes, to be cut at zero and normalised.

    Without draws there is no share, and the noise distribution stands in.
    """
    if isinstance(release, Draws):
        return release.counts / release.draws if release.draws else release.noise_distribution
    positive = float(np.maximum(release.votes, 0.0).sum())
    return release.votes / positive if positive > 0.0 else release.shares()


def signed(release: Release) -> FloatArray:
    """Return the unbiased signed estimate, with the known noise component of draws taken out."""
    return release.shares()


def likelihood(release: Release) -> FloatArray:
    """Return the point of the most likely shares.

    Draws: the P that maximises ``Σ c_i·log((1−β)P_i + βN_i)`` has ``(1−β)P_i = max(c_i/µ − βN_i, 0)``, with µ such
    that P sums to 1: one sort instead of an EM iteration, of which it is the fixed point. Draws that say nothing of
    the records give the noise distribution.
    Votes with Gaussian noise of one size: most likely is the nearest distribution, so the point is the signed
    estimate. For Laplace noise that is least squares, which is consistent but not the most likely.
    """
    if not isinstance(release, Draws) or not release.informative:
        return release.shares()
    counts, private = release.counts, 1.0 - release.mixing_weight
    noise = release.mixing_weight * release.noise_distribution
    drawn = np.flatnonzero(counts)
    # A candidate has a share when 1/µ lies above its threshold; f(1/µ) = Σ max(c/µ − βN, 0) increases, so those with
    # a share are the first few in the order of the thresholds.
    thresholds = noise[drawn] / counts[drawn]
    order = np.argsort(thresholds, kind="stable")
    total, masked = np.cumsum(counts[drawn][order]), np.cumsum(noise[drawn][order])
    # The first is 0 < 1−β exactly; rounded it may not be, where hardly a draw is private.
    last = max(int(np.count_nonzero(total * thresholds[order] - masked < private)) - 1, 0)
    inverse = (private + masked[last]) / total[last]
    return np.asarray((counts * inverse - noise) / private)


def shrunk(release: Release) -> FloatArray:
    """Return the mixture of the signed estimate and the prior with the least estimated squared error.

    The signed estimate s of the private shares P has a known squared error V. The prior Q is what is expected of P
    before the release: the public votes; without them, for draws, the noise distribution. The squared error of
    ``w·s + (1−w)·Q`` is ``w²·V + (1−w)²·‖P−Q‖²``, least at ``w = ‖P−Q‖² / (‖P−Q‖² + V)``; the release itself tells
    ‖P−Q‖², because ``‖s−Q‖² − V`` is an unbiased estimate of it (James and Stein 1961). So public records that are near
    are leant on when the budget is small, and those that are far are not.
    """
    prior = release.prior
    if prior is None and isinstance(release, Draws):
        prior = release.noise_distribution
    shares = release.shares()
    if prior is None:
        return shares
    error = release.error()
    if not np.isfinite(error):
        return prior
    seen = float(((shares - prior) ** 2).sum())
    weight = max(1.0 - error / seen, 0.0) if seen > 0.0 else 0.0
    return np.asarray(weight * shares + (1.0 - weight) * prior)


DENOISINGS: Final[dict[str, Denoising]] = {
    "none": none,
    "signed": signed,
    "shrunk": shrunk,
    "likelihood": likelihood,
    "bayes": empirical_bayes,
}

POOLED: Final = "pooled"
"""No estimate of one release but of all together (:mod:`evomix.selection.pooling`), from which final rows are made.
Within the rounds before, parents are drawn by :func:`signed`: its errors cancel out over many candidates."""

BALANCED: Final = ("signed", "shrunk", "bayes")
"""Denoisings whose points hold one unit of mass in all, or nearly (noisy votes miss it by their noise): what votes can
be moved about by. "none" leaves the noise in, or scales the votes to what is positive; "likelihood" takes the noise out
twice, once by what it subtracts and again by the negative entries that it leaves."""


def denoising(name: str) -> Denoising:
    """Return the function that one release is denoised by, in a run with that denoising."""
    return signed if name == POOLED else DENOISINGS[name]


def choose_denoising(name: str, *, informed: bool, geometric: bool = False, poolable: bool = False) -> str:
    """Return the name of the denoising of a run; "auto" is what was measured best.

    Args:
        name: "auto", :data:`POOLED` or a name of :data:`DENOISINGS`.
        informed: whether releases carry public votes as their prior.
        geometric: whether the selection moves votes between candidates.
        poolable: whether releases can be pooled: records are the rows of a table.

    Raises:
        SpecError: the name is unknown, or it does not go with a geometric selection.
    """
    if name == "auto" and geometric:
        return "signed"  # the transport itself takes out what is noise; the theory is about this estimate
    if name == "auto" and poolable:
        return POOLED
    if name == "auto":
        # Without public votes a prior draws every column's margin towards made-up candidates, in one direction; the
        # errors of the signed estimate cancel out over candidates.
        return "shrunk" if informed else "signed"
    if name not in (*DENOISINGS, POOLED):
        raise SpecError(f"denoising must be one of auto, {', '.join(DENOISINGS)}, {POOLED}; found denoising={name!r}")
    if geometric and name not in BALANCED:
        raise SpecError(
            f"denoising={name!r} does not go with selection projection or gape, which move votes between candidates "
            f"and need all of them to sum to n; choose one of auto, {', '.join(BALANCED)}"
        )
    return name


def posterior_weights(draws: Draws, shares: FloatArray | None = None) -> FloatArray:
    """Return the probability that a draw of each candidate came from a private record, float64 (d,).

    ``w_i = 1 − βN_i/P_syn(i)`` with ``P_syn = (1−β)P + βN`` at the estimate P. A candidate that could not be drawn at
    all has the weight 1 − β of any draw. Post-processing; costs nothing.

    Args:
        draws: the release.
        shares: P, float64 (d,), a distribution; ``None`` takes the most likely one.
    """
    if shares is None:
        shares = np.maximum(likelihood(draws), 0.0)
    private = (1.0 - draws.mixing_weight) * shares
    mixture = private + draws.mixing_weight * draws.noise_distribution
    weights = np.full(private.size, 1.0 - draws.mixing_weight)
    return np.asarray(np.divide(private, mixture, out=weights, where=mixture > 0.0))
