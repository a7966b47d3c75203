"""The grammar of delimited text: records, their fields and physical lines, and which delimiter a file uses.

Arrow parses; this scanner tells what Arrow does not. It splits exactly like Arrow (a quote opens a cell only
at its start, a doubled quote inside stands for one, LF, CRLF and CR end a line), is stricter where leniency
would swallow rows (a quoted cell must be closed, and nothing may follow its closing quote), and counts
physical lines.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

import numpy as np

from evomix.formats.decoding import LINE_END

DELIMITERS = (b",", b";", b"\t", b"|")
"""The delimiters that are looked for, the likeliest first."""

_QUOTE = b'"'
_QUOTED_CELL = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"')
_PLAIN_CELL = {delimiter: re.compile(rb"[^\r\n" + re.escape(delimiter) + rb"]*+") for delimiter in DELIMITERS}
_SAMPLE = 200
_BLOCK = 1 << 24


class MalformedError(Exception):
    """A quoted cell breaks the grammar at ``line``, for ``reason``; never holds text of the file."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the text.

    Attributes:
        line: physical line it starts on, from 1.
        fields: number of its fields; 0 for a blank line.
        start: offset of its first byte.
        after: offset of the next record.
    """

    line: int
    fields: int
    start: int
    after: int


def scan_records(text: bytes, delimiter: bytes) -> Iterator[Record]:
    """Yield the records of ``text`` (UTF-8), blank lines included.

    Raises:
        MalformedError: at a quoted cell that is never closed or has text after its closing quote.
    """
    position, line = 0, 1
    while position < len(text):
        end = LINE_END.search(text, position)
        stop, after = end.span() if end else (len(text), len(text))
        lines = 1
        if stop == position:
            fields = 0
        elif text.find(_QUOTE, position, stop) < 0:
            fields = text.count(delimiter, position, stop) + 1
        else:
            spans, after = split_cells(text, position, delimiter, line=line)
            fields = len(spans)
            lines = max(1, len(LINE_END.findall(text, position, after)))
        yield Record(line, fields, position, after)
        position, line = after, line + lines


def split_cells(text: bytes, position: int, delimiter: bytes, *, line: int = 1) -> tuple[list[tuple[int, int]], int]:
    """Return (start, stop) of each cell of the record at ``position``, and where the next record starts.

    A quoted cell is cut out with its quotes.

    Raises:
        MalformedError: as in `scan_records`; ``line`` is the physical line of ``position``.
    """
    spans: list[tuple[int, int]] = []
    first = position
    while True:
        if text.startswith(_QUOTE, position):
            cell = _QUOTED_CELL.match(text, position)
            here = line + len(LINE_END.findall(text, first, position))
            if cell is None:
                raise MalformedError(here, "a quoted cell starts here and is never closed")
        else:
            cell = _PLAIN_CELL[delimiter].match(text, position)
        assert cell is not None
        spans.append(cell.span())
        position = cell.end()
        if text.startswith(delimiter, position):
            position += 1
            continue
        end = LINE_END.match(text, position)
        if end is None and position < len(text):
            here = line + len(LINE_END.findall(text, first, position))
            raise MalformedError(here, "text follows the closing quote of a cell; inside a cell, double a quote")
        return spans, end.end() if end else position


def unquote(cell: bytes) -> str:
    """Return the value of one cell as cut out by `split_cells`."""
    if cell.startswith(_QUOTE):
        cell = cell[1:-1].replace(b'""', _QUOTE)
    return cell.decode("utf-8")


def quotes_are_regular(text: bytes, delimiter: bytes) -> bool:
    """Return whether every quote plainly opens, closes or is doubled, so that no cell is malformed.

    Fast (vectorised) and sufficient, not necessary: a lone quote inside an unquoted cell is valid and gives
    False. Quotes must alternate between opening and closing: every opening one at the start, after a
    delimiter, a line end or the closing one that it doubles; every closing one at the end or before such a
    byte.
    """
    around = np.zeros(256, dtype=bool)
    around[list(delimiter + b'\r\n"')] = True
    codes = np.frombuffer(text, dtype=np.uint8)
    seen = 0
    for start in range(0, len(codes), _BLOCK):
        at = np.flatnonzero(codes[start : start + _BLOCK] == ord(_QUOTE)) + start
        opening, closing = at[seen % 2 :: 2], at[1 - seen % 2 :: 2]
        inner_opening, inner_closing = opening[opening > 0], closing[closing < len(codes) - 1]
        if not (around[codes[inner_opening - 1]].all() and around[codes[inner_closing + 1]].all()):
            return False
        seen += len(at)
    return seen % 2 == 0


def sniff_delimiter(text: bytes, candidates: Sequence[bytes] = DELIMITERS) -> bytes:
    """Return the delimiter under which the first records agree best with the header."""
    return max(candidates, key=lambda delimiter: _agreement(text, delimiter))  # max keeps the first of equals


def _agreement(text: bytes, delimiter: bytes) -> tuple[int, int]:
    """Return (records that agree with the header, its fields), or zeros if it is not split."""
    counts: list[int] = []
    with suppress(MalformedError):  # what came before the fault still counts
        for record in islice(scan_records(text, delimiter), _SAMPLE):
            counts.extend([record.fields] if record.fields else [])
    if not counts or counts[0] == 1:
        return 0, 0
    return counts.count(counts[0]), counts[0]
