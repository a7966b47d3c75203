"""Whether a table fits a schema, decided from names and storage; and for public tables from values."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evomix.core.errors import SchemaError
from evomix.formats.names import reads_as_number
from evomix.modalities.tabular import values
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.column_inference import MISSING_WORDS
from evomix.modalities.tabular.schema import Schema

CLASH_SHARE = 0.95
CLASH_ROWS = 20


def check_fit(
    schema: Schema,
    table: pa.Table | pa.Schema,
    *,
    role: Literal["private", "public"],
    described: str = "the schema",
) -> None:
    """Refuse a table whose columns are not those of the schema; all that is wrong is named at once.

    A private table is judged by the names and the storage types of its columns alone, which no record can
    move. A public table is also judged by its values.

    Args:
        schema: what the table must hold.
        table: the table, or its Arrow schema (names and storage types).
        role: whose table it is.
        described: where the schema came from, for the message (``the schema``, ``the public table``).

    Raises:
        SchemaError: names missing, unknown, repeated or differently spelled columns and types that clash.
    """
    storage = table if isinstance(table, pa.Schema) else table.schema
    faults = _name_faults(schema, storage.names, role, described)
    for column in schema.columns:
        if storage.names.count(column.name) != 1:
            continue
        kind = storage.field(column.name).type
        if not _may_hold(column, kind):
            faults.append(f"column {column.name!r} is {column.type} in {described} and {kind} in the {role} table")
        elif role == "public" and isinstance(table, pa.Table):
            found = _public_clash(column, table.column(column.name))
            if found:
                faults.append(f"column {column.name!r} is {column.type} in {described} and {found} in the public table")
    if faults:
        raise SchemaError(
            f"the {role} table does not fit {described}: {'; '.join(faults)}. Columns are matched by name; "
            "rename, add or drop columns, or give a schema that describes the table"
        )


def type_clash(schema: Schema, table: pa.Table, *, described: str = "the schema") -> list[str]:
    """Return one message for each column whose *private* cells as a whole are of another type than declared.

    A column clashes when more than 95 % of its non-empty cells, and at least 20 rows, are no values of the
    declared type: not numbers where numbers are declared, not dates, and so on. Categories clash only where
    those cells are numbers while no declared category is one. Ids never clash. The messages name column and
    types, never a value, count or row.

    This yes-or-no answer reads private cells without noise, and no guarantee covers it: it tells whoever starts the
    run whether the share of misfits is above 95 % and their number at least 20, exactly. It is there so that a file of
    another kind is not taken for the private table, and is given to the person who holds that table: never let anybody
    else choose the schema of a run and see whether it starts.
    """
    clashes = []
    for column in schema.modelled:
        plain = values.storage(table.column(column.name))
        present = np.flatnonzero(~_blank(column, plain))
        if len(present) < CLASH_ROWS:
            continue
        wrong, found = _misfits(column, plain.take(pa.array(present)))
        if wrong.mean() > CLASH_SHARE:
            clashes.append(f"column {column.name!r} is {column.type} in {described} and {found} in the private table")
    return clashes


def _name_faults(schema: Schema, names: Sequence[str], role: str, described: str) -> list[str]:
    faults = []
    twice = sorted({name for name in names if names.count(name) > 1})
    faults += [f"column {name!r} occurs more than once in the {role} table" for name in twice]
    missing = [name for name in schema.names if name not in names]
    extra = [name for name in dict.fromkeys(names) if name not in schema.names]
    for name in list(missing):
        alike = next((other for other in extra if other.strip().casefold() == name.strip().casefold()), None)
        if alike is not None:
            faults.append(f"column {name!r} of {described} is spelled {alike!r} in the {role} table")
            missing.remove(name)
            extra.remove(alike)
    if missing:
        faults.append(f"only {described} has {', '.join(map(repr, missing))}")
    if extra:
        faults.append(f"only the {role} table has {_quoted(extra, role)}")
    return faults


def _quoted(names: Sequence[str], role: str) -> str:
    """Return the names of columns, but no private ones that look like the cells of a file without a header."""
    if role == "private" and any(map(reads_as_number, names)):
        return (
            "others that look like the cells of a record, so they are not quoted (is the line with the names missing?)"
        )
    return ", ".join(map(repr, names))


def _may_hold(column: Column, kind: pa.DataType) -> bool:
    """Tell whether a storage type can carry a column's type; text always can, nested storage never."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if values.is_text(kind) or pa.types.is_null(kind):
        return True
    if not values.has_text(kind):
        return False
    timed = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    if column.type in ("date", "datetime"):
        return bool(timed or (column.format is not None and values.is_number(kind)))
    if column.type in ("integer", "number", "boolean"):
        return not timed
    return True


def _blank(column: Column, plain: pa.Array) -> NDArray[np.bool_]:
    """Tell which cells say nothing about the type: empty, a declared missing code, or a word for missing."""
    blank = values.is_empty(plain)
    if column.missing_codes:
        blank |= values.is_missing_code(column, plain, np.full(len(plain), np.nan))
    if column.ordered:
        words = pc.is_in(
            pc.utf8_trim_whitespace(values.as_text(plain)),
            value_set=pa.array(MISSING_WORDS, pa.large_string()),
        )
        blank |= np.asarray(pc.fill_null(words, False), dtype=np.bool_)
    return blank


def _misfits(column: Column, present: pa.Array) -> tuple[NDArray[np.bool_], str]:
    """Return which non-empty cells are no values of the declared type, and the type they seem to have."""
    if column.type == "text":
        return np.zeros(len(present), dtype=np.bool_), ""
    if column.type == "category":
        if np.any(~np.isnan(values.parse_numbers(pa.array(column.values, pa.large_string())))):
            return np.zeros(len(present), dtype=np.bool_), ""
        return ~np.isnan(values.parse_numbers(present)), "number"
    parsed = values.parse(column, present)
    return np.isnan(parsed), "number" if column.type == "boolean" and _all_numbers(present) else "text"


def _all_numbers(present: pa.Array) -> bool:
    return not np.any(np.isnan(values.parse_numbers(present)))


def _public_clash(column: Column, cells: pa.ChunkedArray) -> str | None:
    """Return the type that public cells have where it is not the declared one."""
    if not column.modelled:
        return None
    plain = values.storage(cells)
    present = plain.take(pa.array(np.flatnonzero(~_blank(column, plain))))
    if not len(present):
        return None
    wrong, found = _misfits(column, present)
    if column.type == "category":
        return found if wrong.all() else None
    return found if wrong.any() else None
