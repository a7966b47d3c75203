"""The page of an evaluation of texts, and what the command prints of one."""

import numpy as np
import pytest

from evomix.cli.quality import answer_quality
from evomix.cli.text_quality import answer_text_quality
from evomix.evaluation.text.canaries import CanarySet, measure_canaries
from evomix.evaluation.text.evaluate import evaluate_texts, linear_target
from evomix.evaluation.text.text_set import TextSet
from evomix.reports.text_evaluation_html import render_text_evaluation
from evomix.reports.text_evaluation_view import text_evaluation_view

CANARIES = [f"secret {k} of the vault {k * 7919}" for k in range(12)]


def texts(n, seed, *, shift=0.0, length=9, prefix=""):
    rng = np.random.default_rng(seed)
    marks = rng.random(n)
    said = [prefix + " ".join(f"w{k}" for k in rng.integers(0, 60, rng.integers(4, length))) for _ in range(n)]
    vectors = np.column_stack([marks + shift, rng.normal(size=n)])
    return TextSet(said, vectors, np.where(marks > 0.5, "<b>high</b>", "low").astype(object))


@pytest.fixture(scope="module")
def figures():
    real, made, public = texts(120, 1), texts(60, 2), texts(60, 3, shift=3.0, length=30)
    canaries = measure_canaries(CanarySet(CANARIES[:5]), CanarySet(CANARIES[5:]), [*made.texts, CANARIES[0]])
    return evaluate_texts(
        real,
        made,
        encoder="<i>own</i>",
        public=public,
        target=linear_target("<u>mark</u>", "classification", seeds=2),
        canaries=canaries,
    ).to_dict()


def test_the_page_has_every_figure_with_ceiling_and_floor(figures):
    page = render_text_evaluation(figures)
    for row in figures["geometry"]["rows"]:
        for place in ("synthetic", "ceiling", "floor"):
            assert f"{row[place]['value']:.3f}" in page, row["name"]
    for figure in figures["vocabulary"]["figures"]:
        if figure["synthetic"] is not None:
            assert f"{figure['synthetic']:.3f}" in page, figure["name"]
    for arm in figures["downstream"]["arms"]:
        assert f"{arm['scores']['auc']['mean']:.3f}" in page
    for lengths in figures["lengths"]:
        assert f"{lengths['sets']['floor']['distance']:,.2f}" in page
    assert figures["verdict"] in page
    assert "ε = ∞" in page
    assert "CANARIES: 1 of 5 planted canaries" in page
    assert page.count("<polyline") == 2


def test_names_of_columns_classes_and_encoders_are_harmless(figures):
    page = render_text_evaluation(figures)
    assert not any(tag in page for tag in ("<u>", "<i>own", "<b>high"))
    assert "&lt;u&gt;mark&lt;/u&gt;" in page
    assert not any(canary in page for canary in CANARIES)


def test_better_is_to_the_right(figures):
    view = text_evaluation_view(figures)
    longest = [gauge for gauge in view.geometry if gauge.name == "Transport distance W1"]
    assert [gauge.floor_position for gauge in longest] == [0.0]
    for gauge in view.geometry:
        assert gauge.ceiling_position >= gauge.floor_position, gauge.name
    assert view.length_charts[0].overlap.endswith(" %")


def test_a_bare_evaluation_has_a_page_too():
    one = texts(1, 1)
    page = render_text_evaluation(evaluate_texts(one, one, encoder="own").to_dict())
    for heading in ("Lengths", "Words", "Geometry", "Predicting", "canaries"):
        assert f"<h3>{heading}" not in page
    assert "too few real texts" in page
    assert "Synthetic texts closest to public ones" not in page


def test_public_texts_that_are_close_are_shown_cut_and_in_their_direction(figures):
    long = "שלום עולם " * 100 + "<script>alert(1)</script>"
    pair = {"similarity": 0.91, "synthetic": long, "public": "line\nbreak \u202e turned"}
    copies = [figures["copies"][0], {**figures["copies"][1], "closest": [pair]}]
    page = render_text_evaluation({**figures, "copies": copies})
    assert '<td dir="auto">שלום עולם' in page
    assert "…</td>" in page
    assert "<script" not in page
    assert "line break" in page
    assert "\u202e" not in page


def test_the_command_prints_it(figures, capsys):
    answer_quality(figures)
    answer_text_quality(figures)
    lines = capsys.readouterr().out.splitlines()
    started = [line.split("  ")[0] for line in lines]
    for part in ("overlap, MAUVE-like (1 is best)", "mean words", "W1, characters", "texts that repeat another"):
        assert part in started
    assert "96 real texts" in started
    assert lines[-1] == "found word for word: 20.0% of the planted, 0.0% of the references"


def test_the_command_prints_a_bare_one(capsys):
    one = texts(1, 1)
    answer_text_quality(evaluate_texts(one, one, encoder="own").to_dict())
    assert capsys.readouterr().out.splitlines()[0].startswith("repeated texts")
