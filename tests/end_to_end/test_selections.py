"""Every mechanism with every selection and schedule on the command line: stopped in the middle, resumed, reported."""

import itertools
import json

import pytest

from evomix.cli.options import MECHANISMS, SCHEDULES, SELECTIONS
from evomix.evolution.state import load_state
from evomix.experiment import engine
from evomix.experiment.presets import PRESETS

ALL = list(itertools.product(MECHANISMS[1:], SELECTIONS[1:], SCHEDULES[1:]))


def _stop_before(monkeypatch, index):
    real = engine.Curator.release

    def stopping(self, round_index, *arguments):
        if round_index == index:
            raise KeyboardInterrupt
        return real(self, round_index, *arguments)

    monkeypatch.setattr(engine.Curator, "release", stopping)
    return lambda: monkeypatch.setattr(engine.Curator, "release", real)


@pytest.mark.parametrize(("mechanism", "selection", "schedule"), ALL)
def test_a_run_that_is_stopped_goes_on_and_is_reported(
    ordinary, ordinary_row, monkeypatch, mechanism, selection, schedule
):
    words = ["--mechanism", mechanism, "--selection", selection, "--schedule", schedule, "--schema", "in/schema.json",
             "--candidates", 40, "--rounds", 3, "--seed", 1]  # fmt: skip
    release = _stop_before(monkeypatch, 2)
    assert ordinary.synth(*words, epsilon=4).code == 130
    release()
    other = SCHEDULES[2] if schedule == SCHEDULES[1] else SCHEDULES[1]
    refused = ordinary.synth(*words, "--schedule", other, "--resume", epsilon=4)
    assert refused.code == 2
    assert "schedule" in refused.err
    rows = ordinary.done(*words, "--resume", epsilon=4)
    assert len(rows) == 50
    assert all(map(ordinary_row, rows))
    assert ordinary.spent() == [4.0]
    privacy = ordinary.privacy()
    assert (privacy["mechanism"], privacy["selection"], privacy["schedule"]) == (mechanism, selection, schedule)
    assert (privacy["threshold"] is not None) == (selection == "gape")
    folder = ordinary.folder / "out.run"
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert [event["round"] for event in events] == [0, 1, 2]
    assert all(("above_threshold" in event) == (selection == "gape") for event in events)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert all(word in page for word in (mechanism, selection, schedule))
    assert ("candidates above the threshold" in page) == (selection == "gape")
    pooled = selection in ("rank", "subsample")
    state = load_state(folder / "checkpoint")
    assert len(state.parents) == (40 if pooled else 40 // 4)
    assert [one.index for one in state.released] == ([0, 1, 2] if pooled else [2])


@pytest.mark.parametrize("selection", ["projection", "gape"])
@pytest.mark.parametrize("mechanism", MECHANISMS[1:])
def test_when_noise_drowns_all_votes_the_rows_asked_for_still_come(
    ordinary, ordinary_row, people, mechanism, selection
):
    ordinary.write("private.csv", people(20))
    answer = ordinary.synth("--mechanism", mechanism, "--selection", selection, "--candidates", 400, "--rounds", 3,
                            epsilon=0.05, delta="1e-5", rows=100)  # fmt: skip
    assert answer.code == 0, answer.err
    assert len(ordinary.rows()) == 100
    assert all(map(ordinary_row, ordinary.rows()))


def test_a_threshold_that_nothing_passes_is_told(ordinary):
    ordinary.done("--preset", "gape", "--threshold", 1e6, "--candidates", 30, "--rounds", 2, epsilon=4)
    assert "no candidate above the threshold" in ordinary.said
    assert "ranked instead" in (ordinary.folder / "out.run" / "report.html").read_text(encoding="utf-8")
    assert ordinary.privacy()["threshold"] == 1e6


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_runs_and_its_run_file_repeats_it(ordinary, preset):
    words = ("--candidates", 30, "--rounds", 2, "--seed", 3)
    planned = ordinary.synth("--preset", preset, *words, "--dry-run", "--json", epsilon=4).json
    assert planned["mechanism"] == PRESETS[preset]["mechanism"]
    ordinary.done("--preset", preset, *words, epsilon=4)
    first = ordinary.privacy()
    assert (first["mechanism"], first["selection"]) == (PRESETS[preset]["mechanism"], PRESETS[preset]["selection"])
    again = ordinary.run("synth", "--config", "out.run/spec.toml", "--out", "again.csv", "--run-dir", "again.run")
    assert again.code == 0, again.err
    second = ordinary.privacy("again.run")
    same = ("mechanism", "selection", "schedule", "threshold", "denoising", "releases")
    assert {name: second[name] for name in same} == {name: first[name] for name in same}


def test_plan_knows_what_a_preset_costs(ordinary):
    def planned(*words):
        return ordinary.run("plan", "--n", 20000, "--epsilon", 1, "--delta", "1e-6", "--rounds", 4, "--json", *words)

    made = planned("--preset", "pe-theory").json
    assert (made["mechanism"], made["variations"]) == ("gaussian", 7)
    gape, pooled = planned("--preset", "gape").json, planned("--mechanism", "gaussian").json
    assert gape == planned("--preset", "aug-pe").json
    assert gape["noise_scale"] == pooled["noise_scale"]
    assert (gape["variations"], pooled["variations"]) == (3, 1)  # a preset says how one release is denoised
    assert planned("--preset", "gape", "--mechanism", "laplace").json["mechanism"] == "laplace"
    assert planned("--preset", "none").code == 2
    assert planned("--preset", "pubmix", "--no-public").code == 2


@pytest.mark.parametrize(
    ("options", "mentioned"),
    [
        (("--threshold", 2), "threshold"),
        (("--radius", 2, "--selection", "projection"), "radius"),
        (("--selection", "gape", "--denoising", "none"), "denoising"),
        (("--preset", "gape", "--threshold", "-1"), "threshold"),
        (("--schedule", "linear"), "schedule"),
    ],
)
def test_what_has_no_effect_or_no_meaning_is_refused_before_anything_is_charged(ordinary, options, mentioned):
    answer = ordinary.synth(*options)
    assert answer.code == 2
    assert mentioned in answer.err
    assert ordinary.spent() == []
