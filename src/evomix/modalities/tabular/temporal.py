"""Dates and times as numbers, for every year from 1 to 9999.

Seconds since 1970-01-01T00:00:00 in the proleptic Gregorian calendar, float64; a zone offset in the text
moves the time to UTC. Nothing here goes through a clock type that overflows.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evomix.core.arrays import FloatArray, IntArray

DAY_S = 86400.0
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  (times here are naive or already UTC)
FIRST_S = (datetime(1, 1, 1) - EPOCH).total_seconds()  # noqa: DTZ001
LAST_S = (datetime(9999, 12, 31) - EPOCH).total_seconds() + DAY_S - 1.0  # noqa: DTZ001

_ISO = (
    r"^(?P<Y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})"
    r"(?:[T ](?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,](?P<f>\d{1,9}))?)?"
    r"\s*(?P<z>Z|[+-]\d{2}:?\d{2})?)?$"
)
_DIRECTIVES = {
    "%Y": r"(?P<Y>\d{4})",
    "%m": r"(?P<m>\d{1,2})",
    "%d": r"(?P<d>\d{1,2})",
    "%H": r"(?P<H>\d{1,2})",
    "%M": r"(?P<M>\d{1,2})",
    "%S": r"(?P<S>\d{1,2})",
    "%f": r"(?P<f>\d{1,6})",
    "%%": "%",
}


@lru_cache(maxsize=64)
def _pattern(layout: str | None) -> str | None:
    """Return a regular expression for a strftime layout of plain numbers, None for any other layout."""
    if layout is None:
        return _ISO
    parts = []
    for token in re.findall(r"%.|[^%]+|%$", layout, flags=re.DOTALL):
        if token.startswith("%"):
            if token not in _DIRECTIVES or (token != "%%" and _DIRECTIVES[token] in parts):  # noqa: S105
                return None
            parts.append(_DIRECTIVES[token])
        else:
            parts.append(re.escape(token))
    return "^" + "".join(parts) + "$"


def parse_text(text: pa.Array, layout: str | None) -> FloatArray:
    """Return the times spelled in ``text`` in seconds since 1970, float64 (n,); NaN where there is none.

    Args:
        text: string array; null and surrounding spaces are understood.
        layout: strftime layout, or None for ISO 8601 (a date, or a date and a time with ``T`` or a space
            between).
    """
    trimmed = pc.utf8_trim_whitespace(text)
    pattern = _pattern(layout)
    if pattern is None:
        return _over_distinct(trimmed, lambda word: _strptime(word, str(layout)))
    return _from_fields(pc.extract_regex(trimmed, pattern), pattern)


def _from_fields(fields: pa.Array, pattern: str) -> FloatArray:
    size = len(fields)
    matched = np.asarray(pc.is_valid(fields))

    def number(letter: str, otherwise: int) -> IntArray:
        if f"(?P<{letter}>" not in pattern:
            return np.full(size, otherwise, dtype=np.int64)
        digits = fields.field(letter)
        digits = pc.if_else(pc.equal(pc.utf8_length(digits), 0), str(otherwise), digits)
        column = pc.fill_null(pc.cast(pc.if_else(pa.array(matched), digits, None), pa.int64()), otherwise)
        return np.asarray(column, dtype=np.int64)

    days, valid = _civil_days(number("Y", 1900), number("m", 1), number("d", 1))
    hour, minute, second = number("H", 0), number("M", 0), number("S", 0)
    valid &= matched & (hour < 24) & (minute < 60) & (second < 60)
    seconds = days * DAY_S + hour * 3600.0 + minute * 60.0 + second
    if "(?P<f>" in pattern:
        digits = pc.utf8_rpad(pc.fill_null(fields.field("f"), ""), 9, padding="0")
        seconds += np.asarray(pc.cast(digits, pa.int64()), dtype=np.int64) / 1e9
    if "(?P<z>" in pattern:
        seconds -= _over_distinct(fields.field("z"), _offset_s, empty=0.0)
    return np.where(valid, seconds, np.nan)


def _civil_days(year: IntArray, month: IntArray, day: IntArray) -> tuple[IntArray, np.ndarray]:
    """Return days since 1970-01-01 and which (year, month, day) exist."""
    months = (year - 1970) * 12 + np.clip(month, 1, 12) - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    length = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) - first
    valid = (year >= 1) & (year <= 9999) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= length)
    return first + day - 1, valid


def _offset_s(zone: str) -> float:
    if zone in {"", "Z"}:
        return 0.0
    digits = zone[1:].replace(":", "")
    offset = int(digits[:2]) * 3600.0 + int(digits[2:]) * 60.0
    return -offset if zone[0] == "-" else offset


def _strptime(word: str, layout: str) -> float:
    try:
        moment = datetime.strptime(word, layout)  # noqa: DTZ007  (aware when the layout has %z)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return np.nan
    return (moment - EPOCH).total_seconds()


def _over_distinct(text: pa.Array, parse: Callable[[str], float], *, empty: float = np.nan) -> FloatArray:
    """Apply a Python function once per distinct text; null gives ``empty``."""
    coded = pc.dictionary_encode(text)
    table = np.array([parse(word) for word in coded.dictionary.to_pylist()] + [empty], dtype=np.float64)
    positions = pc.fill_null(coded.indices, len(table) - 1)
    return table[np.asarray(positions, dtype=np.int64)]


def parse_one(word: str, layout: str | None) -> float:
    """Return one spelled time in seconds since 1970, NaN when it is none."""
    return float(parse_text(pa.array([word], pa.large_string()), layout)[0])


def format_texts(seconds: FloatArray, layout: str) -> pa.Array:
    """Return times in seconds since 1970 (NaN gives null) spelled in a strftime layout, large_string (n,)."""
    distinct, inverse = np.unique(seconds, return_inverse=True)
    words = [None if np.isnan(one) else format_one(float(one), layout) for one in distinct]
    return pa.array(words, pa.large_string()).take(pa.array(inverse.reshape(-1), pa.int64()))


def format_one(seconds: float, layout: str) -> str:
    """Return one time spelled in a strftime layout; the year always has four digits."""
    whole = np.floor(seconds)
    moment = EPOCH + timedelta(seconds=float(whole), microseconds=round((seconds - whole) * 1e6))
    # The C library does not pad years below 1000.
    padded = re.sub("%%|%Y", lambda m: f"{moment.year:04d}" if m.group() == "%Y" else m.group(), layout)
    return moment.strftime(padded)


def layout_step_s(layout: str) -> float:
    """Return the finest unit of time that a layout spells, in seconds."""
    for directives, step in ((("%f",), 1e-6), (("%S", "%T", "%s", "%c", "%X"), 1.0), (("%M", "%R"), 60.0)):
        if any(directive in layout for directive in directives):
            return step
    return 3600.0 if "%H" in layout or "%I" in layout else DAY_S


def keeps_dates(layout: str) -> bool:
    """Tell whether a layout spells year, month and day so that reading gives the same day again."""
    days = [datetime(1987, 3, 4), datetime(2021, 12, 31), datetime(2004, 2, 29)]  # noqa: DTZ001
    try:
        for day in days:
            there = (day - EPOCH).total_seconds()
            if parse_one(format_one(there, layout), layout) != there:
                return False
    except ValueError:
        return False
    return True
