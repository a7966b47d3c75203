"""What a benchmark of tables compares on, and short ways to write a public schema down."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from evomix.core.arrays import IntArray
from evomix.core.errors import InputFileError, SpecError
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema

Task: TypeAlias = Literal["classification", "regression"]
SPLIT_SEED: Final = 0
"""One split for all: what varies between repetitions is the run."""
TEST_SHARE: Final = 0.2
"""Of sets that have no test part of their own."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableSet:
    """A table benchmark's parts; the private one may have a unit beside the columns of the schema.

    Attributes:
        private: what is protected.
        test: what scores, and nothing else sees.
        public: what anyone may have; None where there is nothing.
        schema: public columns, bounds and categories, never read off ``private`` or ``test``.
        target: the column that models predict.
        task: what they do.
        unit: column of the private unit; None for a record each.
        notes: sentences for readers.
    """

    private: pa.Table
    test: pa.Table
    public: pa.Table | None
    schema: Schema
    target: str
    task: Task = "classification"
    unit: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def units(self) -> int:
        """Number of private units, public under replace-one."""
        return self.private.num_rows if self.unit is None else len(self.private.column(self.unit).unique())

    def one_row_a_unit(self, seed: int) -> pa.Table:
        """Return the private rows without their unit: a random one of each, where units have several.

        One unit then moves one row, so that what holds for rows holds for units.
        """
        if self.unit is None:
            return self.private
        order = np.random.default_rng(seed).permutation(self.private.num_rows)
        units = self.private.column(self.unit).to_numpy()[order]
        _, first = np.unique(units, return_index=True)
        return self.private.take(pa.array(np.sort(order[first]))).drop_columns([self.unit])


Reader: TypeAlias = Callable[[Mapping[str, pa.Table]], TableSet]
"""Splits the tables of a benchmark's files."""


def whole(name: str, low: int, high: int, **more: Any) -> Column:
    """Return a column of whole numbers."""
    return Column(name, "integer", min=low, max=high, **more)


def real(name: str, low: float, high: float, **more: Any) -> Column:
    """Return a column of numbers."""
    return Column(name, "number", min=low, max=high, **more)


def codes(name: str, values: Iterable[int], *, missing: bool = False) -> Column:
    """Return a category whose values are whole numbers."""
    return Column(name, "category", values=tuple(map(str, values)), integer_values=True, missing=missing)


def words(name: str, values: str, *, missing: bool = False) -> Column:
    """Return a category; its values are written with spaces between them."""
    return Column(name, "category", values=tuple(values.split()), missing=missing)


def pick(table: pa.Table, columns: Iterable[str], file: str) -> pa.Table:
    """Return columns of a benchmark's table.

    Raises:
        InputFileError: it lacks one.
    """
    wanted = list(columns)
    if lacking := [name for name in wanted if table.column_names.count(name) != 1]:
        raise InputFileError(f"{file} must have the columns {', '.join(wanted)}; it lacks {', '.join(lacking)}")
    return table.select(wanted)


def rows_at(table: pa.Table, rows: IntArray) -> pa.Table:
    """Return rows by position."""
    return table.take(pa.array(rows))


def rows_where(table: pa.Table, column: str, *values: Any) -> pa.Table:
    """Return the rows whose cell in ``column`` is one of the values, without that column.

    Raises:
        SpecError: there are none.
    """
    cells = table.column(column).to_pylist()
    found = table.filter(pa.array([cell in values for cell in cells])).drop_columns([column])
    if not found.num_rows:
        raise SpecError(f"expected rows with {column}={', '.join(map(str, values))}; found none among {len(cells)}")
    return found
