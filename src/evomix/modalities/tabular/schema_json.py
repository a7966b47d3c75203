"""A column as an entry of a schema file, and back."""

import math
from collections.abc import Mapping
from typing import Any, cast, get_args

from evomix.core.errors import SchemaError
from evomix.modalities.tabular import temporal
from evomix.modalities.tabular.column import BOOLEAN_VALUES, EXACT_INTEGER, Column, ColumnType

_KEYS: dict[str, tuple[str, ...]] = {
    "integer": ("min", "max", "missing", "missing_codes", "multiple_of"),
    "number": ("min", "max", "missing", "missing_codes", "multiple_of"),
    "category": ("values", "other", "missing", "missing_codes", "shares"),
    "boolean": ("values", "missing", "missing_codes", "shares"),
    "date": ("min", "max", "missing", "missing_codes", "format"),
    "datetime": ("min", "max", "missing", "missing_codes", "format", "multiple_of"),
    "text": ("missing",),
    "image": (),
    "id": ("format",),
}
_SHAPES: dict[str, tuple[tuple[type, ...], str]] = {
    "missing": ((bool,), "true or false"),
    "other": ((bool, str), "true, false or a word"),
    "format": ((str,), "a text"),
    "values": ((list,), "a list"),
    "missing_codes": ((list,), "a list"),
    "multiple_of": ((int, float), "a positive number"),
    "shares": ((list,), "a list of numbers"),
}


def column_from_entry(entry: object) -> Column:
    """Build a column from one entry of a schema file.

    Raises:
        SchemaError: naming column and key.
    """
    name, kind = _name_and_type(entry)
    given = _known_keys(name, kind, cast("Mapping[str, Any]", entry))
    for key in given:
        if key in _SHAPES and not _has_shape(given[key], _SHAPES[key][0]):
            raise _error(name, key, f"expected {_SHAPES[key][1]}, found {given[key]!r}")
    if given.get("missing_codes") and given.get("missing") is False:
        raise _error(name, "missing", "false contradicts 'missing_codes'")
    for key in ("min", "max"):
        if key in given:
            given[key] = _bound(name, kind, key, given[key], given.get("format"))
    if "values" in given:
        given |= _values(name, kind, given)
    elif kind == "category":
        raise _error(name, "values", "missing; a category column needs its list of values")
    if "shares" in given:
        given["shares"] = _shares(name, given["shares"])
    given["missing_codes"] = _codes(name, given.get("missing_codes", []))
    return Column(name, kind, **given)


def column_to_entry(column: Column) -> dict[str, Any]:
    """Return the entry of a schema file that builds ``column`` again."""
    entry: dict[str, Any] = {"name": column.name, "type": column.type}
    if column.ordered:
        entry |= {"min": _spell(column, column.min), "max": _spell(column, column.max)}
    if column.type == "category" or (column.type == "boolean" and column.values != BOOLEAN_VALUES):
        entry["values"] = [int(value) for value in column.values] if column.integer_values else list(column.values)
    for key in ("other", "missing", "format"):
        if getattr(column, key) not in (False, None):
            entry[key] = getattr(column, key)
    if column.multiple_of is not None:
        step = column.multiple_of
        entry["multiple_of"] = int(step) if step.is_integer() else step
    if column.shares:
        entry["shares"] = list(column.shares)
    if column.missing_codes:
        entry["missing_codes"] = list(column.missing_codes)
    return entry


def _error(name: str, key: str, rule: str) -> SchemaError:
    return SchemaError(f"schema column {name!r}, key {key!r}: {rule}")


def _has_shape(value: object, types: tuple[type, ...]) -> bool:
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))


def _name_and_type(entry: object) -> tuple[str, ColumnType]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        raise SchemaError('schema: each column is an object {"name": "…", "type": "…", …} with a text as name')
    kind = entry.get("type")
    if kind not in get_args(ColumnType):
        types = ", ".join(get_args(ColumnType))
        raise _error(entry["name"], "type", f"expected one of {types}, found {kind!r}")
    return entry["name"], cast("ColumnType", kind)


def _known_keys(name: str, kind: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    takes = ", ".join(_KEYS[kind]) or "no more keys"
    for key in entry:
        if key not in ("name", "type", *_KEYS[kind]):
            raise _error(name, key, f"not a key of type {kind!r}, which takes {takes}")
    return {key: entry[key] for key in _KEYS[kind] if key in entry}


def _bound(name: str, kind: str, key: str, value: object, layout: str | None) -> float:
    if kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _error(name, key, f"expected a number, found {value!r}")
        if isinstance(value, int) and abs(value) > EXACT_INTEGER:
            raise _error(name, key, "integers beyond 2^53 are not exact; declare type 'id' or 'category'")
        return float(value)
    seconds = temporal.parse_one(str(value), layout) if isinstance(value, str | int) else math.nan
    if math.isnan(seconds) and isinstance(value, str):
        seconds = temporal.parse_one(value, None)
    if math.isnan(seconds):
        spelled = "as YYYY-MM-DD" if layout is None else f"in the layout {layout!r}"
        raise _error(name, key, f"expected a {kind} {spelled}, found {value!r}")
    return math.floor(seconds / temporal.DAY_S) if kind == "date" else seconds


def _values(name: str, kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    values = given["values"]
    if not all(isinstance(value, str) or type(value) is int for value in values):
        raise _error(name, "values", "expected a list of texts or of whole numbers")
    texts = tuple(map(str, values))
    other = given.get("other", False)
    whole = kind == "category" and bool(values) and all(type(value) is int for value in values)
    return {"values": texts, "integer_values": whole and (other is False or other in texts)}


def _shares(name: str, shares: list[object]) -> tuple[float, ...]:
    if not shares or not all(isinstance(share, int | float) and not isinstance(share, bool) for share in shares):
        raise _error(name, "shares", "expected a list of numbers, one for each value")
    return tuple(float(cast("float", share)) for share in shares)


def _codes(name: str, codes: list[object]) -> tuple[str | int | float, ...]:
    kept: list[str | int | float] = []
    for code in codes:
        if isinstance(code, bool) or not isinstance(code, str | int | float):
            raise _error(name, "missing_codes", f"expected texts or numbers, found {code!r}")
        kept.append(code)
    return tuple(kept)


def _spell(column: Column, bound: float | None) -> float | int | str:
    assert bound is not None
    if column.type == "date":
        return temporal.format_one(bound * temporal.DAY_S, column.format or "%Y-%m-%d")
    if column.type == "datetime":
        fraction = ".%f" if bound % 1.0 else ""
        return temporal.format_one(bound, column.format or f"%Y-%m-%dT%H:%M:%S{fraction}")
    return int(bound) if bound.is_integer() and abs(bound) <= EXACT_INTEGER else bound
