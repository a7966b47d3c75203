"""Exact confidence bounds on a probability, from how often an event happened.

With h hits in N independent trials, the lower bound at mistake rate α is the p at which h or more hits have
probability α, the upper bound the p at which h or fewer have. Whatever the true p is, each bound is on the wrong side
of it with probability at most α. Source: Clopper & Pearson (1934).
"""

import numpy as np
from scipy.special import betainccinv, betaincinv

from evomix.core.arrays import FloatArray, IntArray

_OUTWARD = 1e-9  # far above the error of the inverse beta functions, far below what a trial can resolve


def at_least(hits: FloatArray | IntArray, trials: int, *, mistake: float) -> FloatArray:
    """Return the lower bound on the probability for each count in ``hits``, in its shape; 0 where nothing was hit."""
    some = np.maximum(hits, 1e-9)  # a simulated count may be any number
    return np.where(hits > 0, betaincinv(some, trials - hits + 1.0, mistake) * (1.0 - _OUTWARD), 0.0)


def at_most(hits: FloatArray | IntArray, trials: int, *, mistake: float) -> FloatArray:
    """Return the upper bound on the probability for each count in ``hits``, in its shape; 1 where all were hit."""
    missed = np.maximum(trials - hits, 1e-9)
    bound = np.where(hits < trials, betainccinv(hits + 1.0, missed, mistake) * (1.0 + _OUTWARD), 1.0)
    return np.minimum(bound, 1.0)
