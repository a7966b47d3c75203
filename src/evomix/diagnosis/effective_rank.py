"""How much of a variation goes where the data are: effective rank and anti-concentration.

Definition 3.2 of "Understanding Private Evolution as Learning-Augmented Clustering" (2026): a record x is reachable
from the variations Z of y with effective rank λ = tr Cov[Z]·‖x − y‖² / ((x − y)ᵀ Cov[Z] (x − y)), and with the constant
c if a third of the variations goes towards x by at least √(c·Var[uᵀZ]), u = (x − y)/‖x − y‖.

Few variations show no covariance of many coordinates. λ needs two numbers of it only: the variance along one direction
and the trace. Their quotient 1/λ, the *share* of the variance that lies along u, is estimated and then turned over,
because a share has finite moments and λ has not. The jackknife takes out its bias of order 1/N and says how far it
errs. For normal variations a share errs by √(2/N), 18 % for N = 64; for others by √((κ − 1)/N), κ the kurtosis along u.
"""

from typing import Final, NamedTuple

import numpy as np

from evomix.core.arrays import FloatArray

NOTHING: Final = 1e-10
"""A smaller share of the variance is rounding: the variations do not go in this direction at all."""
MOST_C: Final = 2.0
"""The largest c that the definition allows."""


class Shares(NamedTuple):
    """1/λ of each pair.

    Attributes:
        share: float64 (p,), in [0, 1]; NaN where all variations are one point.
        error: float64 (p,), its standard error.
    """

    share: FloatArray
    error: FloatArray

    @property
    def rank(self) -> FloatArray:
        """λ, float64 (p,), at least 1; infinite where no variance lies along the direction."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.share)


def shares(variations: FloatArray, directions: FloatArray) -> Shares:
    """Return the share of the variations' variance that lies along one direction.

    Args:
        variations: float64 (p, N, k), N ≥ 3 variations of each of p points.
        directions: float64 (p, k), unit vectors.
    """
    count = variations.shape[1]
    gaps = variations - variations.mean(axis=1, keepdims=True)
    whole = np.einsum("pnk,pnk->pn", gaps, gaps)
    along = np.einsum("pnk,pk->pn", gaps, directions) ** 2
    plain = _quotient(along.sum(axis=1), whole.sum(axis=1))
    # Leaving one out moves the mean as well, by a known amount.
    left = count / (count - 1)
    without = _quotient(
        along.sum(axis=1, keepdims=True) - left * along, whole.sum(axis=1, keepdims=True) - left * whole
    )
    without = np.where(np.isnan(without), plain[:, None], without)
    corrected = count * plain - (count - 1) * without.mean(axis=1)
    share = np.clip(np.where(corrected > 0.0, corrected, plain), 0.0, 1.0)
    error = np.sqrt((count - 1) * without.var(axis=1))
    return Shares(np.where(plain <= NOTHING, 0.0, share), error)


def anticoncentration(points: FloatArray, variations: FloatArray, directions: FloatArray) -> FloatArray:
    """Return the largest c of each pair, float64 (p,), in [0, 2]; 0 where less than a third goes towards x.

    A normal law has c = 0.186.

    Args:
        points: float64 (p, k), y.
        variations: float64 (p, N, k), its variations.
        directions: float64 (p, k), unit vectors towards x.
    """
    count = variations.shape[1]
    forward = np.einsum("pnk,pk->pn", variations - points[:, None], directions)
    third = np.sort(forward, axis=1)[:, count - -(-count // 3)]
    variance = forward.var(axis=1, ddof=1)
    found = np.divide(np.maximum(third, 0.0) ** 2, variance, out=np.zeros(len(points)), where=variance > 0.0)
    return np.asarray(np.minimum(found, MOST_C))


def _quotient(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return ``part / whole``; NaN where there is nothing, to within rounding."""
    least = NOTHING * np.max(whole, axis=-1, keepdims=True) if whole.ndim > 1 else 0.0
    found = np.full(whole.shape, np.nan)
    return np.asarray(np.divide(np.maximum(part, 0.0), whole, out=found, where=whole > least))
