"""An evaluation, arranged for reading: each figure on a line from floor to ceiling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evomix.reports.wording import percent, shorten, small_number

_METRICS = {
    "accuracy": "Accuracy",
    "auc": "AUC",
    "macro_f1": "Macro F1",
    "rare_recall": "Recall of rare classes",
    "rmse": "Root mean squared error",
    "r2": "R²",
}
_BEST = {"accuracy": 1.0, "auc": 1.0, "macro_f1": 1.0, "rare_recall": 1.0, "rmse": 0.0, "r2": 1.0}
_GEOMETRY = {"precision": "Precision", "recall": "Recall", "wasserstein": "Transport distance W1"}
_WAYS = {1: "single columns", 2: "pairs of columns", 3: "triples of columns"}
MOST_PAIRS = 25
MOST_COLUMNS = 60


_Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Gauge:
    """One figure between its floor and its ceiling; better is always to the right.

    Attributes:
        name: what is measured.
        value: the synthetic figure in words.
        ceiling: what real rows score.
        floor: what no private data scores.
        position: place of the value, 0 to 100; None where it is undefined.
        ceiling_position: place of the ceiling.
        floor_position: place of the floor.
    """

    name: str
    value: str
    ceiling: str
    floor: str
    position: float | None
    ceiling_position: float | None
    floor_position: float | None


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
        geometry=_geometry(evaluation.get("geometry")),
        geometry_note=_geometry_note(evaluation.get("geometry")),
        columns=_columns(likeness["columns"]),
        pairs=pairs[:MOST_PAIRS],
        more_pairs=max(len(pairs) - MOST_PAIRS, 0),
        models_title=None if models is None else f"Predicting {models['target']}",
        models_note="" if models is None else _models_note(models),
        models=() if models is None else _models(models),
        model_headings=() if models is None else _model_headings(models),
        model_rows=() if models is None else _model_rows(models),
        copies=_copies(copies),
        copies_control=copies["control"],
    )


def _gauge(name: str, figures: tuple[float | None, float | None, float | None], *, ends: _Ends) -> Gauge:
    """Place (value, ceiling, floor) on a line; ``ends`` are the worst and best values it must reach."""
    worst, best = ends
    sign = 1.0 if best else -1.0  # 0 is the best distance or error, 1 the best score
    known = [sign * item for item in (*figures, worst, best) if item is not None]
    low, high = min(known), max(known)

    def position(item: float | None) -> float | None:
        if item is None:
            return None
        return round(100.0 * (sign * item - low) / (high - low), 1) if high > low else 100.0

    value, ceiling, floor = figures
    return Gauge(
        name, _three(value), _three(ceiling), _three(floor), position(value), position(ceiling), position(floor)
    )


def _three(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if abs(value) < 1000 else small_number(value)


def _likeness(likeness: Mapping[str, Any]) -> tuple[Gauge, ...]:
    """Return distances from real rows, on lines from rows uniform over the schema (left) to equal (right)."""
    scores = [(f"Distance of {_WAYS[score['way']]}", score["mean"], score) for score in likeness["marginals"]]
    if likeness["pairs"]:
        found = likeness["association"]
        scores.append(("Difference in association", found["difference"], found))
    return tuple(
        _gauge(name, (value, score["ceiling"], score["floor"]), ends=(score["uniform"], 0.0))
        for name, value, score in scores
    )


def _geometry(found: Mapping[str, Any] | None) -> tuple[Gauge, ...]:
    gauges = []
    for row in found["rows"] if found else ():
        values = [None if row[place] is None else row[place]["value"] for place in ("synthetic", "ceiling", "floor")]
        worst = 0.0 if row["better"] == "higher" else max(value for value in values if value is not None)
        best = 1.0 if row["better"] == "higher" else 0.0
        gauges.append(_gauge(_GEOMETRY[row["name"]], (values[0], values[1], values[2]), ends=(worst, best)))
    return tuple(gauges)


def _geometry_note(found: Mapping[str, Any] | None) -> str:
    if not found:
        return ""
    (error,) = [row["synthetic"]["error"] for row in found["rows"] if row["name"] == "wasserstein"]
    sampled = f" It is a mean over samples, with a standard error of {_three(error)}." if error else ""
    return (
        f"Rows as points, in the distance that votes go by: {found['synthetic_points']:,} against "
        f"{found['real_points']:,} real ones. Precision: the share of synthetic rows that lie no farther from some "
        "real row than its 3rd real neighbour does. Recall: the share of real rows that have a synthetic row as near. "
        f"W1: how far rows must be moved on average to turn one table into the other.{sampled}"
    )


def _columns(columns: Sequence[Mapping[str, Any]]) -> tuple[Gauge, ...]:
    worst_first = sorted(columns, key=lambda column: -float(column["tv"]))[:MOST_COLUMNS]
    return tuple(
        _gauge(shorten(c["column"], 32), (c["tv"], c["ceiling"], c["floor"]), ends=(c["uniform"], 0.0))
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
            _three(pair["tv"]),
            _three(pair["ceiling"]),
            _three(pair["independent"]),
            f"{pair['association_real']:.2f}",
            f"{pair['association_synthetic']:.2f}",
        )
        for pair in related
    )


def _arm(models: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        for arm in models["arms"]:
            if arm["name"] == name:
                scores: Mapping[str, Any] = arm["scores"]
                return scores
    return {}


def _metrics(models: Mapping[str, Any]) -> list[str]:
    return [key for key in _METRICS if any(key in arm["scores"] for arm in models["arms"])]


def _models(models: Mapping[str, Any]) -> tuple[Gauge, ...]:
    arms = (
        _arm(models, "synthetic"),
        _arm(models, "real_same_rows", "real_all"),
        _arm(models, "public", "guess"),
    )
    gauges = []
    for key in _metrics(models):
        value, ceiling, floor = (arm.get(key, {}).get("mean") for arm in arms)
        best = _BEST[key]
        guess = _arm(models, "guess").get(key, {}).get("mean")
        gauges.append(_gauge(_METRICS[key], (value, ceiling, floor), ends=(best if guess is None else guess, best)))
    return tuple(gauges)


def _models_note(models: Mapping[str, Any]) -> str:
    rare = ", ".join(f"“{shorten(name, 24)}”" for name in models["rare"])
    return (
        f"Gradient boosting, trained on each set of rows and tested on {models['test_rows']:,} real rows it has not "
        f"seen; mean ± standard deviation over {models['seeds']} random splits. A synthetic table made from all of "
        "these real rows has seen the test rows and may pass the ceiling; a held-out table avoids that."
        + (f" Rare classes: {rare}." if rare else "")
    )


def _model_headings(models: Mapping[str, Any]) -> tuple[str, ...]:
    return ("Trained on", "Rows", *(_METRICS[key] for key in _metrics(models)))


def _model_rows(models: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    def cell(score: Mapping[str, Any]) -> str:
        spread = f" ± {_three(score['sd'])}" if score.get("sd") is not None else ""
        return _three(score.get("mean")) + spread

    return tuple(
        (arm["title"], f"{arm['rows']:,}", *(cell(arm["scores"].get(key, {})) for key in _metrics(models)))
        for arm in models["arms"]
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
        (f"Distance to the closest real row, {p} % of rows are nearer than", _three(made), _three(held))
        for p, made, held in zip(copies["percentiles"], copies["distances"], controls, strict=True)
    ]
    return tuple(rows)
