import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evomix.cli.diagnose import _measured_lines
from evomix.core.errors import EnvironmentFailure
from evomix.formats.table import write_table
from evomix.privacy.ledger import Ledger


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVOMIX_LEDGER", str(tmp_path / "ledger.sqlite"))
    for seed, name in enumerate(("one.csv", "two.csv", "private.csv")):
        rng = np.random.default_rng(seed)
        ages = rng.integers(0, 60 if name == "one.csv" else 90, 400)
        write_table(pa.table({"age": ages, "job": rng.choice(["a", "b"], 400).tolist()}), tmp_path / name)
    return tmp_path


@pytest.fixture
def asked(monkeypatch):
    """Record what the command passes on, and say nothing."""
    calls = {}

    def stub(module, name):
        def record(*arguments, **settings):
            calls[name] = (arguments, settings)
            raise KeyboardInterrupt

        made = ModuleType(module)
        setattr(made, name, record)
        monkeypatch.setitem(sys.modules, module, made)

    stub("evomix.experiment.diagnosing", "diagnose_public")
    stub("evomix.experiment.measuring", "measure_public")
    return calls


def test_the_free_diagnosis_says_how_near_and_which_mechanism(evomix, tables):
    answer = evomix("diagnose", "public", "one.csv", "two.csv", "--n", 5000, "--epsilon", 4, "--candidates", 50)
    assert answer.code == 0, answer.err
    assert "public rows: 400 + 400, on 50 candidates\n" in answer.out
    assert "mean distance between the public tables" in answer.out
    assert re.search(r"(pubmix is better|linmix is as good) at γ = 0\.\d+", answer.out)
    assert answer.out.splitlines()[-2].startswith("age ")  # the column that differs, first below the header
    assert not (tables / "ledger.sqlite").exists()


def test_json_is_one_object(evomix, tables):
    found = evomix("diagnose", "public", "one.csv", "two.csv", "--json").json
    assert found["public_rows"] == [400, 400]
    assert found["proximity"] >= found["corrected"]
    assert "measured" not in found


def test_the_public_shares_that_are_written_are_what_a_plan_takes(evomix, tables):
    given = ("--n", 5000, "--epsilon", 4)
    told = evomix("diagnose", "public", "one.csv", "two.csv", *given, "--histogram-out", "two.json", "--json").json
    rows = json.loads((tables / "two.json").read_text())
    assert [len(row) for row in rows] == [told["candidates"]] * 2
    planned = evomix("plan", *given, "--public-histogram", "two.json", "--json").json
    assert planned["proximity"] == pytest.approx(told["proximity"])
    assert planned["candidates"] == told["candidates"]
    assert (planned["mechanism"], planned["proximity_assumed"]) == ("linmix", False)
    # Here all possible records are candidates, for which a run takes one round; a plan cannot know that.
    alike = ("--rounds", told["rounds"], "--draws", told["draws"])
    compared = evomix("plan", *given, *alike, "--public-histogram", "two.json", "--json").json["comparison"]
    assert {name: one["estimate_tv"] for name, one in compared.items()} == pytest.approx(told["estimate_tv"])
    single = evomix("diagnose", "public", "one.csv", *given, "--histogram-out", "one.json")
    assert "public votes: one.json\n" in single.out
    assert sum(json.loads((tables / "one.json").read_text())) == pytest.approx(1.0)
    assumed = evomix("plan", *given, "--public-histogram", "one.json")
    assert "γ assumed: one histogram does not tell (--proximity): 0.5\n" in assumed.out
    assert "γ = 0.5 (assumed)" in assumed.out


def test_the_diagnosis_tells_the_worst_case_of_draws_and_the_forecast_of_the_estimate(evomix, tables):
    given = ("--n", 5000, "--epsilon", 4, "--candidates", 50)
    found = evomix("diagnose", "public", "one.csv", "two.csv", *given)
    lines = found.out.splitlines()
    assert any(line.startswith("worst case of raw draws: ") for line in lines)
    (told,) = [line for line in lines if line.startswith("estimate that a run goes on with: ")]
    assert "the denoised estimate of " in told


def test_a_number_of_candidates_that_was_assumed_is_told(evomix, tables):
    rows = np.random.default_rng(0).integers(0, 10**6, (3000, 2))
    write_table(pa.table({"a": rows[:, 0], "b": rows[:, 1]}), "wide.csv")
    assert "1000 were assumed" in evomix("diagnose", "public", "wide.csv").err
    assert "were assumed" not in evomix("diagnose", "public", "wide.csv", "--candidates", 1000).err


def test_one_table_is_warned_about(evomix, tables):
    answer = evomix("diagnose", "public", "one.csv")
    assert "between random parts of the public table" in answer.out
    assert "evomix: warning: one public table shows only" in answer.err


def test_a_measurement_is_told_with_its_charge_and_what_to_do_with_it(evomix, tables):
    answer = evomix(
        "diagnose",
        "public",
        "one.csv",
        "--private",
        "private.csv",
        "--epsilon-test",
        2,
        "--budget",
        "3:1e-6",
        "--epsilon",
        1,
        "--histogram-out",
        "shares.json",
    )
    assert answer.code == 0, answer.err
    assert "charged: ε = 2, δ = 0 (replace-one, unit: one row)" in answer.out
    (line,) = [line for line in answer.out.splitlines() if "--proximity" in line]
    passed_on = line.split("--proximity ")[1].split("`")[0]
    assert 0.1 < float(passed_on) <= 1.0
    assert re.search(r"from the public ones, on \d+ candidates: ", answer.out)
    assert line.endswith(" candidates")
    written = ("--public-histogram", "shares.json")
    plan = evomix("plan", "--n", 400, "--epsilon", 1, "--proximity", passed_on, *written, "--json")
    assert plan.code == 0, plan.err
    assert plan.json["mechanism"] == "pubmix"


def test_over_the_budget_it_is_refused_with_exit_code_three_and_nothing_is_told(evomix, tables):
    paid = ("diagnose", "public", "one.csv", "--private", "private.csv", "--epsilon-test", 2, "--candidates", 50)
    answer = evomix(*paid, "--budget", "1.5:1e-6")
    assert answer.code == 3
    assert answer.out == ""
    assert Ledger().entries() == ()


def test_all_is_passed_on(evomix, asked, tables):
    evomix(
        "diagnose", "public", "a", "b", "--n", 9, "--epsilon", 1, "--delta", "1e-6", "--seed", 0, "--proximity", "0.5"
    )
    arguments, settings = asked["diagnose_public"]
    assert arguments == ([Path("a"), Path("b")],)
    assert settings == {"n": 9, "epsilon": 1.0, "delta": 1e-6, "seed": 0, "proximity": 0.5}
    evomix(
        *("diagnose", "public", "a", "--private", "p", "--epsilon-test", "0.1", "--unit", "u", "--dataset", "d"),
        *("--budget", "1:1e-6", "--ledger", "l", "--encoding", "latin-1", "--schema", "s", "--candidates", 7),
    )
    arguments, settings = asked["measure_public"]
    assert arguments == (Path("p"), [Path("a")])
    assert settings == {
        "epsilon_test": 0.1,
        "unit": "u",
        "dataset": "d",
        "budget": "1:1e-6",
        "ledger": Path("l"),
        "encoding": "latin-1",
        "schema": Path("s"),
        "candidates": 7,
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--private", "p.csv"), "go together"),
        (("--epsilon-test", "1"), "go together"),
        (("--dataset", "d"), "--dataset needs --private"),
        (("--budget", "1:1e-6"), "--budget needs --private"),
        (("--ledger", "x"), "--ledger needs --private"),
        (("--private", "p.csv", "--epsilon-test", "1", "--n", "5"), "--n cannot be given with --private"),
        (("--private", "p.csv", "--epsilon-test", "1", "--proximity", "0.5"), "--proximity cannot"),
        (("--private", "p.csv", "--epsilon-test", "0"), "epsilon='0'"),
        (("--n", "5"), "n and epsilon"),
        (("--private", "private.csv", "--epsilon-test", "1"), "a distance grows with their number"),
        (("--histogram-out", "shares.txt"), "ends in .json"),
    ],
)
def test_options_that_contradict_or_do_nothing_are_refused(evomix, tables, words, said):
    answer = evomix("diagnose", "public", "one.csv", *words)
    assert answer.code == 2
    assert said in answer.err
    assert Ledger().entries() == ()


@pytest.mark.parametrize(("charged", "said"), [(False, "nothing was charged"), (True, "ε = 2, δ = 0 stays charged")])
def test_a_stop_says_what_it_cost(evomix, tables, monkeypatch, charged, said):
    real = Ledger.open_run

    def stopped(self, *arguments, **settings):
        if charged:
            real(self, *arguments, **settings)
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "open_run", stopped)
    answer = evomix(
        "diagnose", "public", "one.csv", "--private", "private.csv", "--epsilon-test", 2, "--candidates", 50
    )
    assert answer.code == 130
    assert said in answer.err


@pytest.mark.parametrize("error", [MemoryError("123.45"), OSError(28, "123.45"), EnvironmentFailure("disk")])
@pytest.mark.parametrize(("charged", "said"), [(False, None), (True, "; ε = 2, δ = 0 stays charged")])
def test_a_failure_says_what_it_cost(evomix, tables, monkeypatch, charged, said, error):
    real = Ledger.open_run

    def failing(self, *arguments, **settings):
        if charged:
            real(self, *arguments, **settings)
        raise error

    monkeypatch.setattr(Ledger, "open_run", failing)
    answer = evomix(
        "diagnose", "public", "one.csv", "--private", "private.csv", "--epsilon-test", 2, "--candidates", 50
    )
    assert answer.code == 4
    assert (said or "evomix: ") in answer.err
    assert ("charged" in answer.err) == charged
    assert "123.45" not in answer.err


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
@example(0.1230004, 0.1230019)
@example(0.0, 1.0)
@example(0.5, 0.5)
def test_an_interval_is_written_no_narrower_than_it_is_and_not_much_wider(one, other):
    low, high = sorted((one, other))
    measured = {"distance": low, "interval": [low, high], "confidence": 0.95, "sampling": 0.01}
    measured |= {"epsilon": 1.0, "delta": 0.0, "adjacency": "replace-one", "unit": "one row", "candidates": 9}
    first, *_, last = _measured_lines(measured | {"judged": {"verdict": "."}})
    written = [Fraction(text) for text in re.search(r"between ([0-9.]+) and ([0-9.]+);", first).groups()]
    assert 0 <= written[0] <= low <= high <= written[1] <= 1
    if high - low > 1e-15:
        assert written[1] - written[0] <= max(Fraction(13, 10) * Fraction(high - low), Fraction(3, 1000))
    assert Fraction(last.split("--proximity ")[1].split("`")[0]) == written[1]
