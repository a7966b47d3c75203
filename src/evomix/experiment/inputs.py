"""Opening what the user named: schema, public table, private rows."""

from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from evomix.core.errors import SchemaError, SpecError
from evomix.curator.guard import withheld
from evomix.curator.records import PrivateRecords
from evomix.experiment.identity import same_content
from evomix.experiment.spec import RunSpec
from evomix.formats.row_source import MemoryRows
from evomix.formats.rows import RowSource, open_rows
from evomix.formats.table import read_table
from evomix.modalities.tabular.fit import check_fit, type_clash
from evomix.modalities.tabular.inference import infer_schema
from evomix.modalities.tabular.modality import TableModality, build_table_modality
from evomix.modalities.tabular.schema import Schema

CHECKED_ROWS: Final = 20_000
"""Rows at the start of a large file whose types are looked at."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a run reads.

    Attributes:
        schema: columns of the synthetic table.
        modality: codec, generator and geometry; public.
        records: the private records.
        rows: the file they come from (for its fingerprint only).
        warnings: sentences for the user.
    """

    schema: Schema
    modality: TableModality
    records: PrivateRecords
    rows: RowSource
    warnings: tuple[str, ...]


def open_inputs(spec: RunSpec, *, check_cells: bool = True) -> Inputs:
    """Read schema and public table, open the private rows and check that all agree by name.

    Args:
        spec: what the user asked for.
        check_cells: whether to refuse a table whose cells are of quite another type than declared. This looks at
            private cells; a dry run does not.

    Raises:
        SpecError: neither a schema nor a public table is given.
        SchemaError: names or types do not agree.
        InputFileError: a file cannot be read.
    """
    schema, public, warnings = _public_side(spec)
    with withheld("opening the private table"):
        if spec.public is not None and same_content(spec.private, spec.public):
            raise SpecError(
                "the public table is the private table. Public rows are not protected and may appear in the output as "
                "they are; name a table that anyone may see (--public), or give a schema alone (--schema)"
            )
        rows = open_rows(spec.private, encoding=spec.encoding)
    described = "the schema" if spec.schema else "the public table"
    _check_columns(schema, rows, unit=spec.unit, described=described)
    if check_cells:
        _check_cells(schema, rows, described=described)
    modality = build_table_modality(schema, public, target=spec.target)
    columns = [column.name for column in schema.modelled]
    records = PrivateRecords(rows, modality.codec, columns=columns, unit_column=spec.unit)
    return Inputs(schema, modality, records, rows, warnings)


def _public_side(spec: RunSpec) -> tuple[Schema, pa.Table | None, tuple[str, ...]]:
    """Return schema and public table without the unit column, and what there is to say about them."""
    if spec.schema is None and spec.public is None:
        raise SpecError(
            "a run needs a public file or a schema: give --public PUBLIC, or --schema SCHEMA.json with the columns, "
            "types, bounds and categories. They cannot be read off the private table, because that would reveal it"
        )
    public = None if spec.public is None else read_table(spec.public, encoding=spec.public_encoding)
    warnings: tuple[str, ...] = ()
    if spec.schema is not None:
        schema = spec.schema if isinstance(spec.schema, Schema) else _load_schema(spec.schema)
    else:
        assert public is not None
        inferred = infer_schema(public)
        schema, warnings = inferred.schema, inferred.warnings
    if spec.unit is not None:
        schema = _without(schema, spec.unit)
        warnings = tuple(warning for warning in warnings if f"{spec.unit!r}" not in warning)
        if public is not None and spec.unit in public.column_names:
            public = public.drop_columns([spec.unit])
    if public is not None and spec.schema is not None:
        check_fit(schema, public, role="public")
    if not schema.modelled:
        raise SchemaError("no column is left to model: the schema holds ids only")
    if public is not None and public.num_rows == 0:
        public = None
    return schema, public, warnings


def _load_schema(source: object) -> Schema:
    return Schema.from_dict(source) if isinstance(source, dict) else Schema.from_json(str(source))


def _without(schema: Schema, name: str) -> Schema:
    kept = tuple(column for column in schema.columns if column.name != name)
    if not kept:
        raise SchemaError(f"the unit column {name!r} is never part of the output, and no other column is left")
    return replace(schema, columns=kept)


def _check_columns(schema: Schema, rows: RowSource, *, unit: str | None, described: str) -> None:
    """Check names and storage types; no cell is read."""
    types = rows.storage_types()
    if unit is not None:
        if unit not in types:
            raise SchemaError(f"the private table has no column unit={unit!r}; its privacy unit is named by --unit")
        types = {name: kind for name, kind in types.items() if name != unit}
    check_fit(schema, pa.schema(list(types.items())), role="private", described=described)


def _check_cells(schema: Schema, rows: RowSource, *, described: str) -> None:
    """Refuse a table that as a whole is of other types than declared; see :func:`type_clash` for what that tells."""
    # A table in memory is looked at whole; of a file, whose numbers are mostly stored as such, a first part.
    size = max(rows.num_rows, 1) if isinstance(rows, MemoryRows) else CHECKED_ROWS
    with withheld("checking the private table's types"):
        first = next(rows.batches([column.name for column in schema.modelled], size=size), None)
        clashes = [] if first is None else type_clash(schema, first, described=described)
    if clashes:
        raise SchemaError(f"{'; '.join(clashes)}. Give the right file, or a schema that describes it")
