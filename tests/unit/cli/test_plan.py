import json
import re
from decimal import Decimal

import numpy as np
import pytest

from evomix.cli.plan import OBJECTIVES
from evomix.experiment import noise_choice
from evomix.experiment.trade_off_plot import MOST_CURVES

BASIC = ("plan", "--n", "2000", "--epsilon", "1")


@pytest.fixture
def histograms(tmp_path):
    paths = []
    for index, row in enumerate(np.random.default_rng(0).dirichlet(np.full(40, 0.5), size=3)):
        paths.append(tmp_path / f"{index}.json")
        paths[-1].write_text(json.dumps(row.tolist()))
    return paths


def _each(histograms):
    return [word for path in histograms for word in ("--public-histogram", path)]


def test_several_histograms_give_the_proximity_and_a_recommendation(evomix, histograms):
    answer = evomix(*BASIC, *_each(histograms), "--json")
    rows = [json.loads(path.read_text()) for path in histograms]
    distances = [np.abs(np.subtract(rows[i], rows[j])).sum() / 2 for i, j in ((0, 1), (0, 2), (1, 2))]
    assert answer.json["proximity"] == pytest.approx(np.mean(distances))
    assert set(answer.json["comparison"]) == {"linmix", "gaussian", "pubmix"}
    assert answer.json["recommended"] in answer.json["reason"]
    point = next(one for one in answer.json["trade_off"] if one["draws"] == answer.json["total_draws"])
    assert set(point) >= {"candidates", "mixing_weight", "floor", "worst_case_tv", "effective_draws", "estimate_tv"}


def test_the_text_fits_on_a_screen_and_recommends(evomix, histograms):
    out = evomix(*BASIC, *_each(histograms)).out
    assert len(out.splitlines()) <= 24
    assert "recommended mechanism: " in out
    assert "\nwhy: " in out
    assert "trade" not in out


def test_rounds_that_differ_are_planned(evomix):
    answer = evomix(*BASIC, "--mechanism", "linmix,gaussian", "--candidates", "50,200", "--json")
    assert [one["mechanism"] for one in answer.json["per_round"]] == ["linmix", "gaussian"]
    assert [one["candidates"] for one in answer.json["per_round"]] == [50, 200]
    assert answer.json["accountant"] == "pld"
    assert evomix(*BASIC, "--candidates", "50,200", "--accounting", "draws", "--json").json["accountant"] == "draws"


def test_candidates_beyond_the_budget_are_told(evomix):
    out = evomix(*BASIC, "--candidates", "20000").out
    assert "candidates in a round: at most 20000 (this budget tells about " in out
    assert "tells about" not in evomix(*BASIC, "--candidates", "30").out


def test_a_plot_is_drawn_of_the_curve(evomix, tmp_path):
    target = tmp_path / "curve.svg"
    answer = evomix(*BASIC, "--plot", target)
    assert answer.out.endswith(f"plot: {target}\n")
    drawn = target.read_text()
    assert drawn.lstrip().startswith("<svg")
    assert "n = 2,000" in drawn
    assert "draws over all rounds" in drawn
    assert "20,000 candidates" in drawn or "10,000 candidates" in drawn
    assert drawn.count('class="evx-ring') == 1
    assert ">the plan<" in drawn


def test_the_curve_of_the_plan_is_among_those_that_are_drawn(evomix, tmp_path):
    evomix(*BASIC, "--candidates", "30", "--plot", tmp_path / "curve.svg")
    drawn = (tmp_path / "curve.svg").read_text()
    assert ">30 candidates<" in drawn
    assert drawn.count('class="evx-ring') == 1
    assert len(re.findall(r">[0-9,]+ candidates<", drawn)) == MOST_CURVES


def test_delta_is_written_in_few_digits_and_never_too_small(evomix):
    told = evomix("plan", "--n", "32561", "--epsilon", "1")
    exact = evomix("plan", "--n", "32561", "--epsilon", "1", "--json").json["delta"]
    (written,) = re.findall(r"δ = ([0-9.e-]+) ", told.out)
    assert len(written) <= 9
    assert Decimal(repr(exact)) <= Decimal(written) <= Decimal(repr(exact)) * Decimal("1.001")


def test_rounds_that_do_not_draw_are_left_out_of_the_draws(evomix):
    out = evomix(*BASIC, "--mechanism", "linmix,linmix,gaussian", "--draws", "200").out
    assert "draws: 2 × 100\n" in out


def test_histograms_of_one_file_and_of_several_are_the_same(evomix, histograms, tmp_path):
    rows = [json.loads(path.read_text()) for path in histograms]
    (tmp_path / "all.json").write_text(json.dumps(rows))
    together = evomix(*BASIC, "--public-histogram", tmp_path / "all.json", "--json").json
    assert together == evomix(*BASIC, *_each(histograms), "--json").json
    assert together["mechanism"] == "linmix"
    assert together["proximity_assumed"] is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--mechanism", "gaussian", "--plot", "c.svg"), "draws nothing"),
        (("--plot", "c.png"), "ends in .svg"),
        (("--plot", "missing/c.svg"), "does not exist"),
        (("--objective", "estimate"), "objective='estimate' has no effect without public_histogram"),
        (("--objective", "votes"), "objective must be one of draws, estimate"),
        (("--proximity", "0.2"), "proximity=0.2 has no effect without public votes"),
        (("--mechanism", "pubmix", "--proximity", "0.1"), "proximity=0.1 has no effect without public votes"),
        (("--mechanism", "gaussian", "--draws", "9"), "draws=9 has no effect"),
        (("--mechanism", "gaussian", "--accounting", "draws"), "draws nothing"),
        (("--mechanism", "linmix,gaussian", "--rounds", "3"), "rounds=3"),
        (("--no-public", "--mechanism", "linmix,pubmix"), "--no-public contradicts"),
    ],
)
def test_contradictions_are_refused_and_leave_nothing(evomix, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    answer = evomix(*BASIC, *words)
    assert answer.code == 2
    assert said in answer.err
    assert answer.out == ""
    assert [path.name for path in tmp_path.iterdir() if path.suffix in (".svg", ".png")] == []


def test_histograms_of_different_lengths_are_refused(evomix, histograms, tmp_path):
    (tmp_path / "short.json").write_text("[0.5, 0.5]")
    answer = evomix(*BASIC, *_each([histograms[0], tmp_path / "short.json"]))
    assert answer.code == 2
    assert "found lengths 40, 2" in answer.err


def test_a_histogram_given_twice_is_refused(evomix, histograms, tmp_path):
    (tmp_path / "copy.json").write_text(histograms[0].read_text())
    for second in (histograms[0], tmp_path / "copy.json"):
        answer = evomix(*BASIC, *_each([histograms[0], second]))
        assert answer.code == 2
        assert "public histograms 1 and 2 are the same" in answer.err


@pytest.mark.parametrize("words", [("--candidates", "20,1000000000"), ("--rounds", "1000000"), ("--rows", "1" * 40)])
def test_what_would_take_all_memory_or_time_is_refused(evomix, words):
    answer = evomix(*BASIC, *words)
    assert answer.code == 2
    assert words[0].removeprefix("--") in answer.err


def test_the_plot_never_says_less_than_the_budget(evomix, tmp_path):
    target = tmp_path / "curve.svg"
    evomix("plan", "--n", "2000", "--epsilon", "1.0000001", "--delta", "1.00001e-6", "--plot", target)
    assert "ε = 1.001, δ = 1.001·10⁻⁶" in target.read_text()


def test_warnings_never_say_less_than_the_budget(evomix):
    answer = evomix("plan", "--n", "2000", "--epsilon", "20.0000001", "--delta", "0.1234567891")
    assert "epsilon=20.0000001 is large" in answer.err
    assert "delta=0.1234567891 is 1/n" in answer.err


def test_objectives_are_those_of_the_planner():
    assert OBJECTIVES == noise_choice.OBJECTIVES
