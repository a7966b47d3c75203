"""Few cells for a column, cut where its mass is known to lie."""

import numpy as np

from evomix.core.arrays import FloatArray, IntArray


def equal_mass(shares: FloatArray, cells: int, *, missing: bool) -> IntArray:
    """Return a map of an ordered column's codes to at most ``cells`` neighbouring groups of about equal mass.

    Args:
        shares: float64 (codes,), estimated.
        cells: most groups, at least 1, the one for missing values not counted.
        missing: whether the last code means "missing"; it has a group of its own.
    """
    present = shares[: len(shares) - missing]
    total = present.sum()
    weights = present / total if total > 0.0 else np.full(len(present), 1.0 / len(present))
    middle = np.cumsum(weights) - weights / 2.0
    groups = np.minimum((middle * cells).astype(np.int64), cells - 1)
    _, groups = np.unique(groups, return_inverse=True)
    return np.append(groups, groups.max() + 1) if missing else groups


def largest_values(shares: FloatArray, cells: int, *, least: float) -> IntArray:
    """Return a map of a category's codes: each of the largest has its own cell, the others share one.

    Args:
        shares: float64 (codes,), estimated.
        cells: most cells, at least 2.
        least: smallest share that is worth a cell of its own.
    """
    if len(shares) <= 2:
        return np.arange(len(shares))
    own = min(max(int(np.count_nonzero(shares >= least)), 1), cells - 1)
    if own >= len(shares) - 1:
        return np.arange(len(shares))
    order = np.argsort(-shares, kind="stable")
    groups = np.full(len(shares), own)
    groups[order[:own]] = np.arange(own)
    return groups
