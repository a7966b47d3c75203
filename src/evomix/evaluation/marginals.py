"""Total variation between k-way marginals of two binned tables."""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.evaluation.binning import Cells

DENSE_CELLS = 1 << 20


def total_variation(first: IntArray, second: IntArray, sizes: Sequence[int]) -> float:
    """Return ½ Σ|P − Q| between the joint distributions of two sets of cell codes.

    Args:
        first: int64 (n, k) with n ≥ 1.
        second: int64 (m, k) with m ≥ 1.
        sizes: number of cells of each of the k columns.
    """
    both = np.concatenate([first, second])
    keys, domain = both[:, 0], sizes[0]
    for j in range(1, both.shape[1]):
        keys, domain = keys * sizes[j] + both[:, j], domain * sizes[j]
        if domain > DENSE_CELLS:  # only cells that occur matter; renumbering them also keeps keys in 64 bits
            occurring, keys = np.unique(keys, return_inverse=True)
            domain = len(occurring)
    split = len(first)
    p = np.bincount(keys[:split], minlength=domain) / split
    q = np.bincount(keys[split:], minlength=domain) / len(second)
    return float(0.5 * np.abs(p - q).sum())


def column_sets(count: int, way: int, limit: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return all sets of ``way`` of ``count`` columns, or ``limit`` of them drawn without repeats, sorted."""
    if comb(count, way) <= limit:
        return list(combinations(range(count), way))
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < limit:
        drawn.add(tuple(sorted(int(j) for j in rng.choice(count, size=way, replace=False))))
    return sorted(drawn)


def marginal_distances(first: Cells, second: Cells, sets: Sequence[tuple[int, ...]]) -> FloatArray:
    """Return the total variation of each marginal, float64 (len(sets),)."""
    distances = [
        total_variation(first.codes[:, chosen], second.codes[:, chosen], [first.sizes[j] for j in chosen])
        for chosen in map(list, sets)
    ]
    return np.array(distances, dtype=np.float64)


def independent_distances(
    first: Cells, second: Cells, pairs: Sequence[tuple[int, ...]], rng: np.random.Generator
) -> FloatArray:
    """Return what ``marginal_distances`` would be if ``second`` kept its columns but lost every relation.

    Each pair's second column is shuffled, which breaks the pairing and keeps both columns as well as the
    sampling noise of a table of that size.
    """
    moved = second.codes[rng.permutation(len(second.codes))]
    distances = [
        total_variation(
            first.codes[:, [i, j]],
            np.stack([second.codes[:, i], moved[:, j]], axis=1),
            [first.sizes[i], first.sizes[j]],
        )
        for i, j in pairs
    ]
    return np.array(distances, dtype=np.float64)
