"""Parts that add up to a total."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.core.errors import SchemaError
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.snapping import snap

_TOLERANCE: Final = 1e-9
"""By how much of its largest cell a row of continuous numbers may miss its sum, for rounding."""
_PASSES: Final = 3
"""Moves of continuous parts; the second takes back what rounding left of the first."""

_Amounts = NDArray[Any]
"""Whole steps of the columns' grid (int64), or continuous numbers (float64)."""


@dataclass(frozen=True, slots=True)
class Sum:
    """The total is the sum of its parts.

    Attributes:
        total: column of the sum.
        parts: at least two columns.
    """

    total: str
    parts: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All that the rule speaks of."""
        return (self.total, *self.parts)

    @property
    def sets(self) -> tuple[str, ...]:
        """What a repair may change."""
        return self.columns

    def bind(self, columns: Sequence[Column], place: str) -> "SumRepair":
        """Return the repair of rows with these columns.

        Raises:
            SchemaError: they are no numbers of one grid, or no row could keep the rule.
        """
        if odd := [column for column in columns if column.type not in ("integer", "number")]:
            raise SchemaError(f"{place}: expected integers or numbers, found {odd[0].name!r} of type {odd[0].type!r}")
        steps = {column.name: column.step for column in columns}
        if len(set(steps.values())) > 1:
            raise SchemaError(f"{place}: expected columns that are multiples of one number, or all continuous; {steps}")
        return SumRepair(tuple(columns), place)


class SumRepair:
    """Sets the total to the sum, or to its nearest bound where the sum is out of them.

    In the second case parts move until they fit, first the one that has most room.
    """

    def __init__(self, columns: tuple[Column, ...], place: str) -> None:
        self._columns, self._step = columns, columns[0].step
        ends = np.stack([snap(column, np.array([-math.inf, math.inf])) for column in columns], axis=1)
        self._low, self._high = self._amounts(ends)
        least, most = self._low[1:].sum(), self._high[1:].sum()
        if not (np.isfinite(least) and np.isfinite(most)):
            raise SchemaError(f"{place}: expected bounds whose sums are finite numbers")
        if least > self._high[0] or most < self._low[0]:
            raise SchemaError(f"{place}: no sum of the parts lies within the bounds of {columns[0].name!r}")

    def __call__(self, cells: FloatArray) -> FloatArray:
        """Return rows whose parts add up, float64 (n, total and parts) as given; rows that keep the rule stay."""
        repaired = cells.copy()
        amounts = self._amounts(cells)
        for _ in range(_PASSES):
            off = np.flatnonzero(self._off(amounts))
            if not off.size:
                break
            amounts[off] = self._moved(amounts[off])
            repaired[off] = self._cells(amounts[off])
        return repaired

    def _amounts(self, cells: FloatArray) -> _Amounts:
        return cells.copy() if self._step is None else np.rint(cells / self._step).astype(np.int64)

    def _cells(self, amounts: _Amounts) -> FloatArray:
        unit = 1.0 if self._step is None else self._step
        return np.stack([snap(column, amounts[:, j] * unit) for j, column in enumerate(self._columns)], axis=1)

    def _off(self, amounts: _Amounts) -> NDArray[np.bool_]:
        missed = np.abs(amounts[:, 0] - amounts[:, 1:].sum(axis=1))
        allowed = _TOLERANCE * np.abs(amounts).max(axis=1, initial=0) if self._step is None else 0
        return np.asarray(missed > allowed)

    def _moved(self, amounts: _Amounts) -> _Amounts:
        parts = amounts[:, 1:].copy()
        total = np.clip(parts.sum(axis=1), self._low[0], self._high[0])
        gap = total - parts.sum(axis=1)
        rows = np.arange(len(parts))
        room = np.where(gap[:, None] > 0, self._high[1:] - parts, parts - self._low[1:])
        for part in np.argsort(-room, axis=1, kind="stable").T:
            change = np.minimum(np.abs(gap), room[rows, part]) * np.sign(gap)
            moved = np.clip(parts[rows, part] + change, self._low[1:][part], self._high[1:][part])
            gap = gap - (moved - parts[rows, part])
            parts[rows, part] = moved
        return np.concatenate([total[:, None], parts], axis=1)
