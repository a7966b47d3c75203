"""Tables as small whole numbers: how rivals that count cells see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from evomix.core.arrays import FloatArray, IntArray
from evomix.evaluation.binning import MAX_BINS, bin_numbers
from evomix.evaluation.columns import WHOLE, bounds, is_number_like, labels
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema

_WHOLE_CELLS: Final = 0.5
"""A bin of whole numbers reaches half a unit beyond the numbers in it."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of every modelled column, cut by the public schema alone.

    A category or boolean has a cell a value; a number-like column equal bins on its public bounds, of whole width for
    whole numbers; a column that allows missing values has one more cell, the last.

    Attributes:
        schema: the public schema.
        bins: most bins of a number-like column.
    """

    schema: Schema
    bins: int = MAX_BINS

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in the order of the codes."""
        return self.schema.modelled

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(column.name for column in self.columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of cells of each column."""
        return tuple(self._values(column) + column.missing for column in self.columns)

    def position(self, name: str) -> int:
        """Return the position of a column."""
        return self.names.index(name)

    def codes(self, table: pa.Table) -> IntArray:
        """Return the cell of every value, int64 (n, columns), in 0..size−1."""
        rows: FloatArray = np.asarray(TableCodec(self.schema).encode(table), np.float64)
        found = [self._cells(column, rows[:, j]) for j, column in enumerate(self.columns)]
        return np.stack(found, axis=1)

    def table(self, codes: IntArray, rng: np.random.Generator) -> pa.Table:
        """Return rows with those cells, numbers even over their bin; public columns that are not modelled left out."""
        rows = np.stack([self._spread(column, codes[:, j], rng) for j, column in enumerate(self.columns)], axis=1)
        return TableCodec(self.schema).decode(rows).select(list(self.names))

    def edges(self, column: Column) -> FloatArray:
        """Return the cuts of a number-like column, float64 (bins + 1,), in the population's units."""
        low, high = bounds(column)
        if column.type in WHOLE:
            width = np.ceil((high - low + 1.0) / self.bins)
            return np.asarray(low - _WHOLE_CELLS + width * np.arange(np.ceil((high - low + 1.0) / width) + 1.0))
        return np.linspace(low, high, self.bins + 1) if low < high else np.array([low - 0.5, low + 0.5])

    def _values(self, column: Column) -> int:
        return len(self.edges(column)) - 1 if is_number_like(column) else max(len(labels(column)), 1)

    def _cells(self, column: Column, values: FloatArray) -> IntArray:
        if is_number_like(column):
            return bin_numbers(values, self.edges(column))
        return np.where(np.isnan(values), self._values(column), values).astype(np.int64)

    def _spread(self, column: Column, cells: IntArray, rng: np.random.Generator) -> FloatArray:
        absent = cells >= self._values(column)
        if not is_number_like(column):
            return np.where(absent, np.nan, cells.astype(np.float64))
        edges = self.edges(column)
        inside = np.where(absent, 0, cells)
        values = edges[inside] + rng.random(len(cells)) * (edges[inside + 1] - edges[inside])
        if column.type in WHOLE:
            values = np.rint(values)
        return np.where(absent, np.nan, np.clip(values, *bounds(column)))


def marginal(codes: IntArray, sizes: Sequence[int], attributes: Sequence[int]) -> FloatArray:
    """Return the counts of one marginal, float64 (product of its sizes,), the last attribute running fastest."""
    shape = [sizes[j] for j in attributes]
    if not shape:
        return np.array([float(len(codes))])
    cells = np.ravel_multi_index([codes[:, j] for j in attributes], shape)
    return np.bincount(cells, minlength=int(np.prod(shape))).astype(np.float64)
