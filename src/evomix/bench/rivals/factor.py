"""Tables over columns: products and sums."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evomix.bench.rivals.junction_tree import Clique
from evomix.core.arrays import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A table over columns.

    Attributes:
        columns: ascending.
        values: one axis a column.
    """

    columns: Clique
    values: FloatArray

    def sum_to(self, columns: Clique) -> "Factor":
        """Return the sums over all columns but those of ``columns`` that it has."""
        kept = tuple(j for j in self.columns if j in columns)
        gone = tuple(axis for axis, j in enumerate(self.columns) if j not in columns)
        return Factor(kept, np.asarray(self.values.sum(axis=gone)))

    def aligned(self, columns: Clique) -> FloatArray:
        """Return the values with an axis for each of ``columns``, of length 1 where the factor lacks it."""
        found = iter(self.values.shape)
        return self.values.reshape([next(found) if j in self.columns else 1 for j in columns])

    def given(self, columns: Clique) -> "Factor":
        """Return the conditional shares of the other columns; zero where the condition has no mass."""
        mass = np.broadcast_to(self.sum_to(columns).aligned(self.columns), self.values.shape)
        return Factor(self.columns, np.divide(self.values, mass, out=np.zeros_like(self.values), where=mass > 0.0))


def contract(one: Factor, other: Factor, kept: Clique) -> Factor:
    """Return the product of two factors, summed over all columns but those of ``kept``.

    A matrix product for each cell of the columns that both have and that are kept.
    """
    both = set(one.columns) & set(other.columns)
    one = one.sum_to(tuple(both | set(kept)))
    other = other.sum_to(tuple(both | set(kept)))
    batch = sorted(both & set(kept))
    inner = sorted(both - set(kept))
    left = [j for j in one.columns if j not in both]
    right = [j for j in other.columns if j not in both]
    sizes = dict(zip(one.columns, one.values.shape, strict=True))
    sizes |= dict(zip(other.columns, other.values.shape, strict=True))

    def matrix(factor: Factor, rows: Sequence[int], columns: Sequence[int]) -> FloatArray:
        axes = [factor.columns.index(j) for j in (*batch, *rows, *columns)]
        shape = [int(np.prod([sizes[j] for j in part], dtype=np.int64)) for part in (batch, rows, columns)]
        return np.ascontiguousarray(factor.values.transpose(axes)).reshape(shape)

    product = matrix(one, left, inner) @ matrix(other, inner, right)
    found = [*batch, *left, *right]
    values = product.reshape([sizes[j] for j in found]).transpose(np.argsort(found))
    return Factor(tuple(sorted(found)), values)
