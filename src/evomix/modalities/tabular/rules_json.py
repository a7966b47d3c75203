"""Rules as entries of a schema file, and back."""

from collections.abc import Mapping
from typing import Any

from evomix.core.errors import SchemaError
from evomix.modalities.tabular.determined_rule import Determined
from evomix.modalities.tabular.ordered_rule import Ordered
from evomix.modalities.tabular.rules import Rule
from evomix.modalities.tabular.sum_rule import Sum

_SHAPES = {
    "ordered": '{"ordered": ["first", "next", …]}',
    "sum": '{"sum": "total", "of": ["part", "part", …]}',
    "determined": '{"determined": "column", "by": "column", "map": {"value": "value", …}}',
}
_KEYS = {"ordered": {"ordered"}, "sum": {"sum", "of"}, "determined": {"determined", "by", "map"}}


def rules_from_entries(content: object) -> tuple[Rule, ...]:
    """Build rules from the list ``rules`` of a schema file.

    Raises:
        SchemaError: naming the rule's place and key.
    """
    if not isinstance(content, list):
        raise SchemaError(f"schema, key 'rules': expected a list, found {content!r}")
    return tuple(_rule(entry, f"schema, rules[{number}]") for number, entry in enumerate(content))


def rule_to_entry(rule: Rule) -> dict[str, Any]:
    """Return the entry of a schema file that builds ``rule`` again."""
    if isinstance(rule, Ordered):
        return {"ordered": list(rule.columns)}
    if isinstance(rule, Sum):
        return {"sum": rule.total, "of": list(rule.parts)}
    return {"determined": rule.column, "by": rule.by, "map": dict(rule.pairs)}


def _rule(entry: object, place: str) -> Rule:
    kinds = [kind for kind in _KEYS if isinstance(entry, Mapping) and kind in entry]
    if not isinstance(entry, Mapping) or len(kinds) != 1:
        raise SchemaError(f"{place}: expected one of {', '.join(_SHAPES.values())}; found {entry!r}")
    kind = kinds[0]
    odd = sorted(map(str, set(entry) ^ _KEYS[kind]))
    if odd:
        fault = "missing" if odd[0] in _KEYS[kind] else "not a key of this rule"
        raise SchemaError(f"{place}, key {odd[0]!r}: {fault}; expected {_SHAPES[kind]}")
    if kind == "ordered":
        return Ordered(_names(entry, "ordered", place))
    if kind == "sum":
        return Sum(_name(entry, "sum", place), _names(entry, "of", place))
    return Determined(_name(entry, "determined", place), _name(entry, "by", place), _pairs(entry["map"], place))


def _name(entry: Mapping[str, Any], key: str, place: str) -> str:
    if not isinstance(entry[key], str):
        raise SchemaError(f"{place}, key {key!r}: expected the name of a column, found {entry[key]!r}")
    return str(entry[key])


def _names(entry: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
    names = entry[key]
    if not isinstance(names, list) or len(names) < 2 or not all(isinstance(name, str) for name in names):
        raise SchemaError(f"{place}, key {key!r}: expected a list of at least two names of columns, found {names!r}")
    return tuple(names)


def _pairs(content: object, place: str) -> tuple[tuple[str, Any], ...]:
    if not isinstance(content, Mapping) or not content:
        raise SchemaError(f"{place}, key 'map': expected an object of values, found {content!r}")
    for given, then in content.items():
        if not isinstance(given, str) or not isinstance(then, str | int | float):
            raise SchemaError(f"{place}, key 'map': expected texts, numbers, true or false, found {given!r}: {then!r}")
    return tuple(content.items())
