"""Arrow's view types as the plain types that every Arrow function knows (rows cannot be taken from views)."""

import pyarrow as pa


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return ``kind``, or the large type that replaces it where it is, or is a dictionary of, a view type."""
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, plain_type(kind.value_type), kind.ordered)
    return kind


def plain_table(table: pa.Table) -> pa.Table:
    """Return ``table`` without view types; columns without them are not copied."""
    if all(plain_type(kind) == kind for kind in table.schema.types):
        return table
    columns = [_plain_column(column) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def _plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = plain_type(column.type)
    if kind == column.type:
        return column
    if not pa.types.is_dictionary(kind):
        return column.cast(kind)
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(kind.value_type), ordered=kind.ordered)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, kind)
