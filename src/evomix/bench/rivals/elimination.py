"""Greedy elimination of columns, which makes a graph chordal."""

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.core.compiled import compiled


def eliminate(adjacent: NDArray[np.bool_], log_sizes: FloatArray, *, by_fill: bool) -> NDArray[np.bool_]:
    """Return the maximal cliques that eliminating the cheapest column first leaves, bool (cliques, columns).

    Source: Koller and Friedman (2009), Probabilistic Graphical Models, section 9.4.3: min-fill and min-weight.

    Args:
        adjacent: symmetric, bool (d, d), nothing on the diagonal.
        log_sizes: logarithm of each column's number of cells, float64 (d,).
        by_fill: whether the cheapest column is the one that joins the fewest pairs (ties: the smallest clique), or the
            one whose clique has the fewest cells.
    """
    members, count = _eliminate(adjacent.copy(), log_sizes, by_fill)
    return members[:count]


@compiled
def _eliminate(
    adjacent: NDArray[np.bool_], log_sizes: FloatArray, by_fill: bool
) -> tuple[NDArray[np.bool_], int]:  # pragma: no cover  (compiled)
    columns = len(log_sizes)
    there = np.ones(columns, np.bool_)
    members = np.zeros((columns, columns), np.bool_)
    count = 0
    for _ in range(columns):
        v = _cheapest(adjacent, there, log_sizes, by_fill)
        members[count] = adjacent[v]
        members[count, v] = True
        near = np.flatnonzero(adjacent[v])
        for i in near:
            for k in near:
                adjacent[i, k] = i != k
        adjacent[v, :] = False
        adjacent[:, v] = False
        there[v] = False
        if not _within(members, count):
            count += 1
    return members, count


@compiled
def _cheapest(
    adjacent: NDArray[np.bool_], there: NDArray[np.bool_], log_sizes: FloatArray, by_fill: bool
) -> int:  # pragma: no cover  (compiled)
    chosen, least_fill, least_weight = -1, 0, 0.0
    for v in range(len(log_sizes)):
        if there[v]:
            near = np.flatnonzero(adjacent[v])
            weight = log_sizes[v] + log_sizes[near].sum()
            fill = 0
            if by_fill:
                for i in near:
                    for k in near:
                        fill += not (i == k or adjacent[i, k])
            if chosen < 0 or fill < least_fill or (fill == least_fill and weight < least_weight):
                chosen, least_fill, least_weight = v, fill, weight
    return chosen


@compiled
def _within(members: NDArray[np.bool_], count: int) -> bool:  # pragma: no cover  (compiled)
    """Tell whether the clique at ``count`` lies within one before it."""
    for k in range(count):
        lacking = 0
        for v in range(members.shape[1]):
            lacking += members[count, v] and not members[k, v]
        if not lacking:
            return True
    return False
