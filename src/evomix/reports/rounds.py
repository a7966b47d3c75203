"""Records of rounds and charges as a table for readers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evomix.reports.wording import bound, shorten, small_number

_HEADINGS = {
    "distinct_drawn": "different candidates drawn",
    "stddev": "noise (standard deviation)",
    "above_threshold": "candidates above the threshold",
    "fallback": "ranked instead of selected by geometry, because",
    "epsilon": "ε",
    "delta": "δ",
    "counted": "what was counted",
    "run_id": "run",
}
_LEFT_OUT = ("event",)
_BOUNDS = ("epsilon", "delta")
"""What a round or a run cost at most; never written smaller than it is."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Headings and cells, all text."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def round_grid(events: Sequence[Mapping[str, Any]], begun: Sequence[int]) -> Grid:
    """Return the rounds of a run for readers, who count from 1.

    A round that was begun and has no event was interrupted before it was saved: it is shown as spent. Where no event
    at all was kept (a run in memory), nothing is known of any round.
    """
    if not events:
        return Grid((), ())
    known = {event.get("round") for event in events}
    lost = [{"round": index, "outcome": "interrupted: spent, nothing used"} for index in begun if index not in known]
    records = sorted([*events, *lost], key=_place)
    step = "stage" if any("column_sets" in event for event in events) else "round"
    return make_grid([_numbered(record, step) if "round" in record else record for record in records])


def _numbered(record: Mapping[str, Any], step: str) -> dict[str, Any]:
    return {step if key == "round" else key: _place(record) + 1 if key == "round" else record[key] for key in record}


def _place(record: Mapping[str, Any]) -> int:
    index = record.get("round")
    return index if isinstance(index, int) else 0


def make_grid(records: Sequence[Mapping[str, Any]]) -> Grid:
    """Return the records as rows; columns in order of first appearance, absent entries as a dash."""
    keys = list(dict.fromkeys(key for record in records for key in record if key not in _LEFT_OUT))
    headings = tuple(_HEADINGS.get(key, str(key).replace("_", " ")) for key in keys)
    return Grid(headings, tuple(tuple(_cell(key, record.get(key)) for key in keys) for record in records))


def _cell(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return shorten(bound(value) if key in _BOUNDS else small_number(value), 60)
