"""How strongly two columns go together, on one scale for all types.

Number with number: Spearman's rank correlation, in [-1, 1]. Category with category: Cramér's V with Bergsma's
bias correction (J. Korean Stat. Soc. 42, 2013). Category with number: correlation ratio on ranks with
Kelley's correction (PNAS 21, 1935). A constant column is associated with nothing: 0.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from evomix.core.arrays import FloatArray, IntArray
from evomix.evaluation.binning import bin_column
from evomix.evaluation.columns import ColumnLike, is_number_like

TINY = 1e-12


def association_matrix(population: FloatArray, columns: Sequence[ColumnLike]) -> FloatArray:
    """Return the association of every pair of columns, float64 (c, c), symmetric with a diagonal of ones.

    Ranks are taken over each column's present values; a pair of numbers uses the rows where both are present.
    A category's missing cells count as a value.
    """
    numbers = [j for j, column in enumerate(columns) if is_number_like(column)]
    categories = [j for j, column in enumerate(columns) if not is_number_like(column)]
    ranks = {j: rankdata(population[:, j], nan_policy="omit") for j in numbers}
    codes = {j: bin_column(population[:, j], columns[j]) for j in categories}
    matrix = np.zeros((len(columns), len(columns)))
    if numbers:
        matrix[np.ix_(numbers, numbers)] = _rank_correlation(np.stack([ranks[j] for j in numbers], axis=1))
    for position, i in enumerate(categories):
        for j in numbers:
            matrix[i, j] = matrix[j, i] = _correlation_ratio(codes[i], ranks[j])
        for j in categories[position + 1 :]:
            matrix[i, j] = matrix[j, i] = _cramers_v(codes[i], codes[j])
    np.fill_diagonal(matrix, 1.0)
    return matrix


def mean_difference(first: FloatArray, second: FloatArray) -> float:
    """Return the mean absolute difference of two association matrices over pairs; 0 without pairs."""
    upper = np.triu_indices(len(first), k=1)
    return float(np.abs(first[upper] - second[upper]).mean()) if len(upper[0]) else 0.0


def _rank_correlation(ranks: FloatArray) -> FloatArray:
    """Return Pearson's correlation of all pairs of columns over the rows where both are present."""
    present = (~np.isnan(ranks)).astype(np.float64)
    # Scaled to about [-½, ½]: moments of raw ranks would lose digits.
    centred = np.where(present > 0, np.nan_to_num(ranks) / max(len(ranks), 1) - 0.5, 0.0)
    shared = np.maximum(present.T @ present, 1.0)
    sums = centred.T @ present
    squares = (centred**2).T @ present
    covariance = centred.T @ centred / shared - sums * sums.T / shared**2
    variance = np.maximum(squares / shared - (sums / shared) ** 2, 0.0)
    varies = np.minimum(variance, variance.T) > TINY
    scale = np.sqrt(np.where(varies, variance * variance.T, 1.0))
    return np.asarray(np.where(varies, np.clip(covariance / scale, -1.0, 1.0), 0.0))


def _correlation_ratio(codes: IntArray, ranks: FloatArray) -> float:
    present = ~np.isnan(ranks)
    rows = int(present.sum())
    _, groups = np.unique(codes[present], return_inverse=True)
    sizes = np.bincount(groups)
    if len(sizes) < 2 or rows <= len(sizes):
        return 0.0
    values = ranks[present] - ranks[present].mean()
    total = float(values @ values)
    if total <= TINY:
        return 0.0
    between = float((np.bincount(groups, weights=values) ** 2 / sizes).sum())
    explained = 1.0 - (1.0 - between / total) * (rows - 1) / (rows - len(sizes))
    return float(np.sqrt(np.clip(explained, 0.0, 1.0)))


def _cramers_v(first: IntArray, second: IntArray) -> float:
    _, rows = np.unique(first, return_inverse=True)
    _, columns = np.unique(second, return_inverse=True)
    n, r, k = len(first), len(np.bincount(rows)), len(np.bincount(columns))
    if r < 2 or k < 2 or n < 2:
        return 0.0
    cells, counts = np.unique(rows * k + columns, return_counts=True)
    expected = np.bincount(rows)[cells // k] * np.bincount(columns)[cells % k].astype(np.float64)
    phi2 = float((counts**2 / expected).sum()) - 1.0
    corrected = max(phi2 - (r - 1) * (k - 1) / (n - 1), 0.0)
    smaller = min(r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)) - 1.0
    return float(min(np.sqrt(corrected / smaller), 1.0)) if smaller > TINY else 0.0
