"""Records as small whole numbers: every column cut into cells by public information."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema

MOST_CELLS: Final = 1024
"""Most cells of a number-like column."""


class Grid:
    """Cells of every modelled column.

    A category or boolean has a cell a value. A number-like column of few possible values has one for each; any other
    has equal pieces of its range, and its two bounds by themselves, for much of a column may lie right there (no gain,
    no visit). A column that allows missing values has one cell more, the last.

    Args:
        schema: the public schema.
        public: float64 (l, modelled columns), public rows; within a cell values are drawn from theirs.
        most: most cells of a number-like column, at least 3.
    """

    def __init__(self, schema: Schema, public: FloatArray | None, *, most: int = MOST_CELLS) -> None:
        self._columns = schema.modelled
        self._edges = tuple(_edges(column, most) for column in self._columns)
        public = np.empty((0, len(self._columns))) if public is None else public
        self._known = tuple(
            _Known(public[:, j], self._cells(j, public[:, j])) if edges is not None else None
            for j, edges in enumerate(self._edges)
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of cells of each column."""
        return tuple(self._values(j) + column.missing for j, column in enumerate(self._columns))

    @property
    def ordered(self) -> tuple[bool, ...]:
        """Whether neighbouring cells of each column are near."""
        return tuple(edges is not None for edges in self._edges)

    @property
    def missing(self) -> tuple[bool, ...]:
        """Whether the last cell of each column means "missing"."""
        return tuple(column.missing for column in self._columns)

    def codes(self, records: Population) -> IntArray:
        """Return the cell of every value, int64 (n, columns); any value has one.

        Args:
            records: float64 (n, modelled columns), missing as NaN.
        """
        rows = np.asarray(records, np.float64)
        found = [self._cells(j, rows[:, j]) for j in range(len(self._columns))]
        return np.stack(found, axis=1).astype(np.int64)

    def records(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return records with those cells, float64 (n, columns), missing as NaN.

        Args:
            codes: int64 (n, columns).
            rng: draws values within cells.
        """
        found = np.empty(codes.shape)
        for j, column in enumerate(self._columns):
            values = self._spread(j, codes[:, j], rng)
            found[:, j] = np.where(codes[:, j] >= self._values(j), np.nan, values) if column.missing else values
        return found

    def _values(self, column: int) -> int:
        edges = self._edges[column]
        return len(self._columns[column].values) if edges is None else len(edges) - 1

    def _cells(self, column: int, values: FloatArray) -> NDArray[np.int64]:
        edges, last = self._edges[column], self._values(column)
        present = ~np.isnan(values)
        inside = np.where(present, values, 0.0)
        cells = inside if edges is None else np.searchsorted(edges, inside, side="right") - 1.0
        return np.where(present, np.clip(cells, 0, last - 1), last - (not self._columns[column].missing)).astype(
            np.int64
        )

    def _spread(self, column: int, cells: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return values of cells: those of public rows where there are any, else even over the cell."""
        edges = self._edges[column]
        if edges is None:
            return cells.astype(np.float64)
        cells = np.minimum(cells, len(edges) - 2)
        values = edges[cells] + rng.random(len(cells)) * (edges[cells + 1] - edges[cells])
        values = np.minimum(values, np.nextafter(edges[cells + 1], -np.inf))  # a sum may round up to the next cell
        known = self._known[column]
        assert known is not None
        return known.replace(values, cells, rng)


class _Known:
    """Public values of one column, by cell."""

    def __init__(self, values: FloatArray, cells: IntArray) -> None:
        present = ~np.isnan(values)
        order = np.argsort(cells[present], kind="stable")
        self._values, self._cells = values[present][order], cells[present][order]

    def replace(self, values: FloatArray, cells: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return ``values`` with a public one in the place of each whose cell has any."""
        starts, ends = (np.searchsorted(self._cells, cells, side=side) for side in ("left", "right"))
        held = ends > starts
        found = values.copy()
        found[held] = self._values[rng.integers(starts[held], ends[held])]
        return found


def _edges(column: Column, most: int) -> FloatArray | None:
    """Return the cuts of a number-like column, float64 (cells + 1,), strictly ascending; None for others.

    A value belongs to the cell whose lower cut is the last one at or below it.
    """
    if not column.ordered:
        return None
    assert column.min is not None
    assert column.max is not None
    low, high, step = column.min, column.max, column.step
    if step is not None and (high - low) / step < most:
        first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
        values = step * (first + np.arange(last - first + 1.0))
        cuts = values - step / 2.0
        cuts[1:] = np.where(cuts[1:] > values[:-1], cuts[1:], values[1:])  # halves of the largest numbers are none
        return _ascending([*cuts, max(values[-1] + step / 2.0, np.nextafter(values[-1], np.inf))])
    if not low < high:
        return _ascending([low, np.nextafter(low, np.inf)])
    inner = np.linspace(low, high, most - 1)
    return _ascending([low, np.nextafter(low, np.inf), *inner[1:-1], high, np.nextafter(high, np.inf)])


def _ascending(edges: Sequence[float]) -> FloatArray:
    """Return the cuts without repeats: where numbers end, cells do."""
    return np.unique(np.asarray(edges, np.float64))
