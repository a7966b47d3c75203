"""Belief propagation on a junction tree, written once as a program and run many times.

Every table of the calculation has its place in one buffer. Upwards, from the leaves to the root, each clique adds the
potentials and messages that it holds, takes the largest value of every separator cell away, exponentiates and sums:
the message is the logarithm of the sum. Downwards each clique is scaled to its parent's separator marginal, so that
there is one exponential a cell. Source: Koller and Friedman (2009), Probabilistic Graphical Models, chapter 10
(sum-product upwards, division on the way down).
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from evomix.bench.rivals.junction_tree import Clique, JunctionTree, cells
from evomix.bench.rivals.lattice import Lattice, lattice
from evomix.bench.rivals.tree_kernel import Operation, run
from evomix.core.arrays import FloatArray, IntArray

_Step: TypeAlias = tuple[int, int, int, int, int, int]
"""One row of a program of :func:`~evomix.bench.rivals.tree_kernel.run`."""


class TreeProgram:
    """Turns log-potentials of marginals into these marginals under the model.

    Args:
        tree: holds each of ``marginals`` in a clique.
        marginals: whose log-potentials define the model.
        sizes: number of cells of each column.
        total: what every marginal sums to.
    """

    def __init__(self, tree: JunctionTree, marginals: Sequence[Clique], *, sizes: Sequence[int], total: float) -> None:
        self.tree, self._sizes = tree, sizes
        self._used = 0
        self._length = sum(cells(clique, sizes) for clique in marginals)
        potentials, results = self._place(self._length), self._place(self._length)
        self._results = results
        held: list[list[tuple[Clique, int]]] = [[] for _ in tree.cliques]
        offset = 0
        for clique in marginals:
            holder = tree.holder(clique, sizes)
            assert holder is not None
            held[holder].append((clique, offset))
            offset += cells(clique, sizes)
        self._lattices = [self._lattice(k, [clique for clique, _ in held[k]]) for k in range(len(tree.cliques))]
        self._slots = [self._lay_out(found) for found in self._lattices]
        separators = [cells(separator, sizes) for separator in tree.separators]
        self._peaks, self._inverses, self._messages = ([self._place(n) for n in separators] for _ in range(3))
        self._total = self._place(1)
        self._up = [self._upward(k, [(c, potentials + at) for c, at in held[k]]) for k in range(len(tree.cliques))]
        down = [self._downward(k, [(c, results + at) for c, at in held[k]]) for k in range(len(tree.cliques))]
        self._down = _program([step for steps in down for step in steps])
        self._buffer = np.zeros(self._used)
        self._buffer[self._total] = total

    def marginals(self, potentials: FloatArray) -> FloatArray:
        """Return the marginals one after another, float64 (cells,), under the model of ``potentials`` (same shape)."""
        self._buffer[: self._length] = potentials
        for k in range(len(self.tree.cliques) - 1, -1, -1):
            before, after = self._up[k]
            run(before, self._buffer)
            belief = self._top(k)
            np.exp(belief, out=belief)
            run(after, self._buffer)
        run(self._down, self._buffer)
        return self._buffer[self._results : self._results + self._length].copy()

    def beliefs(self) -> tuple[FloatArray, ...]:
        """Return the marginal of each clique of the tree, one axis a column, under the last model."""
        shapes = [[self._sizes[j] for j in clique] for clique in self.tree.cliques]
        return tuple(self._top(k).reshape(shape).copy() for k, shape in enumerate(shapes))

    def _top(self, k: int) -> FloatArray:
        clique = self.tree.cliques[k]
        start = self._slots[k][clique]
        return self._buffer[start : start + cells(clique, self._sizes)]

    def _place(self, count: int) -> int:
        self._used += count
        return self._used - count

    def _children(self, k: int) -> list[int]:
        return [child for child, parent in enumerate(self.tree.parents) if parent == k]

    def _lattice(self, k: int, marginals: list[Clique]) -> Lattice:
        separators = [self.tree.separators[child] for child in self._children(k)]
        return lattice(self.tree.cliques[k], [*marginals, *separators, self.tree.separators[k]], self._sizes)

    def _lay_out(self, found: Lattice) -> dict[Clique, int]:
        return {node: self._place(cells(node, self._sizes)) for node in (found.top, *found.descending)}

    def _upward(self, k: int, potentials: list[tuple[Clique, int]]) -> tuple[IntArray, IntArray]:
        """Return what is done before and after the exponential."""
        found, slots, separator = self._lattices[k], self._slots[k], self.tree.separators[k]
        extent = sum(cells(node, self._sizes) for node in slots)
        before: list[_Step] = [(int(Operation.ZERO), 0, slots[found.top], 1, 1, extent)]
        before += [self._same(Operation.SPREAD_ADD, slots[clique], at, clique) for clique, at in potentials]
        for child in self._children(k):
            shared = self.tree.separators[child]
            before.append(self._same(Operation.SPREAD_ADD, slots[shared], self._messages[child], shared))
        before += [self._between(Operation.SPREAD_ADD, k, node) for node in reversed(found.descending)]
        before += [self._between(Operation.MAX, k, node) for node in found.path(separator)[1:]]
        before.append(self._same(Operation.SPREAD_SET, self._peaks[k], slots[separator], separator))
        before.append(self._alone(Operation.NEGATE, slots[separator], separator))
        before += self._spread(Operation.SPREAD_ADD, k)
        after = [self._between(Operation.SUM, k, node) for node in found.path(separator)[1:]]
        after.append(self._same(Operation.SPREAD_SET, self._messages[k], slots[separator], separator))
        after.append(self._alone(Operation.LOG, self._messages[k], separator))
        after.append(self._same(Operation.SPREAD_ADD, self._messages[k], self._peaks[k], separator))
        after.append(self._same(Operation.SPREAD_SET, self._inverses[k], slots[separator], separator))
        after.append(self._alone(Operation.INVERT, self._inverses[k], separator))
        return _program(before), _program(after)

    def _downward(self, k: int, results: list[tuple[Clique, int]]) -> list[_Step]:
        found, slots, separator = self._lattices[k], self._slots[k], self.tree.separators[k]
        parent = self.tree.parents[k]
        given = self._total if parent < 0 else self._slots[parent][separator]
        steps = [self._same(Operation.SPREAD_SET, slots[separator], given, separator)]
        steps.append(self._same(Operation.SPREAD_MULTIPLY, slots[separator], self._inverses[k], separator))
        steps += self._spread(Operation.SPREAD_MULTIPLY, k)
        steps += [self._between(Operation.SUM, k, node) for node in found.descending]
        steps += [self._same(Operation.SPREAD_SET, at, slots[clique], clique) for clique, at in results]
        return steps

    def _spread(self, last: Operation, k: int) -> list[_Step]:
        """Return the steps that bring the separator's table to all cells of the clique."""
        path = self._lattices[k].path(self.tree.separators[k])[1:]
        between = [self._between(Operation.SPREAD_SET, k, node) for node in reversed(path[1:])]
        return [*between, self._between(last, k, path[0])]

    def _between(self, operation: Operation, k: int, node: Clique) -> _Step:
        """Return an operation between a marginal and the one above it."""
        above, slots = self._lattices[k].above[node], self._slots[k]
        first = next(position for position, j in enumerate(above) if j not in node)
        after = first + len(above) - len(node)
        a, x, b = (cells(axes, self._sizes) for axes in (above[:first], above[first:after], above[after:]))
        return int(operation), slots[above], slots[node], a, x, b

    def _same(self, operation: Operation, target: int, source: int, clique: Clique) -> _Step:
        """Return a spreading operation between two tables of one shape."""
        return int(operation), target, source, 1, 1, cells(clique, self._sizes)

    def _alone(self, operation: Operation, target: int, clique: Clique) -> _Step:
        """Return an operation on one table."""
        return int(operation), 0, target, 1, 1, cells(clique, self._sizes)


def _program(steps: list[_Step]) -> IntArray:
    return np.asarray(steps, np.int64).reshape(-1, 6)
