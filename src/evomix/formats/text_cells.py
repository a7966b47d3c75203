"""Typed columns as portable values and as text: one spelling for each value, readable by everything."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evomix.core.errors import SpecError
from evomix.formats.views import plain_table

_UNITS = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))


def portable(table: pa.Table) -> pa.Table:
    """Return ``table`` without NaN and infinities (missing), -0.0 (0), dictionaries and annotations."""
    table = plain_table(table)
    columns = {name: _portable_column(table[name]) for name in table.column_names}
    return pa.table(columns) if columns else table.replace_schema_metadata(None)


def text_column(column: pa.ChunkedArray, *, name: str) -> pa.ChunkedArray:
    """Return a column as large strings, missing as null.

    Integers and whole floats without a fraction, other floats as the shortest text that reads back the same,
    booleans ``true``/``false``, dates and datetimes in ISO form (UTC with ``Z`` where they have a time zone).

    Raises:
        SpecError: naming ``name``, when its type has no text form.
    """
    kind = column.type
    if pa.types.is_timestamp(kind):
        return _datetime_text(column)
    if pa.types.is_floating(kind) or _has_text(kind):
        return _plain_column(column).cast(pa.large_string())
    raise SpecError(f"column {name!r} of type {kind} cannot be written as text; write a .parquet file")


def has_json_literal(kind: pa.DataType) -> bool:
    """Return whether JSON has a literal for values of this Arrow type."""
    return any(is_kind(kind) for is_kind in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean))


def _portable_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        return _plain_column(column)
    if column.type == pa.string():
        return column.cast(pa.large_string())
    return column


def _plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if not pa.types.is_floating(kind):
        return column
    if kind == pa.float16():
        column = column.cast(pa.float32())
    finite = pc.if_else(pc.is_finite(column), column, None)
    return pc.add(finite, pa.scalar(0.0, column.type))  # -0.0 + 0.0 is 0.0


def _has_text(kind: pa.DataType) -> bool:
    types = pa.types
    tests = (
        types.is_integer,
        types.is_boolean,
        types.is_string,
        types.is_large_string,
        types.is_date,
        types.is_time,
        types.is_decimal,
        types.is_null,
    )
    return any(is_kind(kind) for is_kind in tests)


def _datetime_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return ISO text with just the fraction that some value of the column needs."""
    kind: Any = column.type
    zone = "Z" if kind.tz else ""
    naive = column.cast(pa.timestamp(kind.unit))  # of a zoned column: its UTC time
    ticks = pc.fill_null(naive.cast(pa.int64()), 0).to_numpy()
    per_tick = dict(_UNITS)[kind.unit]
    unit = next(unit for unit, length in _UNITS if length <= per_tick or not np.any(ticks % (length // per_tick)))
    text = naive.cast(pa.timestamp(unit)).cast(pa.large_string())
    text = pc.replace_substring(text, pattern=" ", replacement="T", max_replacements=1)
    return pc.binary_join_element_wise(text, pa.scalar(zone, pa.large_string()), pa.scalar("", pa.large_string()))
