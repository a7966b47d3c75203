"""The type of one public column.

Text columns are tried in this order:

1. boolean: only true/false in one of three spellings (0 and 1 stay whole numbers);
2. category, if any value has a leading zero (``00501``): a code, not an amount;
3. date as eight digits: all cells are days of the years 1800 to 2199, and at least three are distinct or the
   name says date or birth;
4. integer (thousands marks in groups of three are understood), then number;
5. ISO date, ISO datetime, a date in another layout if exactly one fits all cells;
6. category.

Empty cells are missing; words such as ``NA`` and ``null`` are missing in columns of numbers and dates,
ordinary values elsewhere. Typed storage says its own type, except that whole numbers in floating storage with
gaps are integers (the trace of a tool that has no empty integer). Whatever the storage, these become ``id``,
made up anew and never learned: texts where nearly every row has its own value, whole numbers that are nearly
all distinct and are named like an identifier, and whole numbers beyond 2^53 that are nearly all distinct.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SchemaError
from evomix.modalities.tabular import temporal, values
from evomix.modalities.tabular.column import BOOLEAN_VALUES, EXACT_INTEGER, Code, Column, ColumnType

MISSING_WORDS = ("NA", "N/A", "n/a", "nan", "NaN", "NAN", "null", "NULL", "None")
"""Words that mean missing in columns of numbers, dates and times; in a category they are ordinary values."""

ENOUGH_VALUES = 20
"""From this many public values on, the grid they lie on is taken for the column's grid."""

_IDENTIFIER = re.compile(
    r"^$|^(unnamed: ?\d+|index|rowid)$|(^|[\W_])(id|uuid|guid|nr|nbr|ssn)$|^id[\W_]", re.IGNORECASE
)
_CAMEL_IDENTIFIER = re.compile(r"[a-z](Id|ID|Nr)$")
_DATE_NAME = re.compile(r"date|birth|dob|datum", re.IGNORECASE)
_WHOLE = r"^[+-]?(\d+|\d{1,3}(,\d{3})+)$"
_ZERO_LED = r"^[+-]?0\d+(\.\d*)?$"
_DECIMAL_COMMA = r"^[+-]?\d+,\d+$"
_EIGHT_DIGITS = r"^(1[89]|2[01])\d{6}$"
_BOOLEANS = (BOOLEAN_VALUES, ("False", "True"), ("FALSE", "TRUE"))
_DATE_LAYOUTS = ("%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_TIME_SHAPES = {"%H:%M": r"\d\d:\d\d", "%H:%M:%S": r"\d\d:\d\d:\d\d", "%H:%M:%S.%f": r"\d\d:\d\d:\d\d\.\d{6}"}


@dataclass(frozen=True, slots=True)
class _Guess:
    """A type, the fields that go with it, and notes for the owner."""

    type: ColumnType
    fields: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Words:
    """The distinct non-empty cells of a text column, most frequent first, then by text.

    Attributes:
        text: large_string (k,).
        counts: int64 (k,).
        gaps: whether other cells are empty.
    """

    text: pa.Array
    counts: IntArray
    gaps: bool

    @classmethod
    def of(cls, text: pa.Array) -> "_Words":
        empty = values.is_empty(text)
        coded = pc.dictionary_encode(text.filter(pa.array(~empty)))
        counts = np.bincount(np.asarray(coded.indices, dtype=np.int64), minlength=len(coded.dictionary))
        words = coded.dictionary.to_pylist()
        order = sorted(range(len(words)), key=lambda at: (-counts[at], words[at]))
        return cls(coded.dictionary.take(pa.array(order, pa.int64())), counts[order], bool(empty.any()))

    @property
    def rows(self) -> int:
        """Number of non-empty cells."""
        return int(self.counts.sum())

    def without(self, words: tuple[str, ...]) -> "_Words":
        known = pc.is_in(pc.utf8_trim_whitespace(self.text), value_set=pa.array(words, pa.large_string()))
        kept = ~np.asarray(known, dtype=np.bool_)
        return _Words(self.text.filter(pa.array(kept)), self.counts[kept], self.gaps or not kept.all())

    def all_match(self, pattern: str) -> bool:
        return bool(pc.all(pc.match_substring_regex(pc.utf8_trim_whitespace(self.text), pattern)).as_py())

    def any_match(self, pattern: str) -> bool:
        return bool(pc.any(pc.match_substring_regex(pc.utf8_trim_whitespace(self.text), pattern)).as_py())


def infer_column(
    name: str, cells: pa.ChunkedArray, *, missing_codes: tuple[Code, ...] = ()
) -> tuple[Column, list[str]]:
    """Infer one column from *public* cells; returns it with notes for its owner.

    Raises:
        SchemaError: the storage type cannot be held in a table; names column and type.
    """
    plain = values.storage(cells)
    if not (values.is_text(plain.type) or values.has_text(plain.type)):
        raise SchemaError(f"column {name!r}: storage type {plain.type} cannot be part of a table; leave the column out")
    if missing_codes:
        coded = Column(name, "text", missing_codes=missing_codes)
        numbers = values.parse_numbers(plain)
        meant = values.parse_numbers(pa.array([str(code) for code in missing_codes], pa.large_string()))
        empty = values.is_missing_code(coded, plain, numbers) | np.isin(numbers, meant[~np.isnan(meant)])
        plain = pc.if_else(pa.array(empty), pa.scalar(None, plain.type), plain)
    guess, gaps = _guess(name, plain)
    notes = list(guess.notes)
    if guess.type != "id" and is_identifier_name(name):
        notes.append(
            "the name is identifier-like; only public values are used (declare type 'id' to make values up); if "
            "several rows can share a value, protect them together with --unit"
        )
    column = Column(name, guess.type, missing=gaps and guess.type != "id", missing_codes=missing_codes, **guess.fields)
    return column, notes


def is_identifier_name(name: str) -> bool:
    """Tell whether a header looks like that of an identifier."""
    return bool(_IDENTIFIER.search(name.strip()) or _CAMEL_IDENTIFIER.search(name.strip()))


def _guess(name: str, plain: pa.Array) -> tuple[_Guess, bool]:
    """Return the guess and whether cells are missing."""
    if values.is_text(plain.type):
        return _of_text(name, _Words.of(plain))
    empty = values.is_empty(plain)
    guess = _always_empty() if empty.all() else _of_storage(name, plain, gaps=bool(empty.any()))
    return guess, bool(empty.any()) or not guess.fields.get("values", True)


def _of_storage(name: str, plain: pa.Array, *, gaps: bool) -> _Guess:
    kind = plain.type
    if pa.types.is_boolean(kind):
        return _Guess("boolean")
    if values.is_number(kind):
        numbers = values.parse_numbers(plain)
        numbers = numbers[np.isfinite(numbers)]
        if not numbers.size:
            return _always_empty()
        return _whole(name, numbers) if pa.types.is_integer(kind) else _fractional(numbers, gaps=gaps)
    seconds = values.parse_datetimes(plain)
    seconds = np.clip(seconds[~np.isnan(seconds)], temporal.FIRST_S, temporal.LAST_S)
    if pa.types.is_date(kind):
        return _days(seconds, None)
    return _moments(seconds, None, [] if kind.tz is None else ["times are kept in UTC, without a zone"])


def _of_text(name: str, words: _Words) -> tuple[_Guess, bool]:
    if not len(words.text):
        return _always_empty(), True
    seen = set(words.text.to_pylist())
    for spellings in _BOOLEANS:
        if seen <= set(spellings):
            return _Guess("boolean", {"values": spellings}), words.gaps
    present = words.without(MISSING_WORDS)
    if len(present.text) and not present.any_match(_ZERO_LED):
        guess = _numbers_in_text(name, present) or _times_in_text(present)
        if guess is not None:
            return guess, present.gaps
    return _category(name, words), words.gaps


def _numbers_in_text(name: str, words: _Words) -> _Guess | None:
    if words.all_match(_EIGHT_DIGITS) and (len(words.text) >= 3 or _DATE_NAME.search(name)):
        seconds = temporal.parse_text(words.text, "%Y%m%d")
        if not np.isnan(seconds).any():
            return _days(seconds, "%Y%m%d")
    numbers = values.parse_numbers(words.text)
    finite = np.isfinite(numbers)
    if np.isnan(numbers).any() or not finite.any():
        return None
    rows = np.repeat(numbers[finite], words.counts[finite])
    return _whole(name, rows) if words.all_match(_WHOLE) else _fractional(rows, gaps=words.gaps)


def _times_in_text(words: _Words) -> _Guess | None:
    seconds = temporal.parse_text(words.text, None)
    if not np.isnan(seconds).any():
        if not words.any_match(":"):
            return _days(seconds, None)
        rows = np.repeat(seconds, words.counts)
        for mark in "T ":
            for layout, shape in _TIME_SHAPES.items():
                if words.all_match(rf"^\d{{4}}-\d\d-\d\d{mark}{shape}$"):
                    return _moments(rows, f"%Y-%m-%d{mark}{layout}", [])
        zoned = words.any_match(r"(Z|[+-]\d\d:?\d\d)$")
        return _moments(rows, None, ["times are kept in UTC, without a zone"] if zoned else [])
    fitting = [
        (layout, seconds)
        for layout in _DATE_LAYOUTS
        if not np.isnan(seconds := temporal.parse_text(words.text, layout)).any()
    ]
    return _days(fitting[0][1], fitting[0][0]) if len(fitting) == 1 else None


def _category(name: str, words: _Words) -> _Guess:
    rows, distinct = words.rows, len(words.text)
    if words.all_match(_DECIMAL_COMMA):
        raise SchemaError(
            f"column {name!r}: every value looks like a number with a decimal comma (12,5); write numbers with a "
            "decimal point in both tables, or declare the column's type in a schema"
        )
    if _nearly_distinct(rows, distinct):
        shown = ""
        lengths = {len(word) for word in words.text.to_pylist()}
        if words.all_match(r"^\d+$") and len(lengths) == 1:
            shown = f"%0{lengths.pop()}d"
        return _made_up(shown or "id-%06d", "nearly every row has its own value")
    return _Guess("category", {"values": tuple(words.text.to_pylist())})


def _whole(name: str, numbers: FloatArray) -> _Guess:
    distinct = len(np.unique(numbers))
    large = np.abs(numbers).max() > EXACT_INTEGER
    if (large or is_identifier_name(name)) and _nearly_distinct(len(numbers), distinct):
        why = (
            "whole numbers beyond 2^53"
            if large
            else "nearly every row has its own value and the name is identifier-like"
        )
        return _made_up("%d", why)
    if large:
        return _made_up("%d", "whole numbers beyond 2^53 cannot be modelled exactly")
    return _Guess("integer", {"min": numbers.min(), "max": numbers.max()})


def _fractional(numbers: FloatArray, *, gaps: bool) -> _Guess:
    bounds = {"min": float(numbers.min()), "max": float(numbers.max())}
    whole = bool(np.all(numbers == np.rint(numbers))) and np.abs(numbers).max() <= EXACT_INTEGER
    if whole and gaps:
        return _Guess("integer", bounds)
    step = None
    if len(numbers) >= ENOUGH_VALUES and np.abs(numbers).max() < 1e9:
        grids = (places for places in range(7) if np.all(np.rint(numbers * 10**places) / 10**places == numbers))
        places = next(grids, None)
        step = None if places is None else 1 / 10**places
    return _Guess("number", {**bounds, "multiple_of": step})


def _days(seconds: FloatArray, layout: str | None) -> _Guess:
    days = np.floor(seconds / temporal.DAY_S)
    return _Guess("date", {"min": float(days.min()), "max": float(days.max()), "format": layout})


def _moments(seconds: FloatArray, layout: str | None, notes: list[str]) -> _Guess:
    step = None
    finest = 0.0 if layout is None else temporal.layout_step_s(layout)
    if len(seconds) >= ENOUGH_VALUES:
        units = (temporal.DAY_S, 3600.0, 60.0, 1.0)
        step = next((unit for unit in units if unit > finest and np.all(seconds % unit == 0.0)), None)
    fields = {"min": float(seconds.min()), "max": float(seconds.max()), "format": layout, "multiple_of": step}
    return _Guess("datetime", fields, notes)


def _always_empty() -> _Guess:
    return _Guess("category", {"values": ()}, ["has no public value; it stays empty in the output"])


def _made_up(template: str, why: str) -> _Guess:
    note = f"{why}; its values in the output are made up, never learned (type 'id')"
    return _Guess("id", {"format": template}, [note])


def _nearly_distinct(rows: int, distinct: int) -> bool:
    return (rows > 20 and distinct >= 0.9 * rows) or (distinct > 1000 and rows < 2 * distinct)
