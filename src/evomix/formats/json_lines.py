"""JSON lines as tables of strings: one object a line, each value kept as it is written.

As in a CSV file every column is text, so that what a cell means depends on that cell alone and never on what
the rest of its column holds. A number keeps its spelling, ``true`` and ``false`` stay words, a list or an
object is its JSON text, and ``null`` or an absent key is null.
"""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from evomix.core.errors import InputFileError
from evomix.formats.decoding import LINE_END, read_utf8
from evomix.formats.names import check_names

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_json_lines(path: str | Path, *, encoding: str = "utf-8") -> pa.Table:
    """Read a file with one JSON object a line; blank lines are skipped.

    Args:
        path: the file.
        encoding: its encoding, any that Python knows.

    Returns:
        A table with one string column per key, in the order in which keys first appear.

    Raises:
        SpecError: for an unknown encoding.
        InputFileError: for a file that is missing, empty or not decodable, or a line that is not one JSON
            object or repeats a key; the message has file, line and reason and never a value.
    """
    path = Path(path)
    cells: dict[str, list[str | None]] = {}
    rows = 0
    for number, line in enumerate(LINE_END.split(read_utf8(path, encoding=encoding)), start=1):
        if not line.strip():
            continue
        record = _parse(line)
        if record is None:
            raise InputFileError(f"{path}, line {number}: expected one JSON object with distinct keys")
        for key, value in record.items():
            column = cells.setdefault(key, [])
            column.extend([None] * (rows - len(column)))
            column.append(_cell(value))
        rows += 1
    if not rows:
        raise InputFileError(f"{path}: the file is empty: no JSON object in it")
    check_names(list(cells), str(path))
    return pa.table(
        {
            name: pa.chunked_array([pa.array(column + [None] * (rows - len(column)), pa.large_string())])
            for name, column in cells.items()
        }
    )


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the object on ``line``, numbers as their text; None if it holds anything else."""
    try:
        record = json.loads(line, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_distinct_keys)
    except (ValueError, RecursionError):  # json's own error holds the whole line
        return None
    return record if isinstance(record, dict) else None


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = {_text(key): value for key, value in pairs}
    if len(record) != len(pairs):
        raise ValueError("repeated key")
    return record


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value if value is None else _text(value)
    return _text(json.dumps(value, ensure_ascii=False))


def _text(value: str) -> str:
    """Return ``value`` with lone halves of characters, which are not text, as replacement characters."""
    return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
