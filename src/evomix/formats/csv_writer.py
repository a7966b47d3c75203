"""A table as delimited text, quoted only where a cell needs it."""

import re
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from evomix.formats.text_cells import text_column

_ROWS = 1 << 16


def write_csv(table: pa.Table, file: BinaryIO, *, delimiter: str) -> None:
    r"""Write ``table`` as UTF-8 text: a header line, one line a row, ``\n`` after each, missing as empty.

    Args:
        table: columns of types that have a text form.
        file: where the bytes go.
        delimiter: one character.

    Raises:
        SpecError: naming a column whose type has no text form.
    """
    texts = pa.table({name: text_column(table[name], name=name) for name in table.column_names})
    header = pa.table({name: pa.array([name], pa.large_string()) for name in texts.column_names})
    file.write(_lines(header, delimiter))
    starts = range(0, texts.num_rows, _ROWS)
    file.writelines(_lines(texts.slice(start, _ROWS).combine_chunks(), delimiter) for start in starts)


def _lines(texts: pa.Table, delimiter: str) -> bytes:
    cells = [_quoted(column, delimiter) for column in texts.columns]
    if len(cells) == 1:  # a bare empty line would be skipped by other readers
        cells = [pc.if_else(pc.equal(cells[0], ""), pa.scalar('""', pa.large_string()), cells[0])]
    rows = pc.binary_join_element_wise(*cells, pa.scalar(delimiter, pa.large_string()))
    return b"".join(text + b"\n" for text in rows.cast(pa.large_binary()).to_pylist())


def _quoted(column: pa.ChunkedArray, delimiter: str) -> pa.ChunkedArray:
    column = pc.fill_null(column, "")
    needy = pc.match_substring_regex(column, pattern=f'[{re.escape(delimiter)}"\r\n]')
    if not pc.any(needy).as_py():
        return column
    doubled = pc.replace_substring(column, pattern='"', replacement='""')
    mark, nothing = pa.scalar('"', pa.large_string()), pa.scalar("", pa.large_string())
    return pc.if_else(needy, pc.binary_join_element_wise(mark, doubled, mark, nothing), column)
