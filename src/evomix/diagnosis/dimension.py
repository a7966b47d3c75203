"""In how many directions variations go.

Three views. *Participation ratio* (tr C)²/tr C²: k for k equal variances, r for r of them. *Components*: how many
principal axes hold most of the variance. *Correlation dimension*: how fast the number of neighbours grows with the
distance; a curve has 1 however it bends, and it is what a doubling dimension bounds.

The sample covariance of N points in k > N coordinates has rank N − 1, and its participation ratio is far too small.
Here (tr C)² and tr C² are estimated without bias from differences of disjoint pairs, which are independent and have
mean 0: with d_i = z_2i − z_2i−1, E[‖d_i‖²·‖d_j‖²] = 4·(tr C)² and E[(d_iᵀd_j)²] = 4·tr C² for i ≠ j.
"""

from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray

NEAR: Final = 0.1
"""The correlation dimension looks at this share of the pairs, the nearest ones."""
_SAME: Final = 1e-10
"""Squared distances below this share of the largest are those of equal points."""


def participation_ratio(variations: FloatArray) -> FloatArray:
    """Return (tr C)²/tr C² of the variations of each point, float64 (p,), at least 1; NaN without any variance.

    Args:
        variations: float64 (p, N, k), N ≥ 4.
    """
    half = variations.shape[1] // 2
    gaps = variations[:, 0 : 2 * half : 2] - variations[:, 1 : 2 * half : 2]
    products = gaps @ gaps.transpose(0, 2, 1)
    squares = np.einsum("pii->pi", products)
    own = (squares**2).sum(axis=1)
    traces = squares.sum(axis=1) ** 2 - own
    crossed = (products**2).sum(axis=(1, 2)) - own
    # Never below 1 in truth; where all differences are orthogonal the sample is too small to see an end.
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(traces > 0.0, np.maximum(traces / np.maximum(crossed, 0.0), 1.0), np.nan))


def correlation_dimension(variations: FloatArray) -> FloatArray:
    """Return the correlation dimension of the variations of each point, float64 (p,); NaN where it cannot be told.

    Takens' estimator, −1 / mean ln(distance/r) over the pairs nearer than r, on the nearest tenth. Pairs of equal
    points are left out. Like all such estimators it is too small in many dimensions, so it is a lower bound: of normal
    variations in k = 5 it gives about 4.3, in k = 30 about 14.

    Args:
        variations: float64 (p, N, k).
    """
    count = variations.shape[1]
    rows, columns = np.triu_indices(count, 1)
    centred = variations - variations.mean(axis=1, keepdims=True)
    squares = np.einsum("pnk,pnk->pn", centred, centred)
    products = centred @ centred.transpose(0, 2, 1)
    gaps = squares[:, rows] + squares[:, columns] - 2.0 * products[:, rows, columns]
    return np.array([_takens(one) for one in gaps])


def components(variations: FloatArray, *, share: float = 0.9) -> int:
    """Return how many principal axes hold ``share`` of the variance within the points, all points' taken together.

    Too small where there are not many more variations than coordinates, and never more than the variations.

    Args:
        variations: float64 (p, N, k); each point's are taken about their own mean.
        share: of the variance, in (0, 1].
    """
    gaps = (variations - variations.mean(axis=1, keepdims=True)).reshape(-1, variations.shape[2])
    matrix = gaps.T @ gaps if gaps.shape[1] <= gaps.shape[0] else gaps @ gaps.T
    spectrum = np.maximum(np.linalg.eigvalsh(matrix)[::-1], 0.0)
    if not spectrum.size or spectrum[0] <= 0.0:
        return 0
    held = np.cumsum(spectrum) / spectrum.sum()
    return int(np.searchsorted(held, share * (1.0 - 1e-12)) + 1)


def _takens(squares: FloatArray) -> float:
    """Return the dimension of one cloud from its pairs' squared distances."""
    apart = squares[squares > _SAME * squares.max(initial=0.0)]
    if apart.size < 2:
        return np.nan
    radius = np.quantile(apart, NEAR, method="higher")
    logs = np.log(apart[apart < radius] / radius)
    # A logarithm of squares is twice that of distances.
    return float(-2.0 / logs.mean()) if logs.size else np.nan
