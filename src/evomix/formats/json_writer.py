"""A table as JSON lines: one object a row."""

import json
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from evomix.formats.text_cells import has_json_literal, text_column

_ROWS = 1 << 16
_NOTHING = pa.scalar("", pa.large_string())


def write_json_lines(table: pa.Table, file: BinaryIO) -> None:
    """Write ``table`` as UTF-8 text, missing as ``null``; what JSON has no literal for is written as text.

    Args:
        table: columns of types that have a text form, without NaN and infinities.
        file: where the bytes go.

    Raises:
        SpecError: naming a column whose type has no text form.
    """
    literals = pa.table({name: _literals(table[name], name=name) for name in table.column_names})
    for start in range(0, literals.num_rows, _ROWS):
        batch = literals.slice(start, _ROWS).combine_chunks()
        pieces: list[pa.Scalar | pa.ChunkedArray] = []
        for number, name in enumerate(batch.column_names):
            key = f"{', ' if number else '{'}{json.dumps(name, ensure_ascii=False)}: "
            pieces += [pa.scalar(key, pa.large_string()), batch[name]]
        rows = pc.binary_join_element_wise(*pieces, pa.scalar("}\n", pa.large_string()), _NOTHING)
        file.writelines(rows.cast(pa.large_binary()).to_pylist())


def _literals(column: pa.ChunkedArray, *, name: str) -> pa.ChunkedArray:
    texts = text_column(column, name=name)
    if not has_json_literal(column.type):
        texts = _string_literals(texts)
    return pc.fill_null(texts, "null")


def _string_literals(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return each text in quotes; the few that need escapes take the slow way."""
    mark = pa.scalar('"', pa.large_string())
    quoted = pc.binary_join_element_wise(mark, texts, mark, _NOTHING)
    special = pc.fill_null(pc.match_substring_regex(texts, pattern=r'["\\\x00-\x1f]'), False)
    escaped = [json.dumps(text, ensure_ascii=False) for text in texts.filter(special).to_pylist()]
    if not escaped:
        return quoted
    flat = quoted.combine_chunks()
    return pa.chunked_array(
        [pc.replace_with_mask(flat, special.combine_chunks(), pa.array(escaped, pa.large_string()))]
    )
