"""An evaluation, arranged for reading: each figure on a line from floor to ceiling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evomix.reports.gauges import Gauge, gauge, three
from evomix.reports.geometry_view import point_gauges, points_note
from evomix.reports.model_view import model_gauges, model_headings, model_rows
from evomix.reports.wording import percent, shorten

_WAYS = {1: "single columns", 2: "pairs of columns", 3: "triples of columns"}
MOST_PAIRS = 25
MOST_COLUMNS = 60


@dataclass(frozen=True, slots=True)
class EvaluationView:
    """What the page shows of an evaluation; tables are rows of text."""

    facts: tuple[tuple[str, str], ...]
    verdict: str | None
    cost: str
    warnings: tuple[str, ...]
    floor_name: str
    likeness: tuple[Gauge, ...]
    geometry: tuple[Gauge, ...]
    geometry_note: str
    columns: tuple[Gauge, ...]
    pairs: tuple[tuple[str, ...], ...]
    more_pairs: int
    models_title: str | None
    models_note: str
    models: tuple[Gauge, ...]
    model_headings: tuple[str, ...]
    model_rows: tuple[tuple[str, ...], ...]
    copies: tuple[tuple[str, str, str], ...]
    copies_control: str


def evaluation_view(evaluation: Mapping[str, Any]) -> EvaluationView:
    """Arrange the result of ``Evaluation.to_dict``."""
    likeness, copies, models = evaluation["fidelity"], evaluation["copies"], evaluation["downstream"]
    pairs = _pairs(likeness["pairs"])
    return EvaluationView(
        facts=(
            ("Real rows", f"{evaluation['real_rows']:,}"),
            ("Synthetic rows", f"{evaluation['synthetic_rows']:,}"),
            ("Public rows", f"{evaluation['public_rows']:,}" if evaluation["public_rows"] else "none"),
            ("Columns", f"{evaluation['columns']:,}"),
        ),
        verdict=evaluation["verdict"],
        cost=evaluation["cost"],
        warnings=tuple(evaluation["warnings"]),
        floor_name=likeness["floor_name"],
        likeness=_likeness(likeness),
        geometry=point_gauges(evaluation.get("geometry")),
        geometry_note=points_note(evaluation.get("geometry")),
        columns=_columns(likeness["columns"]),
        pairs=pairs[:MOST_PAIRS],
        more_pairs=max(len(pairs) - MOST_PAIRS, 0),
        models_title=None if models is None else f"Predicting {models['target']}",
        models_note="" if models is None else _models_note(models),
        models=() if models is None else model_gauges(models),
        model_headings=() if models is None else model_headings(models),
        model_rows=() if models is None else model_rows(models),
        copies=_copies(copies),
        copies_control=copies["control"],
    )


def _likeness(likeness: Mapping[str, Any]) -> tuple[Gauge, ...]:
    """Return distances from real rows, on lines from rows uniform over the schema (left) to equal (right)."""
    scores = [(f"Distance of {_WAYS[score['way']]}", score["mean"], score) for score in likeness["marginals"]]
    if likeness["pairs"]:
        found = likeness["association"]
        scores.append(("Difference in association", found["difference"], found))
    return tuple(
        gauge(name, (value, score["ceiling"], score["floor"]), ends=(score["uniform"], 0.0))
        for name, value, score in scores
    )


def _columns(columns: Sequence[Mapping[str, Any]]) -> tuple[Gauge, ...]:
    worst_first = sorted(columns, key=lambda column: -float(column["tv"]))[:MOST_COLUMNS]
    return tuple(
        gauge(shorten(c["column"], 32), (c["tv"], c["ceiling"], c["floor"]), ends=(c["uniform"], 0.0))
        for c in worst_first
    )


def _pairs(pairs: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], ...]:
    """Return the related pairs, most strongly related first."""
    related = sorted(
        (pair for pair in pairs if pair["kept"] is not None),
        key=lambda pair: -float(pair["strength"]),
    )
    return tuple(
        (
            f"{shorten(pair['first'], 24)} with {shorten(pair['second'], 24)}",
            percent(max(pair["kept"], 0.0), 0),
            three(pair["tv"]),
            three(pair["ceiling"]),
            three(pair["independent"]),
            f"{pair['association_real']:.2f}",
            f"{pair['association_synthetic']:.2f}",
        )
        for pair in related
    )


def _models_note(models: Mapping[str, Any]) -> str:
    rare = ", ".join(f"“{shorten(name, 24)}”" for name in models["rare"])
    return (
        f"Gradient boosting, trained on each set of rows and tested on {models['test_rows']:,} real rows it has not "
        f"seen; mean ± standard deviation over {models['seeds']} random splits. A synthetic table made from all of "
        "these real rows has seen the test rows and may pass the ceiling; a held-out table avoids that."
        + (f" Rare classes: {rare}." if rare else "")
    )


def _copies(copies: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    def interval(share: Mapping[str, Any] | None) -> str:
        if share is None:
            return "cannot be told apart"
        return f"{percent(share['share'])} ({percent(share['low'])} to {percent(share['high'])})"

    rows = [
        ("Rows that equal a real row", interval(copies["copies"]), interval(copies["twins"])),
        ("Beyond chance", interval(copies["excess"]), "–"),
    ]
    controls = copies["control_distances"] or [None] * len(copies["percentiles"])
    rows += [
        (f"Distance to the closest real row, {p} % of rows are nearer than", three(made), three(held))
        for p, made, held in zip(copies["percentiles"], copies["distances"], controls, strict=True)
    ]
    return tuple(rows)
