"""A column that follows from another: the state of a postcode."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import SchemaError
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.snapping import snap

Value = str | int | float
"""A cell as a schema file spells it; true and false among them."""


@dataclass(frozen=True, slots=True)
class Determined:
    """Where ``by`` has a value that is listed, ``column`` has the value listed beside it.

    Attributes:
        column: what follows; a category, boolean, integer or number.
        by: what it follows from; a category or boolean.
        pairs: (value of ``by``, value of ``column``); each value of ``by`` at most once, not necessarily all.
    """

    column: str
    by: str
    pairs: tuple[tuple[str, Value], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All that the rule speaks of."""
        return (self.by, self.column)

    @property
    def sets(self) -> tuple[str, ...]:
        """What a repair may change."""
        return (self.column,)

    def bind(self, columns: Sequence[Column], place: str) -> "DeterminedRepair":
        """Return the repair of rows with these columns.

        Raises:
            SchemaError: the columns are of other types, or a pair names a value that one of them cannot hold.
        """
        by, column = columns
        if not by.coded:
            raise SchemaError(f"{place}: expected {by.name!r} to be a category or boolean, found {by.type!r}")
        if not (column.coded or column.type in ("integer", "number")):
            raise SchemaError(
                f"{place}: expected {column.name!r} to be a category, boolean, integer or number, found {column.type!r}"
            )
        follows = np.full(len(by.values), math.nan)
        for given, then in self.pairs:
            if given not in by.values:
                raise SchemaError(f"{place}: {given!r} is no value of column {by.name!r}")
            code = by.values.index(given)
            if not math.isnan(follows[code]):
                raise SchemaError(f"{place}: value {given!r} of column {by.name!r} is listed twice")
            follows[code] = _cell(column, then, place)
        return DeterminedRepair(follows)


class DeterminedRepair:
    """Sets the column that follows."""

    def __init__(self, follows: FloatArray) -> None:
        self._follows = follows

    def __call__(self, cells: FloatArray) -> FloatArray:
        """Return rows that keep the rule, float64 (n, 2): what it follows from, and what follows."""
        follows = self._follows[cells[:, 0].astype(np.int64)]
        return np.stack([cells[:, 0], np.where(np.isnan(follows), cells[:, 1], follows)], axis=1)


def _cell(column: Column, value: Value, place: str) -> float:
    """Return a spelled value as the column's cell."""
    if column.coded:
        if isinstance(value, bool):
            spelled = column.values[value] if column.type == "boolean" else repr(value)
        else:
            spelled = str(value)
        if spelled in column.values:
            return float(column.values.index(spelled))
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        cell = float(snap(column, np.array([float(value)]))[0])
        if math.isclose(cell, value, rel_tol=1e-12, abs_tol=1e-12):
            return cell
    raise SchemaError(f"{place}: {value!r} is no value of column {column.name!r}")
