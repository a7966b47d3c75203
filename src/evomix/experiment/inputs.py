"""Opening what the user named: schema, public tables, private rows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa

from evomix.core.errors import SchemaError, SpecError
from evomix.core.protocols import Encoding
from evomix.curator.guard import withheld
from evomix.curator.records import PrivateRecords
from evomix.experiment.identity import same_content
from evomix.experiment.modality import Modality
from evomix.experiment.public_side import PublicSide, modality_of, read_public, read_tables
from evomix.experiment.spec import RunSpec
from evomix.experiment.text_settings import given_text_settings
from evomix.experiment.text_side import open_texts
from evomix.formats.row_source import MemoryRows
from evomix.formats.rows import RowSource, open_rows
from evomix.modalities.tabular.fit import check_fit, type_clash
from evomix.modalities.tabular.modality import build_table_modality
from evomix.modalities.tabular.schema import Schema

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, how much is done, how much there is)."""
CHECKED_ROWS: Final = 20_000
"""Rows at the start of a large file whose types are looked at."""


@dataclass(frozen=True, slots=True)
class Inputs(PublicSide):
    """What a run reads: the public side, and the private records.

    Attributes:
        records: the private records.
        rows: the file they come from (for its fingerprint only).
    """

    records: PrivateRecords
    rows: RowSource


def open_inputs(
    spec: RunSpec, *, check_cells: bool = True, folder: Path | None = None, progress: Progress | None = None
) -> Inputs:
    """Read schema and public tables, open the private rows and check that all agree by name.

    Args:
        spec: what the user asked for.
        folder: of the run, where generated texts are kept; ``None`` keeps them in memory.
        progress: told about the making of texts.
        check_cells: whether to refuse a table whose cells are of quite another type than declared. This looks at
            private cells; a dry run does not.

    Raises:
        SpecError: neither a schema nor a public table is given, or a public table is the private one or another.
        SchemaError: names or types do not agree.
        InputFileError: a file cannot be read.
    """
    modality: Modality
    read = read_tables(spec.public_tables, encoding=spec.public_encoding)
    if modality_of(spec, read) == "text":
        text = open_texts(spec, folder, progress, read=read)
        public, modality = text.tables, text.modality
    else:
        _refuse_text_settings(spec)
        public = read_public(spec.public_tables, spec.schema, unit=spec.unit, encoding=spec.public_encoding, read=read)
        text, modality = None, build_table_modality(public.schema, public.rows, target=spec.target)
    schema = public.schema
    with withheld("opening the private table"):
        if any(same_content(spec.private, table) for table in spec.public_tables):
            raise SpecError(
                "the public table is the private table. Public rows are not protected and may appear in the output as "
                "they are; name a table that anyone may see (--public), or give a schema alone (--schema)"
            )
        rows = open_rows(spec.private, encoding=spec.encoding)
    described = "the schema" if spec.schema else "the public table"
    _check_columns(schema, rows, unit=spec.unit, described=described)
    if check_cells:
        _check_cells(schema, rows, described=described)
    columns = [column.name for column in schema.modelled]
    encoding: Encoding = modality.codec if text is None else text.placing
    # To place a text is dear, and its point small.
    records = PrivateRecords(rows, encoding, columns=columns, unit_column=spec.unit, keep=text is not None)
    return Inputs(schema, modality, public.sets, public.warnings, records, rows)


def _refuse_text_settings(spec: RunSpec) -> None:
    """Refuse what would be ignored."""
    given = given_text_settings(spec)
    if given:
        raise SpecError(
            f"{given[0]} has no effect on a table; leave it out, or name what records are (--modality text)"
        )


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
