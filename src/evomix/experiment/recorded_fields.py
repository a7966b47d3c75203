"""The fields of a run's ``privacy.json``, checked as they are read, and held against each other."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evomix.core.errors import InputFileError

_LARGEST: Final = 2**63
_COMMON: Final = ("mixing_weight", "floor", "stddev", "scale")
"""Figures of a release that the whole run states too, where all its releases share them."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one JSON object.

    Attributes:
        path: the file.
        content: the object.
        place: where in the file it stands, as a prefix of its fields' names.

    Each reader raises ``InputFileError`` for what it does not expect.
    """

    path: Path
    content: Mapping[str, Any]
    place: str = ""

    def number(self, name: str, *, positive: bool = False, most: float = math.inf, below: float = math.inf) -> float:
        """Return a finite number of at least 0 within the bounds."""
        value = self.content.get(name)
        bounds = "above 0" if positive else "of at least 0"
        bounds += f" and at most {most:g}" if most < math.inf else f" and below {below:g}" if below < math.inf else ""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.odd(name, f"a number {bounds}")
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
        if not (0.0 <= found < below and found <= most) or (positive and found == 0.0):
            raise self.odd(name, f"a finite number {bounds}")
        return found

    def whole(self, name: str, *, least: int = 0, most: int = _LARGEST) -> int:
        """Return a whole number in ``least..most``."""
        value = self.content.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            upper = f" and at most {most}" if most < _LARGEST else ""
            raise self.odd(name, f"a whole number of at least {least}{upper}")
        return value

    def text(self, name: str) -> str:
        """Return a text."""
        value = self.content.get(name)
        if not isinstance(value, str):
            raise self.odd(name, "a text")
        return value

    def truth(self, name: str) -> bool:
        """Return true or false."""
        value = self.content.get(name)
        if not isinstance(value, bool):
            raise self.odd(name, "true or false")
        return value

    def objects(self, name: str, *, most: int) -> "list[Fields]":
        """Return a list of 1 to ``most`` objects."""
        value = self.content.get(name)
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.odd(name, "a list of objects, one a round")
        if not 0 < len(value) <= most:
            raise InputFileError(f"{self.path}: expected 1 to {most} {self.place}{name}; found {len(value)}")
        return [Fields(self.path, each, f"{self.place}{name}[{index}].") for index, each in enumerate(value)]

    def numbered(self, name: str, each: str) -> "list[Fields]":
        """Return a list of single values, each as the field ``each`` of an object of its own."""
        value = self.content.get(name)
        if not isinstance(value, list):
            raise self.odd(name, "a list")
        return [Fields(self.path, {each: one}, f"{self.place}{name}[{index}]: ") for index, one in enumerate(value)]

    def odd(self, name: str, expected: str) -> InputFileError:
        """Return the error that a field is not what was expected."""
        return InputFileError(
            f"{self.path}: expected {self.place}{name} to be {expected}; found {_shown(self.content.get(name))}. "
            "The file is damaged, or not what a run wrote"
        )

    def contradictions(self, releases: "Sequence[Fields]", planned: int, *, filtered: bool) -> Iterator[str]:
        """Yield in words which figures of the whole run do not agree with its releases.

        Args:
            releases: their fields; none where the record has no list.
            planned: number of rounds.
            filtered: whether rounds that were lost may be missing from ``releases``.
        """
        if not releases:
            return
        if not filtered and len(releases) != planned:
            yield f"rounds is {planned}, but {len(releases)} releases are listed"
        for name in _COMMON:
            whole = self.content.get(name)
            if whole is not None:
                yield from (
                    f"{name} is {_shown(whole)}, but {each.place}{name} is {_shown(each.content.get(name))}"
                    for each in releases
                    if each.content.get(name) != whole
                )
        if filtered:
            placed = [(each, each.whole("round", most=planned - 1)) for each in releases]
        else:
            placed = [(each, index) for index, each in enumerate(releases) if index < planned]
        yield from self._named(placed, planned)
        yield from self._drawn(placed, planned, filtered=filtered)

    def _named(self, placed: "Sequence[tuple[Fields, int]]", planned: int) -> Iterator[str]:
        """Yield the mechanisms that differ from those that the whole run names."""
        names = self.text("mechanism").split(",")
        if len(names) not in (1, planned):
            yield f"mechanism names {len(names)} rounds, but rounds is {planned}"
            return
        for each, index in placed:
            if each.content.get("mechanism") != names[index % len(names)]:
                yield f"mechanism is {','.join(names)}, but {each.place}mechanism is {each.text('mechanism')}"

    def _drawn(self, placed: "Sequence[tuple[Fields, int]]", planned: int, *, filtered: bool) -> Iterator[str]:
        """Yield the numbers of draws that differ from those that the whole run states."""
        released = sum(each.whole("draws") for each, _ in placed if each.content.get("draws") is not None)
        listed: list[int] = []
        if self.content.get("draws_per_round") is not None:
            listed = [one.whole("draws") for one in self.numbered("draws_per_round", "draws")]
        total = sum(listed) if listed or filtered else released
        if self.content.get("draws") is not None and self.whole("draws") != total:
            yield f"draws is {self.whole('draws')}, but the rounds have {total} together"
        if listed and len(listed) != planned:
            yield f"draws_per_round has {len(listed)} rounds, but rounds is {planned}"
            return
        for each, index in placed:
            if listed and (each.content.get("draws") or 0) != listed[index]:
                yield f"draws_per_round has {listed[index]} in round {index}, but {each.place}draws is another number"


def _shown(value: Any) -> str:
    """Return a value of the file, cut; even of one that Python refuses to write out."""
    try:
        return f"{value!r:.60}"
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} too large to show"
