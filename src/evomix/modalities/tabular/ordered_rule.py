"""Columns in order: a start that is not after its end."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SchemaError
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.snapping import snap

_COMPARABLE: Final = (("integer", "number"), ("date",), ("datetime",))


@dataclass(frozen=True, slots=True)
class Ordered:
    """No cell is smaller than the one before it.

    Attributes:
        columns: at least two, of numbers, of dates or of datetimes; the smallest first.
    """

    columns: tuple[str, ...]

    @property
    def sets(self) -> tuple[str, ...]:
        """What a repair may change."""
        return self.columns

    def bind(self, columns: Sequence[Column], place: str) -> "OrderedRepair":
        """Return the repair of rows with these columns.

        Raises:
            SchemaError: the columns cannot be compared, or no row could keep the rule.
        """
        types = {column.type for column in columns}
        if not any(types <= set(group) for group in _COMPARABLE):
            raise SchemaError(f"{place}: expected numbers only, dates only or datetimes only, found {sorted(types)}")
        return OrderedRepair(tuple(columns), place)


class OrderedRepair:
    """Puts rows in order by changing as few cells as possible, each to the nearest value that fits.

    Of several sets of cells that could stay, the one that ends first does: of two cells in the wrong order, the first.
    """

    def __init__(self, columns: tuple[Column, ...], place: str) -> None:
        self._columns = columns
        self._low, self._high = np.empty(len(columns)), np.empty(len(columns))
        reach: FloatArray = np.array([-math.inf])
        for j, column in enumerate(columns):
            reach = _up(column, reach)
            self._low[j] = reach[0]
        reach = np.array([math.inf])
        for j in reversed(range(len(columns))):
            reach = _down(columns[j], reach)
            self._high[j] = reach[0]
        if not np.isfinite(self._low).all():
            raise SchemaError(f"{place}: no row can keep it within the bounds of {[each.name for each in columns]}")

    def __call__(self, cells: FloatArray) -> FloatArray:
        """Return rows in order, float64 (n, columns) as given; rows that keep the rule stay."""
        repaired = cells.copy()
        broken = (np.diff(cells, axis=1) < 0.0).any(axis=1)
        if broken.any():
            repaired[broken] = self._fill(cells[broken], self._kept(cells[broken]))
        return repaired

    def _kept(self, cells: FloatArray) -> NDArray[np.bool_]:
        """Return which cells stay: most of those between which the others find room."""
        rows, width = cells.shape
        able = (cells >= self._low) & (cells <= self._high)
        longest, before = able.astype(np.int64), np.full(cells.shape, -1)
        for i in range(width):
            # No later column adds to what ends at i, so its count is final here.
            reach = cells[:, i]
            for j in range(i + 1, width):
                better = able[:, i] & able[:, j] & (reach <= cells[:, j]) & (longest[:, i] >= longest[:, j])
                longest[better, j] = longest[better, i] + 1
                before[better, j] = i
                reach = _up(self._columns[j], reach)
        return _traced(longest, before, rows)

    def _fill(self, cells: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
        width = len(self._columns)
        upper = np.empty(cells.shape)
        bound: FloatArray = np.full(len(cells), math.inf)
        for j in reversed(range(width)):
            bound = np.where(kept[:, j], cells[:, j], _down(self._columns[j], bound))
            upper[:, j] = bound
        filled = np.empty(cells.shape)
        bound = np.full(len(cells), -math.inf)
        for j in range(width):
            moved = np.clip(cells[:, j], _up(self._columns[j], bound), upper[:, j])
            bound = np.where(kept[:, j], cells[:, j], moved)
            filled[:, j] = bound
        return filled


def _traced(longest: IntArray, before: IntArray, rows: int) -> NDArray[np.bool_]:
    kept = np.zeros(longest.shape, dtype=np.bool_)
    at = np.argmax(longest, axis=1)
    row = np.flatnonzero(longest[np.arange(rows), at] > 0)
    while row.size:
        kept[row, at[row]] = True
        at[row] = before[row, at[row]]
        row = row[at[row] >= 0]
    return kept


def _up(column: Column, values: FloatArray) -> FloatArray:
    """Return the least value of the column that is not below each value, ∞ where there is none."""
    found = snap(column, values)
    if column.step is not None:
        found = np.where(found < values, snap(column, found + column.step), found)
    return np.where(found < values, math.inf, found)


def _down(column: Column, values: FloatArray) -> FloatArray:
    """Return the largest value of the column that is not above each value, −∞ where there is none."""
    found = snap(column, values)
    if column.step is not None:
        found = np.where(found > values, snap(column, found - column.step), found)
    return np.where(found > values, -math.inf, found)
