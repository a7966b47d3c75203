"""Tables to populations and back."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evomix.core.arrays import FloatArray, Population
from evomix.core.errors import SchemaError
from evomix.modalities.tabular import temporal, values
from evomix.modalities.tabular.column import BOOLEAN_VALUES, Column
from evomix.modalities.tabular.conform import conform, snap
from evomix.modalities.tabular.rules import Rules
from evomix.modalities.tabular.schema import Schema

_DEFAULT_ID = "id-%06d"


class TableCodec:
    """Carries records between columnar form and a population: float64 (n, columns of ``schema.modelled``).

    Total on values: whatever a cell holds becomes a value inside the schema, so no private value can decide
    between success and failure. The rules, per cell and fixed by the schema alone:

    * a number or time out of bounds, or infinite, goes to the nearest bound; then to the nearest multiple;
    * an empty cell, a declared missing code, or a cell that is no value of its type becomes missing where the
      column allows it, else ``Column.fallback``: the middle of the bounds, ``false``, the category for other
      values, or the last category listed;
    * an unknown category becomes the category for other values if one is declared, else missing, else the
      last listed;
    * ``-0.0`` is 0; bytes that are not UTF-8 are read as replacement characters.

    Raises:
        SchemaError: the schema has a text or image column, or nothing to model.
    """

    def __init__(self, schema: Schema) -> None:
        for column in schema.columns:
            if column.type in ("text", "image"):
                raise SchemaError(
                    f"column {column.name!r}: {column.type!r} cannot be part of a table, and the "
                    f"{column.type} modality is not part of this version; leave the column out or declare it as 'id'"
                )
        if not schema.modelled:
            raise SchemaError("schema: no column to model; all columns are ids or always empty")
        self.schema = schema
        self._rules = Rules(schema.columns, schema.rules)

    def encode(self, table: pa.Table) -> Population:
        """Return the records as a population, float64 (n, modelled columns); NaN is missing.

        Columns are found by name, in any order; others in ``table`` are left aside.

        Raises:
            SchemaError: a column of the schema is not in the table. Never because of a cell's value.
        """
        encoded = np.empty((table.num_rows, len(self.schema.modelled)), dtype=np.float64)
        for position, column in enumerate(self.schema.modelled):
            if table.column_names.count(column.name) != 1:
                raise SchemaError(f"table: expected one column {column.name!r}; found {table.column_names}")
            cells = values.parse(column, table.column(column.name))
            encoded[:, position] = snap(column, cells)
        return encoded

    def decode(self, population: Population) -> pa.Table:
        """Return a population in columnar form, every cell inside the schema and every rule of it kept.

        Integers are int64, numbers float64, booleans bool (or their two spellings), dates date32 and
        datetimes timestamp[us] (or text where the column has a ``format``), categories text (int64 where
        listed as whole numbers); missing is null. Id columns are made up anew: running numbers in the
        column's template.

        Post-processing; costs nothing.
        """
        inside = self._rules.repair(conform(self.schema, np.asarray(population, dtype=np.float64)))
        names = [column.name for column in self.schema.modelled]
        cells: Mapping[str, FloatArray] = dict(zip(names, inside.T, strict=True))
        arrays = [
            _decode(column, cells[column.name]) if column.modelled else made_up(column, len(inside))
            for column in self.schema.columns
        ]
        return pa.table(arrays, names=list(self.schema.names))


def _decode(column: Column, cells: FloatArray) -> pa.Array:
    missing = np.isnan(cells)
    if column.type == "number":
        return pa.array(cells, pa.float64(), mask=missing)
    if column.type in ("date", "datetime"):
        return _decode_time(column, cells, missing)
    whole = pa.array(np.where(missing, 0.0, cells).astype(np.int64), pa.int64(), mask=missing)
    if column.type == "integer":
        return whole
    if column.type == "boolean" and column.values == BOOLEAN_VALUES:
        return pc.cast(whole, pa.bool_())
    spelled = pa.array(column.values, pa.string()).take(whole)
    return pc.cast(spelled, pa.int64()) if column.integer_values else spelled


def _decode_time(column: Column, cells: FloatArray, missing: FloatArray) -> pa.Array:
    unit = temporal.DAY_S if column.type == "date" else 1.0
    if column.format is not None:
        return temporal.format_texts(cells * unit, column.format)
    filled = np.where(missing, 0.0, cells)
    if column.type == "date":
        return pa.array(filled.astype(np.int32), pa.int32(), mask=missing).cast(pa.date32())
    # Whole seconds and the rest apart: float64 holds no microseconds of far years.
    seconds = np.floor(filled)
    micros = seconds.astype(np.int64) * 1_000_000 + np.rint((filled - seconds) * 1e6).astype(np.int64)
    return pa.array(micros, pa.int64(), mask=missing).cast(pa.timestamp("us"))


def made_up(column: Column, size: int) -> pa.Array:
    """Return the cells of a column that is not modelled: running numbers in an id's template, else all missing."""
    if column.type != "id":
        return pa.nulls(size, pa.string())
    numbers = range(1, size + 1)
    if column.format == "%d":
        return pa.array(numbers, pa.int64())
    template = column.format or _DEFAULT_ID
    return pa.array([template % number for number in numbers], pa.string())
