"""Exact confidence bounds on a probability, from how often an event happened.

With h hits in N independent trials, the lower bound at mistake rate α is the p at which h or more hits have
probability α, the upper bound the p at which h or fewer have. Whatever the true p is, each bound is on the wrong side
of it with probability at most α. Source: Clopper & Pearson (1934).

Inverse incomplete beta functions serve as a first guess only: for a thousand hits in 10⁹ trials they are off by more
than the bound itself. What is returned has been put into the forward function, whose error is known.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.special import betainc, betaincc, betainccinv, betaincinv

from evomix.core.arrays import FloatArray, IntArray

LARGEST_SAMPLE: Final = 10**9
"""Largest number of trials for which the forward functions were held against exact sums."""

_OUTWARD: Final = 2e-9  # where to start, beyond the guess: far below what a trial can resolve
_FORWARD_ERROR: Final = 1e-9  # relative; 4e-11 is the largest that was found
_LEAST: Final = 1e-300
_REFINED: Final = 30  # halvings after a guess that was off, so that the bound is no wider than it must be


def at_least(hits: FloatArray | IntArray, trials: int, *, mistake: float) -> FloatArray:
    """Return the lower bound on the probability for each count in ``hits``, in its shape; 0 where nothing was hit."""
    some = np.maximum(np.asarray(hits, np.float64), 1e-9)  # a simulated count may be any number
    others = trials - some + 1.0
    start = betaincinv(some, others, mistake) * (1.0 - _OUTWARD)
    bound = _certified(start, lambda p: betainc(some, others, p), mistake, outward=-1.0)
    return np.where(np.asarray(hits) > 0, bound, 0.0)


def at_most(hits: FloatArray | IntArray, trials: int, *, mistake: float) -> FloatArray:
    """Return the upper bound on the probability for each count in ``hits``, in its shape; 1 where all were hit."""
    some = np.asarray(hits, np.float64) + 1.0
    missed = np.maximum(trials - np.asarray(hits, np.float64), 1e-9)
    start = betainccinv(some, missed, mistake) * (1.0 + _OUTWARD)
    bound = _certified(start, lambda p: betaincc(some, missed, p), mistake, outward=1.0)
    return np.where(np.asarray(hits) < trials, bound, 1.0)


def _certified(
    start: FloatArray, miss: Callable[[FloatArray], FloatArray], mistake: float, *, outward: float
) -> FloatArray:
    """Return ``start``, moved outward where it has to be until the bound misses with probability ``mistake`` at most.

    Args:
        start: the guesses.
        miss: how often bounds are missed if the probabilities are what they say.
        mistake: how often they may be.
        outward: −1 for lower bounds, whose end is 0; 1 for upper bounds, whose end is 1.
    """
    allowed, stride = mistake * (1.0 - _FORWARD_ERROR), _OUTWARD
    start = np.clip(np.nan_to_num(start, nan=0.5), _LEAST, 1.0)
    inner = outer = start
    while (astray := ~(miss(outer) <= allowed) & (outer > 0.0 if outward < 0.0 else outer < 1.0)).any():
        inner = np.where(astray, outer, inner)
        outer = np.where(astray, np.clip(start * (1.0 + outward * stride), 0.0, 1.0), outer)
        stride *= 4.0
    for _ in range(_REFINED if (inner != outer).any() else 0):
        middle = (inner + outer) / 2.0
        holds = miss(middle) <= allowed
        inner, outer = np.where(holds, inner, middle), np.where(holds, middle, outer)
    return np.asarray(outer)
