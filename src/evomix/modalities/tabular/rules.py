"""Rules between columns: declared in the schema, kept by every row that is written.

A rule speaks of the rows in which all its columns have a value; where one is missing, it says nothing. Records are
repaired after the fact, by public rules alone: post-processing, which costs nothing. Private rows that break a rule are
rows like any other.

A column is set by one rule at most, so that no repair can undo another; rules that read a column run after the one that
sets it.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SchemaError
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.determined_rule import Determined, DeterminedRepair
from evomix.modalities.tabular.ordered_rule import Ordered, OrderedRepair
from evomix.modalities.tabular.sum_rule import Sum, SumRepair

Rule: TypeAlias = Ordered | Sum | Determined
_Repair: TypeAlias = OrderedRepair | SumRepair | DeterminedRepair

_FEWEST: Final = {Ordered: 2, Sum: 3, Determined: 2}


class Rules:
    """The rules of one schema, checked against its columns and each other.

    Args:
        columns: all columns of the schema, in order.
        rules: what is declared.

    Raises:
        SchemaError: a rule names a column that is not there, twice or that holds no values of a population; does not
            fit its columns; can be kept by no row; sets a column that another sets; or rules follow from each other in
            a circle. The message names the rule's place.
    """

    def __init__(self, columns: Sequence[Column], rules: Sequence[Rule]) -> None:
        modelled = [column for column in columns if column.modelled]
        places = [f"schema, rules[{number}]" for number in range(len(rules))]
        bound: list[tuple[IntArray, _Repair]] = []
        for rule, place in zip(rules, places, strict=True):
            own = [_column(columns, name, place) for name in rule.columns]
            _check_number(rule, place)
            bound.append((np.array([modelled.index(column) for column in own]), rule.bind(own, place)))
        _check_setters(rules)
        self._steps = tuple(bound[number] for number in _sequence(rules))

    def repair(self, population: FloatArray) -> FloatArray:
        """Return the population with every rule kept, float64 (n, modelled columns); a new array.

        Rows that keep all rules stay as they are, so it is idempotent. Which cells of the others change is fixed by
        the row and the schema alone. Post-processing; costs nothing.

        Args:
            population: float64 (n, modelled columns), every cell inside the schema (``conform``); NaN is missing.
        """
        kept: FloatArray = np.array(population, dtype=np.float64)
        for positions, repair in self._steps:
            present = np.flatnonzero(~np.isnan(kept[:, positions]).any(axis=1))
            if present.size:
                cells = np.ix_(present, positions)
                kept[cells] = repair(kept[cells])
        return kept


def _column(columns: Sequence[Column], name: str, place: str) -> Column:
    found = next((column for column in columns if column.name == name), None)
    if found is None:
        raise SchemaError(f"{place}: no column {name!r}; the schema has {[column.name for column in columns]}")
    if not (found.modelled and (found.coded or found.ordered)):
        raise SchemaError(f"{place}: column {name!r} of type {found.type!r} cannot be part of a rule")
    return found


def _check_number(rule: Rule, place: str) -> None:
    if len(rule.columns) < _FEWEST[type(rule)]:
        raise SchemaError(f"{place}: expected at least {_FEWEST[type(rule)]} columns, found {list(rule.columns)}")
    if len(set(rule.columns)) < len(rule.columns):
        raise SchemaError(f"{place}: expected each column once, found {list(rule.columns)}")


def _check_setters(rules: Sequence[Rule]) -> None:
    setter: dict[str, int] = {}
    for number, rule in enumerate(rules):
        for name in rule.sets:
            if name in setter:
                raise SchemaError(
                    f"schema, rules[{number}]: column {name!r} is set by rules[{setter[name]}] already; "
                    "a column may be set by one rule only"
                )
            setter[name] = number


def _sequence(rules: Sequence[Rule]) -> list[int]:
    """Return the order in which rules run: none before another that sets what it reads."""
    waiting, order = list(range(len(rules))), list[int]()
    while waiting:
        unset = {name: number for number in waiting for name in rules[number].sets}
        ready = [
            number for number in waiting if all(unset.get(name, number) == number for name in rules[number].columns)
        ]
        if not ready:
            raise SchemaError(f"schema: rules {waiting} follow from each other in a circle")
        order += ready
        waiting = [number for number in waiting if number not in ready]
    return order
