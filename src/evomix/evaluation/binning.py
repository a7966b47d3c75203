"""Cells of a table: each column cut into few public pieces, so that marginals can be counted.

A category is one cell a value, a number at most 32 equal-width bins on its public bounds; missing has a cell
of its own. Cuts depend on the schema alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.evaluation.columns import WHOLE, ColumnLike, bounds, is_number_like, labels

MAX_BINS = 32


@dataclass(frozen=True, slots=True)
class Cells:
    """A population cut into cells.

    Attributes:
        codes: int64 (n, c), the cell of each value; the last cell of each column is "missing".
        sizes: number of cells of each column, "missing" included.
    """

    codes: IntArray
    sizes: tuple[int, ...]


def bin_edges(column: ColumnLike) -> FloatArray:
    """Return the cuts of a number-like column, float64 (bins + 1,), in the population's units.

    Whole numbers and dates get bins of a whole width (one a value where at most 32 values are possible),
    because a fractional width would hold now one, now two of them and show a comb that is not there.
    """
    low, high = bounds(column)
    if column.type in WHOLE:
        low, high = np.floor(low), np.ceil(high)
        span = high - low + 1.0
        width = np.ceil(span / MAX_BINS)
        return np.asarray(low - 0.5 + width * np.arange(np.ceil(span / width) + 1.0))
    if not low < high:
        return np.array([low - 0.5, low + 0.5])
    return np.linspace(low, high, MAX_BINS + 1)


def cell_count(column: ColumnLike) -> int:
    """Return the number of cells of a column, the one for "missing" included."""
    if is_number_like(column):
        return len(bin_edges(column))
    return max(len(labels(column)), 1) + 1


def bin_column(values: FloatArray, column: ColumnLike) -> IntArray:
    """Return the cell of each value, int64 (n,); values out of bounds fall in the outermost cell."""
    if is_number_like(column):
        return bin_numbers(values, bin_edges(column))
    present = ~np.isnan(values)
    return _cells(np.where(present, values, 0.0).astype(np.int64), present, cell_count(column) - 1)


def bin_numbers(values: FloatArray, edges: FloatArray) -> IntArray:
    """Return the cell of each value between ascending ``edges``, int64 (n,); missing has the one after the last."""
    present = ~np.isnan(values)
    return _cells(np.searchsorted(edges, np.where(present, values, 0.0), side="right") - 1, present, len(edges) - 1)


def _cells(cell: IntArray, present: NDArray[np.bool_], last: int) -> IntArray:
    return np.where(present, np.clip(cell, 0, last - 1), last).astype(np.int64)


def bin_population(population: FloatArray, columns: Sequence[ColumnLike]) -> Cells:
    """Return the cells of a population.

    Args:
        population: float64 (n, c), missing as NaN.
        columns: the c columns.
    """
    codes = [bin_column(population[:, j], column) for j, column in enumerate(columns)]
    stacked = np.stack(codes, axis=1) if codes else np.empty((len(population), 0), dtype=np.int64)
    return Cells(stacked, tuple(cell_count(column) for column in columns))
