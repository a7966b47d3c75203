"""The geometry part of the evaluation's page and of what the command prints."""

import numpy as np
import pandas as pd
import pytest

from evomix.cli.quality import answer_quality
from evomix.experiment.evaluating import evaluate
from evomix.reports.evaluation_html import render_evaluation
from evomix.reports.evaluation_view import evaluation_view


def frame(n, seed, low=18):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(low, 90, n), "pay": rng.normal(size=n).round(3)})


@pytest.fixture(scope="module")
def figures():
    return evaluate(frame(120, 1), frame(60, 2), public=frame(60, 3, low=70))


def test_the_page_shows_value_ceiling_and_floor(figures):
    page = render_evaluation(figures)
    assert "<h3>Geometry</h3>" in page
    for row in figures["geometry"]["rows"]:
        for place in ("synthetic", "ceiling", "floor"):
            assert f"{row[place]['value']:.3f}" in page
    assert "60 against 60 real ones" in page


def test_better_is_to_the_right(figures):
    for gauge in evaluation_view(figures).geometry:
        assert gauge.floor_position < gauge.position <= 100.0
        assert gauge.floor_position < gauge.ceiling_position
    transport = evaluation_view(figures).geometry[2]
    assert transport.floor_position == 0.0, "the worst distance is the left end"


def test_no_part_without_geometry(figures):
    for absent in ({**figures, "geometry": None}, {key: figures[key] for key in figures if key != "geometry"}):
        assert "Geometry" not in render_evaluation(absent)


def test_the_command_prints_it(figures, capsys):
    answer_quality(figures)
    lines = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()]
    start = lines.index("rows as points (k = 3; 60 against 60 real ones)")
    assert lines[start + 2 : start + 5] == ["precision (1 is best)", "recall (1 is best)", "W1 (0 is best)"]


def test_a_sampled_distance_has_its_error(figures, capsys):
    rows = figures["geometry"]["rows"]
    rows = [*rows[:2], {**rows[2], "synthetic": {**rows[2]["synthetic"], "error": 0.0123}}]
    sampled = {**figures, "geometry": {**figures["geometry"], "rows": rows}}
    answer_quality(sampled)
    assert "± 0.012" in capsys.readouterr().out
    assert "standard error of 0.012" in render_evaluation(sampled)
    assert "standard error" not in evaluation_view(figures).geometry_note
