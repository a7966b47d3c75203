"""An evaluation of texts, arranged for reading."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evomix.reports.charts import ColumnChart, step_histogram
from evomix.reports.gauges import Gauge, gauge, three
from evomix.reports.geometry_view import point_gauges
from evomix.reports.model_view import model_gauges, model_headings, model_rows
from evomix.reports.wording import count, percent, shorten

_LONGEST: Final = 300
"""Characters of a text that are shown."""
_SETS: Final = {"real": "real", "synthetic": "synthetic", "ceiling": "other real (ceiling)", "floor": "public (floor)"}
_PLACES: Final = ("synthetic", "ceiling", "floor")
_SCORES: Final = {"words": "words in common", "vectors": "likeness of vectors"}

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class TextEvaluationView:
    """What the page shows of an evaluation of texts; tables are rows of text.

    Attributes:
        facts: figures at the top.
        verdict: one sentence; None without public texts.
        cost: what reading real texts means.
        warnings: sentences.
        models_title: heading of the scores; None without a target.
        models_note: what learned and was tested.
        models: scores on lines.
        model_headings: of the next.
        model_rows: all scores.
        geometry: figures of points on lines.
        geometry_note: what they mean.
        length_charts: one for words, one for characters.
        length_rows: figures of lengths.
        likeness: figures of words of which more is better, on lines.
        diversity: figures of words that should be as in real texts.
        words_note: over how much words were counted.
        copies: shares of repeated texts.
        closest: (similarity, synthetic text, public text).
        canaries: facts of planted canaries.
        exposures: their ranks by score.
    """

    facts: tuple[tuple[str, str], ...]
    verdict: str | None
    cost: str
    warnings: tuple[str, ...]
    models_title: str | None
    models_note: str
    models: tuple[Gauge, ...]
    model_headings: tuple[str, ...]
    model_rows: Rows
    geometry: tuple[Gauge, ...]
    geometry_note: str
    length_charts: tuple[ColumnChart, ...]
    length_rows: Rows
    likeness: tuple[Gauge, ...]
    diversity: Rows
    words_note: str
    copies: Rows
    closest: Rows
    canaries: tuple[tuple[str, str], ...]
    exposures: Rows


def text_evaluation_view(evaluation: Mapping[str, Any]) -> TextEvaluationView:
    """Arrange the result of ``TextEvaluation.to_dict``."""
    models, words, canaries = evaluation["downstream"], evaluation["vocabulary"], evaluation["canaries"]
    return TextEvaluationView(
        facts=(
            ("Real texts", count(evaluation["real_rows"])),
            ("Synthetic texts", count(evaluation["synthetic_rows"])),
            ("Public texts", count(evaluation["public_rows"]) if evaluation["public_rows"] else "none"),
            ("Encoder", shorten(evaluation["encoder"], 40)),
        ),
        verdict=evaluation["verdict"],
        cost=evaluation["cost"],
        warnings=tuple(evaluation["warnings"]),
        models_title=None if models is None else f"Predicting {shorten(models['target'], 40)}",
        models_note="" if models is None else _models_note(models, evaluation["learner"]),
        models=() if models is None else model_gauges(models),
        model_headings=() if models is None else model_headings(models),
        model_rows=() if models is None else model_rows(models),
        geometry=point_gauges(evaluation["geometry"]),
        geometry_note=_geometry_note(evaluation["geometry"], evaluation["encoder"]),
        length_charts=tuple(_length_chart(found) for found in evaluation["lengths"]),
        length_rows=tuple(row for found in evaluation["lengths"] for row in _length_rows(found)),
        likeness=() if words is None else _likeness(words["figures"]),
        diversity=() if words is None else _diversity(words["figures"]),
        words_note="" if words is None else _words_note(words),
        copies=tuple(row for found in evaluation["copies"] for row in _copies(found)),
        closest=tuple(row for found in evaluation["copies"] for row in _closest(found)),
        canaries=() if canaries is None else _canaries(canaries),
        exposures=() if canaries is None else tuple(_exposure(found) for found in canaries["exposures"]),
    )


def _models_note(models: Mapping[str, Any], learner: str) -> str:
    rare = ", ".join(f"“{shorten(name, 24)}”" for name in models["rare"])
    return (
        f"{learner}, trained on each set of texts and tested on {count(models['test_rows'])} real texts they have not "
        f"seen; mean ± standard deviation over {models['seeds']} random splits. Synthetic texts made from all of these "
        "real texts have seen the test texts and may pass the ceiling; held-out texts avoid that."
        + (f" Rare classes: {rare}." if rare else "")
    )


def _geometry_note(found: Mapping[str, Any] | None, encoder: str) -> str:
    if not found:
        return ""
    return (
        f"Texts as vectors of {shorten(encoder, 40)}: {count(found['synthetic_points'])} against "
        f"{count(found['real_points'])} real ones. Precision: the share of synthetic texts that lie no farther from "
        "some real text than its 3rd real neighbour does. Recall: the share of real texts that have a synthetic text "
        "as near. W1: how far vectors must be moved on average to turn one set into the other. The Fréchet distance "
        "compares means and covariances. The overlap compares histograms over clusters; 1 means equal ones."
    )


def _length_chart(found: Mapping[str, Any]) -> ColumnChart:
    made, real = (np.asarray(found["sets"][name]["shares"], np.float64) for name in ("synthetic", "real"))
    edges = found["edges"]
    return ColumnChart(
        name=f"Length in {found['unit']}",
        full_name=f"Length in {found['unit']}",
        type=f"mean {found['sets']['synthetic']['mean']:,.1f}, real {found['sets']['real']['mean']:,.1f}",
        overlap=percent(1.0 - 0.5 * float(np.abs(made - real).sum()), 0),
        missing=None,
        reference_missing=None,
        histogram=step_histogram(made, real, (count(edges[0]), f"{count(edges[-1])} or more")),
        bars=(),
        note=None,
        scale=1.0,
    )


def _length_rows(found: Mapping[str, Any]) -> Rows:
    return tuple(
        (
            f"{found['unit']}, {words}",
            f"{lengths['mean']:,.1f}",
            *(f"{value:,.0f}" for value in lengths["percentiles"]),
            "–" if lengths["distance"] is None else f"{lengths['distance']:,.2f}",
        )
        for name, words in _SETS.items()
        if (lengths := found["sets"].get(name)) is not None
    )


def _likeness(figures: Sequence[Mapping[str, Any]]) -> tuple[Gauge, ...]:
    return tuple(
        gauge(_capital(figure["name"]), (figure["synthetic"], figure["ceiling"], figure["floor"]), ends=(0.0, 1.0))
        for figure in figures
        if figure["better"] == "higher" and figure["synthetic"] is not None
    )


def _diversity(figures: Sequence[Mapping[str, Any]]) -> Rows:
    return tuple(
        (_capital(figure["name"]), *(three(figure[place]) for place in _PLACES))
        for figure in figures
        if figure["better"] != "higher"
    )


def _words_note(words: Mapping[str, Any]) -> str:
    return (
        f"{count(words['texts'])} texts of each set; the real ones have {count(words['real_words'])} different words. "
        f"Diversity is counted over {count(words['counted_words'])} running words of each set, and should be as in "
        "real texts: more is as wrong as less."
    )


def _copies(found: Mapping[str, Any]) -> Rows:
    where = f"a {found['corpus']} text"
    return (
        (f"Equal to {where} but for case and punctuation", _share(found["exact"]), _share(found["control_exact"])),
        (f"Nearly equal to {where} (similarity of at least 0.8)", _share(found["near"]), _share(found["control_near"])),
    )


def _share(found: Mapping[str, Any] | None) -> str:
    return "–" if found is None else f"{percent(found['share'])} ({percent(found['low'])} to {percent(found['high'])})"


def _closest(found: Mapping[str, Any]) -> Rows:
    return tuple(
        (f"{pair['similarity']:.2f}", shorten(pair["synthetic"], _LONGEST), shorten(pair["public"], _LONGEST))
        for pair in found["closest"]
    )


def _canaries(found: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return (
        ("Canaries planted", count(found["planted"])),
        ("References, planted nowhere", count(found["references"])),
        ("Planted ones found word for word", _share(found["literal"])),
        ("References found word for word", _share(found["reference_literal"])),
        ("Planted ones found nearly", _share(found["fuzzy"])),
        ("References found nearly", _share(found["reference_fuzzy"])),
    )


def _exposure(found: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        _capital(_SCORES[found["score"]]),
        f"{found['mean']:.2f}",
        f"{found['largest']:.2f}",
        f"{found['possible']:.2f}",
        three(found["auc"]),
        three(found["p_value"]),
    )


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
