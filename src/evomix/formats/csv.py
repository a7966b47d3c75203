"""Delimited text files as tables of strings: nothing is shifted, dropped, guessed or quoted in a message.

Every column is read as text and every cell is kept as it is written; an empty cell is the empty string. What
a text means (a number, a date, a missing value) is for the codec to say.
"""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv

from evomix.core.errors import InputFileError
from evomix.formats.csv_grammar import (
    MalformedError,
    Record,
    quotes_are_regular,
    scan_records,
    sniff_delimiter,
    split_cells,
    unquote,
)
from evomix.formats.decoding import HOW_TO_DECLARE, LINE_END, read_utf8
from evomix.formats.names import check_names

_BLOCK = 1 << 22
_LARGEST_BLOCK = (1 << 31) - 1
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a text is laid out: its delimiter, its names and where the records start."""

    delimiter: bytes
    names: tuple[str, ...]
    header: Record


def read_csv(path: str | Path, *, encoding: str = "utf-8") -> pa.Table:
    r"""Read a CSV or TSV file; every column is a string column.

    The delimiter (comma, semicolon, tab or bar; always a tab in a ``.tsv`` file) is found from the first
    lines. A byte-order mark, LF, CRLF or CR line ends, and quoted cells with delimiters, line ends and
    doubled quotes are understood. Blank lines are skipped; in a file with one column a blank line is a row
    with an empty cell.

    Args:
        path: the file.
        encoding: its encoding, any that Python knows.

    Returns:
        A table with one string column per name of the header, without nulls; 0 rows if there is no more.

    Raises:
        SpecError: for an unknown encoding.
        InputFileError: for a file that is missing, empty or not decodable; that has a NUL byte, an unclosed
            quote, a repeated or empty column name, or a row with more or fewer fields than names. The message
            has file, line and reason and never a cell.
    """
    path = Path(path)
    text = read_utf8(path, encoding=encoding)
    _refuse_nul(text, path)
    layout = _layout(text, path)
    if b'"' in text and not quotes_are_regular(text, layout.delimiter):
        _refuse_misfits(text, layout, path)
    body = memoryview(text)[layout.header.after :]
    if not body:
        return pa.table({name: pa.array([], pa.string()) for name in layout.names})
    # One column: a blank line is a row, so no block may end between the CR and the LF of one line end.
    block = _BLOCK if len(layout.names) > 1 else _LARGEST_BLOCK
    table = _parse(body, layout, block=block)
    if table is None:
        _refuse_misfits(text, layout, path)
        table = _parse(body, layout, block=_LARGEST_BLOCK)  # a cell longer than a block
    if table is None:
        raise InputFileError(f"{path}: cannot be read as delimited text; check that it is a CSV or TSV file")
    return table


def _refuse_nul(text: bytes, path: Path) -> None:
    position = text.find(b"\0")
    if position >= 0:
        line = len(LINE_END.findall(text, 0, position)) + 1
        raise InputFileError(
            f"{path}, line {line}: a NUL byte, which text never holds; remove it, or, if the file is "
            f"UTF-16 or UTF-32, declare that: {HOW_TO_DECLARE}"
        )


def _layout(text: bytes, path: Path) -> _Layout:
    if not text.strip():
        raise InputFileError(f"{path}: the file is empty: no header. Its first line must hold the column names")
    delimiter = b"\t" if path.suffix.lower() == ".tsv" else sniff_delimiter(text)
    try:
        header = next(record for record in scan_records(text, delimiter) if record.fields)
    except MalformedError as fault:
        problem = f"{path}, {fault}"
    else:
        spans, _ = split_cells(text, header.start, delimiter)
        names = tuple(unquote(text[start:stop]) for start, stop in spans)
        check_names(names, f"{path}, line {header.line}")
        return _Layout(delimiter, names, header)
    raise InputFileError(problem)


def _parse(body: memoryview, layout: _Layout, *, block: int) -> pa.Table | None:
    """Return the table, or None where Arrow refuses; its error, which quotes the row, ends here."""
    names = list(layout.names)
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(pa.py_buffer(body)),
            read_options=arrow_csv.ReadOptions(column_names=names, block_size=min(block, len(body) + 1)),
            parse_options=arrow_csv.ParseOptions(
                delimiter=layout.delimiter.decode(),
                newlines_in_values=True,
                ignore_empty_lines=len(names) > 1,
            ),
            convert_options=arrow_csv.ConvertOptions(
                check_utf8=False, column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None


def _refuse_misfits(text: bytes, layout: _Layout, path: Path) -> None:
    """Raise for the first malformed cell, or else for rows whose field count is not the header's."""
    expected, rows = len(layout.names), 0
    misfits: list[tuple[int, int]] = []
    try:
        for record in scan_records(text, layout.delimiter):
            if record.start <= layout.header.start or (record.fields == 0 and expected > 1):
                continue
            rows += 1
            if max(record.fields, 1) != expected:
                misfits.append((record.line, record.fields))
    except MalformedError as fault:
        problem = f"{path}, {fault}"
    else:
        if not misfits:
            return
        problem = f"{path}, {_describe(misfits, rows, expected)}"
    raise InputFileError(problem)


def _describe(misfits: list[tuple[int, int]], rows: int, expected: int) -> str:
    line, fields = misfits[0]
    counts = f"{_count(fields, 'field')} for {_count(expected, 'name')} in the header"
    if len(misfits) == rows and len({count for _, count in misfits}) == 1:
        return f"line {line}: every row has {counts}"
    others = ", ".join(f"line {n} with {k}" for n, k in misfits[1:_SHOWN])
    also = f" (also {others}{', and more' if len(misfits) > _SHOWN else ''})" if others else ""
    return f"line {line}: the row has {counts}{also}; quote cells that hold the delimiter"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
