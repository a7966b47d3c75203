"""Junction trees: how a graphical model is laid out so that its marginals can be computed exactly."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evomix.bench.rivals.elimination import eliminate

Clique: TypeAlias = tuple[int, ...]
"""Positions of columns, ascending and distinct: those of a marginal or of a node of the tree."""

_BYTES_OF_A_CELL: Final = 8
_MEGABYTE: Final = 2**20


@dataclass(frozen=True)
class JunctionTree:
    """Cliques in a tree in which the cliques that hold a column are always connected.

    Attributes:
        cliques: none within another, a parent before its children; together they hold every column.
        parents: position of each clique's parent; −1 for the first clique, the root.
        separators: the columns that each clique shares with its parent; () for the root.
    """

    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]
    separators: tuple[Clique, ...]

    @cached_property
    def neighbors(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the cliques next to each clique."""
        found: list[list[int]] = [[] for _ in self.cliques]
        for child, parent in enumerate(self.parents):
            if parent >= 0:
                found[child].append(parent)
                found[parent].append(child)
        return tuple(map(tuple, found))

    def separator(self, one: int, other: int) -> Clique:
        """Return the columns that two neighbouring cliques share."""
        return self.separators[one if self.parents[one] == other else other]

    def holder(self, clique: Clique, sizes: Sequence[int]) -> int | None:
        """Return the position of the clique with the fewest cells that holds ``clique``; None where none does."""
        holding = [k for k, found in enumerate(self.cliques) if set(clique) <= set(found)]
        return min(holding, key=lambda k: cells(self.cliques[k], sizes), default=None)


def cells(clique: Clique, sizes: Sequence[int]) -> int:
    """Return the number of cells of a marginal."""
    product = 1
    for j in clique:
        product *= int(sizes[j])
    return product


def junction_tree(cliques: Iterable[Clique], sizes: Sequence[int]) -> JunctionTree:
    """Return a junction tree in which every one of ``cliques`` lies within a clique.

    Args:
        cliques: marginals of the model.
        sizes: number of cells of each column.
    """
    members = _triangulate(joined(cliques, len(sizes)), sizes)
    found = [tuple(int(j) for j in np.flatnonzero(row)) for row in members]
    shared = members.astype(np.int64) @ members.T.astype(np.int64)
    order, parents = [0], [-1]
    best, nearest = shared[0].copy(), np.zeros(len(found), np.int64)
    best[0] = -1
    while len(order) < len(found):  # Prim: a spanning tree of largest separators is a junction tree
        chosen = int(np.argmax(best))
        parents.append(order.index(int(nearest[chosen])))
        order.append(chosen)
        closer = (shared[chosen] > best) & (best >= 0)
        best, nearest = np.where(closer, shared[chosen], best), np.where(closer, chosen, nearest)
        best[chosen] = -1
    ordered = tuple(found[k] for k in order)
    separators = tuple(
        () if parent < 0 else tuple(sorted(set(clique) & set(ordered[parent])))
        for clique, parent in zip(ordered, parents, strict=True)
    )
    return JunctionTree(ordered, tuple(parents), separators)


def joined(cliques: Iterable[Clique], columns: int) -> NDArray[np.bool_]:
    """Return which columns share one of ``cliques``, symmetric, bool (columns, columns), nothing on the diagonal."""
    adjacent = np.zeros((columns, columns), np.bool_)
    for clique in cliques:
        for one in clique:
            for other in clique:
                adjacent[one, other] = one != other
    return adjacent


def size_mb(adjacent: NDArray[np.bool_], sizes: Sequence[int]) -> float:
    """Return the memory of a junction tree's marginals as float64, in MiB.

    Args:
        adjacent: which columns must meet in a clique, as :func:`joined` tells.
        sizes: number of cells of each column.
    """
    members = _triangulate(adjacent, sizes)
    return float(_cells(members, sizes) * _BYTES_OF_A_CELL / _MEGABYTE)


def _triangulate(adjacent: NDArray[np.bool_], sizes: Sequence[int]) -> NDArray[np.bool_]:
    """Return the maximal cliques of a chordal graph, bool (cliques, columns), by the better of two greedy orders."""
    log_sizes = np.log(np.asarray(sizes, np.float64))
    orders = [eliminate(adjacent, log_sizes, by_fill=by_fill) for by_fill in (True, False)]
    return min(orders, key=lambda members: _cells(members, sizes))


def _cells(members: NDArray[np.bool_], sizes: Sequence[int]) -> float:
    return float(np.where(members, np.asarray(sizes, np.float64), 1.0).prod(axis=1).sum())
