"""The public side of a run: one or several public tables, the schema, and what is learned from both."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from evomix.core.errors import SchemaError, SpecError
from evomix.experiment.common_schema import as_schema
from evomix.experiment.identity import same_content
from evomix.experiment.modality import Modality
from evomix.experiment.spec import RunSpec
from evomix.experiment.text_settings import given_text_settings
from evomix.formats.table import read_table
from evomix.modalities.tabular import values
from evomix.modalities.tabular.fit import check_fit
from evomix.modalities.tabular.inference import Inferred, infer_schema
from evomix.modalities.tabular.modality import build_table_modality
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.text.schema import free_text_columns, holds_text, is_set_of_texts

_NOTHING_LEFT: Final = "the unit column {unit!r} is never part of the output, and no other column is left"


@dataclass(frozen=True, slots=True)
class PublicSide:
    """All that a run knows without a private record.

    Attributes:
        schema: columns of the synthetic table.
        modality: what a record is.
        sets: rows of each public table, in the order in which ``modality.public`` has them; empty without any.
        warnings: sentences for the user.
    """

    schema: Schema
    modality: Modality
    sets: tuple[int, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PublicTables:
    """What was read: the schema, and the rows of all public tables one after the other.

    Attributes:
        schema: columns of the synthetic table.
        rows: the public rows, without the unit column; ``None`` when there are none.
        sets: rows of each table.
        warnings: sentences for the user.
    """

    schema: Schema
    rows: pa.Table | None
    sets: tuple[int, ...]
    warnings: tuple[str, ...]


def modality_of(spec: RunSpec, public: Sequence[pa.Table]) -> str:
    """Return what a record is, "table" or "text": as asked for, or by the schema, else the public columns.

    Public columns read as texts where one holds free text and at most a label is beside it: a table with such a column
    among many is a table still.

    Args:
        spec: what the user asked for.
        public: the public tables.
    """
    if spec.modality != "auto":
        return spec.modality
    if given_text_settings(spec):
        return "text"
    if spec.schema is not None:
        return "text" if holds_text(as_schema(spec.schema)) else "table"
    return "text" if any(is_set_of_texts(_without_unit(table, spec.unit)) for table in public) else "table"


def open_public(
    tables: Sequence[Any],
    schema: Any = None,
    *,
    unit: str | None = None,
    target: str | None = None,
    encoding: str = "utf-8",
) -> PublicSide:
    """Read the public side alone; no private file is opened.

    Args:
        tables: the public tables, paths or frames.
        schema: a path, a mapping or a ``Schema``; by default that of the public rows.
        unit: column that names the private unit, which is never modelled.
        target: the column that a later model will predict.
        encoding: of text files.

    Raises:
        SpecError, SchemaError, InputFileError: as :func:`read_public`.
    """
    read = read_public(tables, schema, unit=unit, encoding=encoding)
    refuse_texts(read)
    return PublicSide(
        read.schema, build_table_modality(read.schema, read.rows, target=target), read.sets, read.warnings
    )


def refuse_texts(read: PublicTables) -> None:
    """Refuse a set of texts where a command is about tables.

    Raises:
        SchemaError: the public rows are texts, with a label at most.
    """
    if read.rows is not None and is_set_of_texts(read.rows):
        raise SchemaError(
            "this command is about tables, and the public table is a set of texts; `evomix synth --dry-run` tells what "
            "a run on texts would do. To look at its other columns alone, leave the text column out"
        )


def read_tables(tables: Sequence[Any], *, encoding: str) -> list[pa.Table]:
    """Return public tables, given as paths or frames.

    Raises:
        InputFileError: a file cannot be read.
    """
    return [read_table(table, encoding=encoding) for table in tables]


def read_public(
    tables: Sequence[Any],
    schema: Any,
    *,
    unit: str | None,
    encoding: str,
    infer: Callable[[pa.Table], Inferred] = infer_schema,
    may_lack: str | None = None,
    read: Sequence[pa.Table] | None = None,
) -> PublicTables:
    """Return schema and public rows without the unit column, and what there is to say about them.

    Without a schema it is what ``infer`` finds in the public rows. A column ``may_lack`` of the schema is empty where a
    table has none. ``read`` are the tables, where they were read already.

    Several tables must have the same columns, in any order; a column that they store in different types is read as
    text, as a CSV file has it.

    Raises:
        SpecError: there is neither a table nor a schema, or one table is given twice.
        SchemaError: names or types do not agree, one of several tables has no rows, or no column is left to model.
        InputFileError: a file cannot be read.
    """
    if schema is None and not tables:
        raise SpecError(
            "a run needs a public file or a schema: give --public PUBLIC, or --schema SCHEMA.json with the columns, "
            "types, bounds and categories. They cannot be read off the private table, because that would reveal it"
        )
    _refuse_repeats(tables)
    names = [_name(table, place) for place, table in enumerate(tables)]
    read = read_tables(tables, encoding=encoding) if read is None else read
    given = None if schema is None else schema_of(schema, unit=unit)
    read = [_without_unit(table, unit) for table in read]
    if len(read) > 1 and 0 in (sizes := [table.num_rows for table in read]):
        raise SchemaError(f"{names[sizes.index(0)]} has no rows; leave it out")
    if given is not None:
        if may_lack in given.names:
            read = [_with_empty(table, may_lack) for table in read]
        for table, name in zip(read, names, strict=True):
            _check_fit(given, table, name if len(read) > 1 else None)
    rows = _joined(read, names) if read else None
    warnings: tuple[str, ...] = ()
    if given is None:
        assert rows is not None
        inferred = infer(rows)
        given, warnings = inferred.schema, inferred.warnings
    if not given.modelled:
        raise SchemaError("no column is left to model: the schema holds ids only")
    if rows is not None and rows.num_rows:
        warnings += tuple(_unlearned_texts(given, rows))
    some = rows if rows is not None and rows.num_rows else None
    return PublicTables(given, some, () if some is None else tuple(table.num_rows for table in read), warnings)


def _refuse_repeats(tables: Sequence[Any]) -> None:
    """Refuse one table under two names: it would pass for agreement between two."""
    for (first, one), (second, other) in combinations(enumerate(tables), 2):
        if same_content(one, other):
            raise SpecError(
                f"{_name(one, first)} and {_name(other, second)} are the same table; rows that count twice make "
                "public data look nearer to one another than they are. Give each table once"
            )


def _with_empty(table: pa.Table, name: str | None) -> pa.Table:
    if name in table.column_names:
        return table
    return table.append_column(name, pa.nulls(table.num_rows, pa.string()))


def _unlearned_texts(schema: Schema, rows: pa.Table) -> Iterator[str]:
    """Yield a sentence for each id that reads as free text: whoever has texts may want them."""
    ids = [column.name for column in schema.columns if column.type == "id" and column.name in rows.column_names]
    for name in free_text_columns(rows.select(ids)):
        yield (
            f"column {name!r} reads as free text, and this run makes up ids for it: if the texts are what matters, "
            "keep that column and a label at most (--modality text; in a schema: type 'text')"
        )


def _name(table: Any, place: int) -> str:
    return f"public table {str(table)!r}" if isinstance(table, str | Path) else f"public table {place + 1}"


def schema_of(source: Any, *, unit: str | None) -> Schema:
    """Return the schema that a path, a mapping or a ``Schema`` gives, without the unit column."""
    return _without(as_schema(source), unit)


def _without(schema: Schema, unit: str | None) -> Schema:
    kept = tuple(column for column in schema.columns if column.name != unit)
    if not kept:
        raise SchemaError(_NOTHING_LEFT.format(unit=unit))
    return replace(schema, columns=kept)


def _without_unit(table: pa.Table, unit: str | None) -> pa.Table:
    if unit not in table.column_names:
        return table
    if table.num_columns == 1:
        raise SchemaError(_NOTHING_LEFT.format(unit=unit))
    return table.drop_columns([unit])


def _check_fit(schema: Schema, table: pa.Table, name: str | None) -> None:
    try:
        check_fit(schema, table, role="public")
    except SchemaError as error:
        if name is None:
            raise
        raise SchemaError(f"{name}: {error}") from None


def _joined(tables: Sequence[pa.Table], names: Sequence[str]) -> pa.Table:
    """Return the rows of all tables, in the columns' order of the first."""
    columns = tables[0].column_names
    for table, name in zip(tables[1:], names[1:], strict=True):
        faults = [
            f"only {who} has {', '.join(map(repr, extra))}"
            for who, extra in (
                (names[0], [column for column in columns if column not in table.column_names]),
                (name, [column for column in table.column_names if column not in columns]),
            )
            if extra
        ]
        if faults:
            raise SchemaError(
                f"public tables must have the same columns: {'; '.join(faults)}. Rename, add or drop columns"
            )
    if len(tables) == 1:
        return tables[0]
    return pa.table({column: _one_type(column, [table.column(column) for table in tables]) for column in columns})


def _one_type(column: str, parts: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return the cells of all parts in one type: theirs, or text where they differ."""
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)} or {parts[0].type}
    if len(kinds) == 1:
        (kind,) = kinds
        return pa.chunked_array([chunk.cast(kind) for part in parts for chunk in part.chunks], kind)
    if not all(values.is_text(kind) or values.has_text(kind) for kind in kinds):
        raise SchemaError(
            f"column {column!r} is stored as {' and '.join(sorted(map(str, kinds)))} in the public tables; "
            "store it alike in all of them"
        )
    return pa.chunked_array([values.as_text(part) for part in parts], pa.large_string())
