"""Rounds that differ, in the lines of a plan and of a finished run."""

import pytest
import typer

from evomix.cli.numbers import parse_counts
from evomix.cli.wording import plan_lines, round_lines
from evomix.experiment.planning import plan

LINMIX = {"mechanism": "linmix", "candidates": 20, "draws": 300, "mixing_weight": 0.25, "floor": 0.05}


def test_a_plan_tells_each_round():
    planned = plan(n=3000, epsilon=1.0, delta=1e-6, mechanism="linmix,gaussian,laplace", candidates=[20, 40, 60])
    lines = list(plan_lines(planned.to_dict()))
    rounds = [line for line in lines if line.startswith("round ")]
    assert [line.split(",")[0] for line in rounds] == ["round 1: linmix", "round 2: gaussian", "round 3: laplace"]
    assert "20 candidates, 6000 draws, share of noise in a draw: " in rounds[0]
    assert "40 candidates, noise on a vote: σ = " in rounds[1]
    assert "60 candidates, noise on a vote: Laplace of scale " in rounds[2]
    assert any("(pld)" in line for line in lines)


def test_a_plan_of_like_rounds_has_no_lines_more():
    lines = list(plan_lines(plan(n=3000, epsilon=1.0, mechanism="linmix", candidates=20, rounds=3).to_dict()))
    assert not any(line.startswith(("round ", "accounting")) for line in lines)


def test_a_finished_run_tells_what_it_released():
    lines = list(
        round_lines(
            [LINMIX, {"mechanism": "laplace", "candidates": 60, "scale": 4.0, "round": 3, "share": 0.25}], "renyi"
        )
    )
    assert lines[0] == "round 1: linmix, 20 candidates, 300 draws, share of noise in a draw: 25 %"
    assert lines[1] == "round 4: laplace, 60 candidates, noise on a vote: Laplace of scale 4 units"
    assert "chosen when it comes" in lines[2]
    assert list(round_lines([LINMIX, LINMIX], "draws")) == []


@pytest.mark.parametrize(("text", "counts"), [("500", 500), ("500,2000", (500, 2000)), ("1, 2,3", (1, 2, 3))])
def test_counts_are_one_number_or_one_a_round(text, counts):
    assert parse_counts(text) == counts


@pytest.mark.parametrize("text", ["", ",", "5,", "5,x", "1.5", "5;6", "1_0", "5,nan"])
def test_other_counts_are_refused(text):
    with pytest.raises(typer.BadParameter, match="whole number"):
        parse_counts(text)
