"""A schema from a public table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from evomix.core.errors import SchemaError
from evomix.modalities.tabular.column import Code
from evomix.modalities.tabular.column_inference import infer_column
from evomix.modalities.tabular.schema import Schema


@dataclass(frozen=True, slots=True)
class Inferred:
    """A schema read off public data, and what its owner should know about it.

    Attributes:
        schema: the columns, in the order of the public table.
        warnings: one sentence each, naming the column.
    """

    schema: Schema
    warnings: tuple[str, ...]


def infer_schema(table: pa.Table, *, missing_codes: Mapping[str, Sequence[Code]] | None = None) -> Inferred:
    """Infer the schema of a *public* table: columns of text (from CSV) or of typed storage (from Parquet).

    Bounds are the exact least and greatest public value; categories are the public values by decreasing
    frequency, then by text. How the type is found: see ``column_inference``.

    Args:
        table: public records, at least one.
        missing_codes: by column, the values that mean "not known" (999, "?").

    Raises:
        SchemaError: no row, a repeated name, or a storage type that a table cannot hold (lists, structs,
        binary).
    """
    if table.num_rows == 0:
        raise SchemaError("the public table has no rows, so types and bounds are not known; give a schema instead")
    codes = missing_codes or {}
    unknown = [name for name in codes if name not in table.column_names]
    if unknown:
        raise SchemaError(f"missing_codes name a column {unknown[0]!r} that the public table lacks")
    columns, warnings = [], []
    for position, name in enumerate(table.column_names):
        column, notes = infer_column(name, table.column(position), missing_codes=tuple(codes.get(name, ())))
        columns.append(column)
        warnings += [f"column {name!r}: {note}" for note in notes]
    return Inferred(Schema(tuple(columns)), tuple(warnings))
