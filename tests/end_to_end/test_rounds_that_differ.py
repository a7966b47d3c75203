"""Each way of accounting does the main job with rounds that differ, from the command line and from a run file."""

import json

import pytest

from evomix.core.release import Draws, NoisyVotes
from evomix.evolution.state import load_state

ACCOUNTS = {
    "pld": ("--mechanism", "linmix,pubmix,gaussian", "--candidates", "20,40,60"),
    "draws": ("--candidates", "20,40,60", "--accounting", "draws"),
    "renyi": ("--mechanism", "gaussian,linmix,pubmix", "--candidates", "20,40,60", "--accounting", "renyi"),
    "gaussian": ("--mechanism", "gaussian", "--candidates", "20,40,60"),
    "laplace": ("--mechanism", "laplace,laplace,laplace", "--candidates", "30"),
}
LAST = {"pld": NoisyVotes, "draws": Draws, "renyi": Draws, "gaussian": NoisyVotes, "laplace": NoisyVotes}


@pytest.mark.parametrize("accountant", ACCOUNTS)
def test_the_main_job_with_rounds_that_differ(ordinary, ordinary_row, accountant):
    rows = ordinary.done(*ACCOUNTS[accountant], "--schema", "in/schema.json", epsilon=4)
    assert len(rows) == 50
    assert all(map(ordinary_row, rows))
    privacy = ordinary.privacy()
    assert (privacy["accountant"], privacy["epsilon"], privacy["rounds"]) == (accountant, 4.0, 3)
    assert len(privacy["releases"]) == 3
    assert privacy["begun_rounds"] == [0, 1, 2]
    assert ordinary.spent() == [4.0]
    # The table is made from the last release, of whatever kind it is.
    state = load_state(ordinary.folder / "out.run" / "checkpoint")
    assert isinstance(state.release, LAST[accountant])
    assert len(state.candidates) <= 60


def test_a_dry_run_tells_the_rounds_and_a_run_file_repeats_them(ordinary):
    answer = ordinary.synth(*ACCOUNTS["pld"], "--schema", "in/schema.json", "--dry-run", "--seed", "3")
    assert answer.code == 0, answer.err
    assert [line.split(",")[0] for line in answer.out.splitlines() if line.startswith("round ")] == [
        "round 1: linmix",
        "round 2: pubmix",
        "round 3: gaussian",
    ]
    assert ordinary.spent() == []
    ordinary.done(*ACCOUNTS["pld"], "--schema", "in/schema.json", "--seed", "3")
    first = ordinary.privacy()
    again = ordinary.run("synth", "--config", "out.run/spec.toml", "--out", "again.csv", "--run-dir", "again.run")
    assert again.code == 0, again.err
    second = ordinary.privacy("again.run")
    assert second["releases"] == first["releases"]
    assert second["run_id"] != first["run_id"]


@pytest.mark.parametrize(
    ("options", "mentioned"),
    [
        (("--mechanism", "linmix,gaussian", "--rounds", "3"), "rounds=3"),
        (("--mechanism", "linmix,gaussian", "--candidates", "10,20,30"), "candidates for 3 rounds"),
        (("--mechanism", "linmix,auto"), "stands alone"),
        (("--mechanism", "linmix,gaussian", "--accounting", "draws"), "draws nothing"),
        (("--accounting", "exact"), "accounting='exact'"),
        (("--mechanism", "gaussian,laplace", "--draws", "90"), "no effect"),
    ],
    ids=str,
)
def test_contradictions_are_refused_before_anything_is_spent(ordinary, options, mentioned):
    ordinary.refused(mentioned, answer=ordinary.synth(*options))


def test_json_tells_the_rounds_too(ordinary):
    answer = ordinary.synth(*ACCOUNTS["renyi"], "--schema", "in/schema.json", "--json")
    assert answer.code == 0, answer.err
    told = json.loads(answer.out)
    assert [release["mechanism"] for release in told["privacy"]["releases"]] == ["gaussian", "linmix", "pubmix"]
    assert [planned["candidates"] for planned in told["plan"]["per_round"]] == [20, 40, 60]
