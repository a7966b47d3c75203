"""Cells to numbers, one column at a time, total on values.

Each parser takes one Arrow column of whatever storage and returns float64 (n,): the value in population units
or a code, ±inf where a number is infinite, NaN where there is no value of the wanted kind. The answer for a
cell depends on that cell (and the public schema) alone, and no parser raises because of a cell.
"""

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.core.errors import SchemaError
from evomix.modalities.tabular import temporal
from evomix.modalities.tabular.column import Column

THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$"
_PLAIN = r"^-?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,2})?$"
_ODD = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII)
_THOUSANDS = re.compile(THOUSANDS, re.ASCII)
_TRUTH = {
    **dict.fromkeys(("true", "t", "yes", "y", "1", "1.0"), 1.0),
    **dict.fromkeys(("false", "f", "no", "n", "0", "0.0"), 0.0),
}

Cells: TypeAlias = pa.Array | pa.ChunkedArray


def parse(column: Column, cells: Cells) -> FloatArray:
    """Return the cells of ``column`` as numbers of its type; missing codes and unusable cells are NaN.

    Not yet inside the bounds: see ``conform.snap``. An unknown category is the code of the column's category
    for other values if there is one, else NaN.
    """
    plain = storage(cells)
    if column.type in ("integer", "number"):
        parsed = parse_numbers(plain)
    elif column.type == "date":
        parsed = parse_dates(plain, layout=column.format)
    elif column.type == "datetime":
        parsed = parse_datetimes(plain, layout=column.format)
    elif column.type == "boolean":
        parsed = parse_booleans(plain, spellings=column.values)
    elif column.type == "category":
        parsed = parse_categories(plain, values=column.values, other=column.other)
    else:
        raise SchemaError(f"column {column.name!r}: type {column.type!r} has no place in a population")
    if column.missing_codes:
        parsed[is_missing_code(column, plain, parsed)] = np.nan
    return parsed


def storage(cells: Cells) -> pa.Array:
    """Return the column as one array of a plain type: chunks, dictionaries, invalid UTF-8 resolved."""
    if isinstance(cells, pa.ChunkedArray):
        kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
        if is_text(kind):
            kind = pa.large_string()  # one array may hold more than 2 GB of text
        if not cells.num_chunks:
            return pa.array([], kind)
        return pa.concat_arrays([storage(chunk) for chunk in cells.chunks])
    if pa.types.is_dictionary(cells.type):
        return storage(cells.dictionary).take(pc.cast(cells.indices, pa.int64()))
    if not is_text(cells.type):
        return cells
    try:
        cells.validate(full=True)
        return cells.cast(pa.large_string())
    except (pa.ArrowInvalid, UnicodeDecodeError):
        pass
    raw = cells.cast(pa.binary() if pa.types.is_string(cells.type) else pa.large_binary())
    words = [None if cell is None else cell.decode("utf-8", errors="replace") for cell in raw.to_pylist()]
    return pa.array(words, pa.large_string())


def parse_numbers(cells: Cells) -> FloatArray:
    """Return numbers, float64 (n,); ±inf for infinite or overflowing ones, NaN for what is no number.

    Understood in text: decimals and exponents, a leading ``+``, thousands marks in groups of three
    (``12,500``), ``inf``, ``-Infinity``, ``1e400``, spaces around.
    """
    plain = storage(cells)
    if is_text(plain.type):
        return _numbers_in_text(plain)
    if is_number(plain.type) or pa.types.is_boolean(plain.type):
        if pa.types.is_boolean(plain.type):
            plain = plain.cast(pa.uint8())
        return _floats(plain.cast(pa.float64(), safe=False))
    return np.full(len(plain), np.nan)


def _numbers_in_text(text: pa.Array) -> FloatArray:
    trimmed = pc.utf8_trim_whitespace(text)
    is_plain = pc.match_substring_regex(trimmed, _PLAIN)
    numbers = _floats(pc.cast(pc.if_else(is_plain, trimmed, None), pa.float64()))
    odd = np.flatnonzero(np.asarray(pc.fill_null(pc.invert(is_plain), False)))
    if odd.size:
        rest = pc.dictionary_encode(trimmed.take(pa.array(odd)))
        table = np.array([_odd_number(word) for word in rest.dictionary.to_pylist()], dtype=np.float64)
        numbers[odd] = table[np.asarray(rest.indices, dtype=np.int64)]
    return numbers


def _odd_number(word: str) -> float:
    if _THOUSANDS.fullmatch(word):
        return float(word.replace(",", ""))
    return float(word) if _ODD.fullmatch(word) else np.nan


def parse_dates(cells: Cells, *, layout: str | None = None) -> FloatArray:
    """Return days since 1970-01-01, whole, float64 (n,); a time of day is cut off.

    Text and whole numbers are read in ``layout`` (strftime), by default ISO 8601.
    """
    return np.floor(parse_datetimes(cells, layout=layout) / temporal.DAY_S)


def parse_datetimes(cells: Cells, *, layout: str | None = None) -> FloatArray:
    """Return seconds since 1970-01-01T00:00:00, float64 (n,); times with a zone in UTC."""
    plain = storage(cells)
    kind = plain.type
    if pa.types.is_date32(kind):
        return _floats(plain.cast(pa.int32()).cast(pa.float64())) * temporal.DAY_S
    if pa.types.is_date64(kind):
        return _floats(plain.cast(pa.int64()).cast(pa.float64(), safe=False)) / 1e3
    if pa.types.is_timestamp(kind):
        per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
        return _floats(plain.cast(pa.int64()).cast(pa.float64(), safe=False)) / per_second
    return temporal.parse_text(as_text(plain), layout)


def parse_booleans(cells: Cells, *, spellings: Sequence[str]) -> FloatArray:
    """Return 0.0 or 1.0, float64 (n,); NaN for anything else.

    Args:
        cells: booleans, the numbers 0 and 1, or text.
        spellings: the column's words for false and true; true/false, t/f, yes/no, y/n and 1/0 are understood
            too, in any case.
    """
    text = as_text(cells)
    words = {**_TRUTH, **{spelling.lower(): float(code) for code, spelling in enumerate(spellings)}}
    if len({spelling.lower() for spelling in spellings}) < len(spellings):  # told apart by case alone
        words = {spelling: float(code) for code, spelling in enumerate(spellings)}
    else:
        text = pc.utf8_lower(text)
    positions = _positions(text, list(words))
    return np.where(positions < 0, np.nan, np.array(list(words.values()))[positions])


def parse_categories(cells: Cells, *, values: Sequence[str], other: bool | str = False) -> FloatArray:
    """Return codes, positions in ``values``, float64 (n,); unknown values give the code of ``other`` or NaN.

    A cell matches a value exactly, or else without the spaces around it and in Unicode normal form C. An
    empty cell is NaN.
    """
    text = as_text(cells)
    codes = _positions(text, values)
    empty = _empty(text)
    rest = np.flatnonzero((codes < 0) & ~empty)
    if rest.size:
        normal: dict[str, int] = {}
        for code, value in enumerate(normal_form(pa.array(values, pa.large_string())).to_pylist()):
            normal.setdefault(value, code)
        matched = _positions(normal_form(text.take(pa.array(rest))), list(normal))
        codes[rest] = np.where(matched < 0, -1, np.array(list(normal.values()))[matched])
    unknown = float(values.index(other)) if isinstance(other, str) else np.nan
    return np.where(codes >= 0, codes, np.where(empty, np.nan, unknown))


def as_text(cells: Cells) -> pa.Array:
    """Return the cells as text, large_string (n,); whole floats are spelled as integers (1.0 as ``1``).

    Storage that has no text form (lists, structs, binary) gives nulls.
    """
    plain = storage(cells)
    if is_text(plain.type):
        return plain
    if pa.types.is_floating(plain.type):
        wide = plain.cast(pa.float64())
        numbers = _floats(wide)
        whole = np.isfinite(numbers) & (np.abs(numbers) <= 2.0**53) & (numbers == np.floor(numbers))
        integers = pa.array(np.where(whole, numbers, 0.0).astype(np.int64)).cast(pa.large_string())
        fractions = pc.if_else(pc.is_nan(wide), None, wide).cast(pa.large_string())
        return pc.if_else(pa.array(whole), integers, fractions)
    if has_text(plain.type):
        return plain.cast(pa.large_string())
    return pa.nulls(len(plain), pa.large_string())


def normal_form(text: pa.Array) -> pa.Array:
    """Return text without spaces around it, in Unicode normal form C."""
    return pc.utf8_normalize(pc.utf8_trim_whitespace(text), form="NFC")


def is_empty(cells: Cells) -> NDArray[np.bool_]:
    """Tell which cells hold nothing: null, a floating NaN, or text of spaces alone; bool (n,)."""
    plain = storage(cells)
    if is_text(plain.type):
        return _empty(plain)
    return np.array(pc.is_null(plain, nan_is_null=True), dtype=np.bool_)


def is_missing_code(column: Column, plain: pa.Array, parsed: FloatArray) -> NDArray[np.bool_]:
    """Tell which cells are one of the column's declared missing codes, by text or by value; bool (n,)."""
    codes = [format(code, ".15g") if isinstance(code, float) else str(code) for code in column.missing_codes]
    found = _positions(pc.utf8_trim_whitespace(as_text(plain)), list(dict.fromkeys(codes))) >= 0
    if column.ordered:
        spelled = pa.array(codes, pa.large_string())
        readers: dict[str, Callable[[], FloatArray]] = {
            "date": lambda: parse_dates(spelled, layout=column.format),
            "datetime": lambda: parse_datetimes(spelled, layout=column.format),
        }
        numbers = readers.get(column.type, lambda: parse_numbers(spelled))()
        found |= np.isin(parsed, numbers[~np.isnan(numbers)])
    return found


def _positions(text: pa.Array, words: Sequence[str]) -> NDArray[np.int64]:
    """Return the position of each cell in ``words``, -1 where it is none of them or null."""
    found = pc.index_in(text, value_set=pa.array(words, pa.large_string()))
    return np.array(pc.fill_null(found, -1), dtype=np.int64)


def _empty(text: pa.Array) -> NDArray[np.bool_]:
    return np.array(pc.fill_null(pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(text)), 0), True), dtype=np.bool_)


def _floats(numbers: pa.Array) -> FloatArray:
    """Return a float64 array that may be written to; null gives NaN."""
    return np.array(pc.fill_null(numbers, np.nan), dtype=np.float64)


def is_text(kind: pa.DataType) -> bool:
    """Tell whether a storage type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    """Tell whether a storage type is a number of any width."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def has_text(kind: pa.DataType) -> bool:
    """Tell whether a storage type other than text can be spelled as text, one word a cell."""
    return bool(
        is_number(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
    )
