"""``evomix audit``: what is passed on, what is printed, and exit code 3 for a violation."""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

audit_command = importlib.import_module("evomix.cli.audit")

FOUND = {
    "mechanism": "linmix",
    "n": 100,
    "verdict": "consistent",
    "adjacency": "replace-one",
    "epsilon": 2.0,
    "delta": 1e-6,
    "proven_delta": 9.9e-7,
    "accounted": True,
    "faults": [],
    "trials": 1000,
    "confidence": 0.999,
    "warnings": ["1000 trials only"],
    "randomness": "operating system",
    "claims": [
        {"epsilon": 2.0, "delta": 1e-6, "lower_bound": 0.9, "expected": 0.95, "stated": True, "refuted": False},
        {"epsilon": 0.7, "delta": 0.01, "lower_bound": 0.65, "expected": 0.66, "stated": False, "refuted": False},
    ],
    "counts": [],
}


@pytest.fixture
def auditing(monkeypatch):
    """Stands in for the experiment package: records what was asked and answers with ``found``."""
    asked, found = {}, dict(FOUND)

    def give(name, given, how):
        asked.update(name=name, given=given, how=how)
        return found

    stub = ModuleType("evomix.experiment.auditing")
    stub.audit_run = lambda run_dir, **how: give("run", run_dir, how)
    stub.audit_mechanism = lambda specimen, **how: give("mechanism", specimen, how)
    monkeypatch.setitem(sys.modules, "evomix.experiment.auditing", stub)
    stub = ModuleType("evomix.experiment.specimen")
    stub.calibrated = lambda mechanism, **options: (mechanism, options)
    monkeypatch.setitem(sys.modules, "evomix.experiment.specimen", stub)
    return asked, found


def without_report(how):
    assert callable(how["report"])
    return {name: value for name, value in how.items() if name != "report"}


def test_a_run_is_audited_by_its_folder(evomix, auditing):
    asked, _ = auditing
    answer = evomix("audit", "out.run", "--trials", "50", "--confidence", "0.99", "--seed", "4")
    assert answer.code == 0
    assert (asked["name"], asked["given"]) == ("run", Path("out.run"))
    assert without_report(asked["how"]) == {"trials": 50, "confidence": 0.99, "seed": 4}


def test_a_mechanism_gets_what_was_given_and_nothing_else(evomix, auditing):
    asked, _ = auditing
    words = "--mechanism pubmix --epsilon 1 --delta 0.01 --n 100 --draws 50 --candidates 10 --floor 0.05"
    assert evomix("audit", *words.split()).code == 0
    options = {"epsilon": 1.0, "delta": 0.01, "n": 100, "draws": 50, "candidates": 10, "floor": 0.05}
    assert asked["given"] == ("pubmix", options)
    assert without_report(asked["how"]) == {"trials": None, "confidence": 0.999, "seed": None}
    evomix("audit", "--mechanism", "gaussian", "--stddev", "2.5", "--rounds", "3")
    assert asked["given"] == ("gaussian", {"stddev": 2.5, "rounds": 3})


def test_bounds_stand_beside_each_other_in_words(evomix, auditing):
    answer = evomix("audit", "out.run")
    assert "verdict: consistent" in answer.out
    assert "claimed: ε = 2, δ = 1e-06 (replace-one)" in answer.out
    assert "at δ = 1e-06: 0.9 ≤ ε ≤ 2" in answer.out
    assert "on the same proven curve: at δ = 0.01: 0.65 ≤ ε ≤ 0.7" in answer.out
    assert "no proof" in answer.out
    assert "warning: 1000 trials only" in answer.err


def test_printed_bounds_stay_bounds(evomix, auditing):
    _, found = auditing
    found["claims"] = [FOUND["claims"][0] | {"lower_bound": 0.99999999, "epsilon": 1.00000001}]
    assert "0.9999 ≤ ε ≤ 1.001" in evomix("audit", "out.run").out


def test_printed_numbers_are_those_that_were_found(evomix, auditing):
    _, found = auditing
    found.update(delta=0.0123456444, confidence=0.9999999)
    found["claims"] = [FOUND["claims"][0] | {"delta": 0.0123456444}]
    out = evomix("audit", "out.run").out
    assert "at δ = 0.0123456444: " in out
    assert "δ = 0.0123456444 (" in out
    assert "confidence: 0.9999999\n" in out


def test_what_the_record_does_not_bear_out_is_said(evomix, auditing):
    _, found = auditing
    found.update(verdict="VIOLATION", accounted=False, proven_delta=1.0, faults=["round 1 is missing"])
    answer = evomix("audit", "out.run")
    assert answer.code == 3
    assert "proven: nothing at this ε" in answer.out
    assert "not as recorded: round 1 is missing" in answer.out
    assert "does not bear out its claim" in answer.err
    assert "0.9 ≤ ε ≤ 2 (shown, claimed;" in answer.out


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(audit_command.time, "monotonic", lambda: now[0])
    return now


def told(clock, *reports):
    """Report (stage, done of 1000, seconds since the last)."""
    bars = []
    foretold = audit_command.Foretold(lambda *progress: bars.append(progress))
    for stage, done, seconds in reports:
        clock[0] += seconds
        foretold(stage, done, 1000)
    assert bars == [(stage, done, 1000) for stage, done, _ in reports]


def test_how_long_it_takes_is_said_once_when_that_can_be_told(clock, capsys):
    told(clock, ("accounting", 0, 0), ("audit", 100, 7), ("audit", 150, 0.5), ("audit", 200, 1.5), ("audit", 300, 2))
    assert capsys.readouterr().err == "evomix: 1000 runs to make and count on both sides, about 16 s to go\n"
    told(clock, ("audit", 1, 0), ("audit", 2, 1))
    assert "about 17 minutes to go" in capsys.readouterr().err


def test_a_short_audit_says_nothing_of_its_time(clock, capsys):
    told(clock, ("audit", 100, 0), ("audit", 600, 0.3), ("audit", 1000, 0.4))
    told(clock, ("audit", 100, 0), ("audit", 999, 3.0), ("audit", 1000, 0.1))
    audit_command.Foretold(None)("audit", 1, 2)
    assert capsys.readouterr().err == ""


def test_json_is_the_whole_answer(evomix, auditing):
    assert evomix("audit", "out.run", "--json").json == FOUND


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_violation_is_printed_and_ends_with_3(evomix, auditing, as_json):
    _, found = auditing
    found.update(verdict="VIOLATION", accounted=False)
    answer = evomix("audit", "out.run", *as_json)
    assert answer.code == 3
    assert "VIOLATION" in answer.out
    assert "more privacy is lost than is claimed" in answer.err
    if as_json:
        assert answer.json["verdict"] == "VIOLATION"
    else:
        assert "MORE THAN CLAIMED" in answer.out
        assert "no proof" not in answer.out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("", "either RUN_DIR"),
        ("out.run --mechanism linmix", "either RUN_DIR"),
        ("out.run --epsilon 1 --n 5", "--epsilon, --n cannot be given with RUN_DIR"),
        ("--mechanism linmix --epsilon nan", "epsilon"),
        ("--mechanism linmix --trials 1e5", "--trials must be a whole number"),
    ],
)
def test_contradictions_are_refused(evomix, auditing, words, named):
    asked, _ = auditing
    answer = evomix("audit", *words.split())
    assert answer.code == 2
    assert named in answer.err
    assert not asked


def test_real_audits_end_to_end(evomix, tmp_path):
    words = "--mechanism linmix --epsilon 1 --n 30 --draws 20 --candidates 5 --trials 2000 --json"
    answer = evomix("audit", *words.split())
    assert (answer.code, answer.json["verdict"]) == (0, "consistent")
    assert answer.json["claims"][0]["lower_bound"] > 0.3
    sound = {
        "private": True,
        "adjacency": "replace-one",
        "n": 30,
        "epsilon": 1.0,
        "delta": 0.01,
        "mechanism": "linmix",
        "draws": 20,
    }
    (tmp_path / "privacy.json").write_text(json.dumps(sound | {"mixing_weight": 0.25, "floor": 0.2, "rounds": 1}))
    answer = evomix("audit", tmp_path, "--trials", "500")
    assert answer.code == 3
    assert "MORE THAN CLAIMED" in answer.out
    assert evomix("audit", tmp_path / "nowhere").code == 2
    (tmp_path / "privacy.json").write_text(json.dumps(sound | {"mixing_weight": 0.25, "floor": 0.2, "private": False}))
    answer = evomix("audit", tmp_path)
    assert answer.code == 2
    assert "NOT PRIVATE" in answer.err
    assert answer.out == ""
