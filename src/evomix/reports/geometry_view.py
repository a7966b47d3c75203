"""Rows as points, arranged for reading."""

from collections.abc import Mapping
from typing import Any, Final

from evomix.reports.gauges import Gauge, gauge, three

_NAMES: Final = {
    "precision": "Precision",
    "recall": "Recall",
    "wasserstein": "Transport distance W1",
    "frechet": "Fréchet distance",
    "mauve": "Overlap (MAUVE-like)",
}


def point_gauges(found: Mapping[str, Any] | None) -> tuple[Gauge, ...]:
    """Return a gauge for each figure of :meth:`Comparison.to_dict`; none without a comparison."""
    gauges = []
    for row in found["rows"] if found else ():
        values = [None if row[place] is None else row[place]["value"] for place in ("synthetic", "ceiling", "floor")]
        worst = 0.0 if row["better"] == "higher" else max(value for value in values if value is not None)
        best = 1.0 if row["better"] == "higher" else 0.0
        gauges.append(gauge(_NAMES[row["name"]], (values[0], values[1], values[2]), ends=(worst, best)))
    return tuple(gauges)


def points_note(found: Mapping[str, Any] | None) -> str:
    """Return what the figures of rows as points mean; empty without a comparison."""
    if not found:
        return ""
    (error,) = [row["synthetic"]["error"] for row in found["rows"] if row["name"] == "wasserstein"]
    sampled = f" It is a mean over samples, with a standard error of {three(error)}." if error else ""
    return (
        f"Rows as points, in the distance that votes go by: {found['synthetic_points']:,} against "
        f"{found['real_points']:,} real ones. Precision: the share of synthetic rows that lie no farther from some "
        "real row than its 3rd real neighbour does. Recall: the share of real rows that have a synthetic row as near. "
        f"W1: how far rows must be moved on average to turn one table into the other.{sampled}"
    )
