"""A measured distance: killed at any moment it is never free and never released twice, and no canary comes out of it.

Proof: docs/proofs/distance.md.
"""

import json
import tempfile

import pytest
from house import KILLED
from planted import bytes_under, call, found_in, plant

from evomix.privacy.ledger import Ledger

EPSILON = 0.3
POINTS = {
    "before the charge": ("evomix.privacy.ledger:Ledger.open_run", "before", 1),
    "after the charge": ("evomix.privacy.ledger:Ledger.open_run", "after", 1),
    "before it begins": ("evomix.privacy.ledger:Ledger.begin_round", "before", 1),
    "begun": ("evomix.privacy.ledger:Ledger.begin_round", "after", 1),
    "rows asked for": ("evomix.curator.records:PrivateRecords.scan", "after", 1),
    "noise drawn": ("evomix.privacy.mechanisms.distance:NoisyDistance.release", "after", 1),
    "before the end is recorded": ("evomix.privacy.ledger:Ledger.finish_run", "before", 1),
    "after the end is recorded": ("evomix.privacy.ledger:Ledger.finish_run", "after", 1),
}


def _words(house, *more):
    paid = ("--private", house.private, "--epsilon-test", EPSILON, "--ledger", house.ledger, "--dataset", "d",
            "--candidates", 20)  # fmt: skip
    return ["diagnose", "public", house.public, *paid, *more]


@pytest.mark.parametrize("point", POINTS)
def test_killed_between_any_two_steps_it_is_charged_before_a_row_votes(house, point):
    code, printed = house.victims.run(_words(house), crash=POINTS[point])
    assert code == KILLED
    assert "distance" not in printed
    entries = Ledger(house.ledger).entries()
    assert house.spent() == (0.0 if point == "before the charge" else EPSILON)
    begun = sum(entry.rounds_begun for entry in entries)
    assert begun == (0 if point in {"before the charge", "after the charge", "before it begins"} else 1)
    code, printed = house.victims.run(_words(house, "--json"))
    assert code == 0, printed
    told = json.loads(printed[printed.index("{") :])["measured"]
    assert house.spent() == (EPSILON if point == "before the charge" else 2 * EPSILON)  # a new look is a new charge
    assert told["run_id"] not in {entry.run_id for entry in entries}


def test_of_two_at_once_only_one_fits_the_budget(house):
    house.victims.start(*[_words(house, "--budget", "0.5:1e-6") for _ in range(2)])
    answers = house.victims.wait()
    assert sorted(code for code, _ in answers) == [0, 3]
    assert house.spent() == EPSILON
    assert all(("measured distance" in printed) == (code == 0) for code, printed in answers)


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Return the folder of planted inputs; all else that can be written lies beside it."""
    inputs, outside = tmp_path / "inputs", tmp_path / "outside"
    for folder in (inputs, outside / "tmp"):
        folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(outside))
    monkeypatch.setenv("XDG_DATA_HOME", str(outside / "data"))
    monkeypatch.setenv("TMPDIR", str(outside / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.delenv("EVOMIX_LEDGER")
    monkeypatch.chdir(outside)
    return inputs


def _measure(planted, *more, suffix="csv"):
    paid = ("--private", planted / f"private.{suffix}", "--epsilon-test", 1, "--candidates", 20)
    public = ("diagnose", "public", planted / f"public.{suffix}", "--schema", planted / "schema.json")
    return call([*public, *paid, "--debug", *more])


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_no_canary_in_anything_that_a_measurement_leaves(planted, suffix, unit):
    plant(planted, suffix=suffix, unit=unit)
    more = ("--unit", "person") if unit else ()
    code, printed = _measure(planted, "--json", "--candidates", 30, *more, suffix=suffix)
    assert code == 0, printed
    assert '"private": true' in printed
    assert found_in(printed) == []
    left = list(bytes_under(planted.parent / "outside"))
    assert any(path.name == "ledger.sqlite" for path, _ in left)
    for path, content in left:
        assert found_in(content) == [], path


def test_no_canary_when_it_fails_on_its_way(planted, monkeypatch):
    plant(planted)

    def failing(*_):
        raise ValueError("cannot vote for 'kanarie-cell' with 73519.8642")

    monkeypatch.setattr("evomix.privacy.mechanisms.distance.NoisyDistance.release", failing)
    code, printed = _measure(planted)
    assert code == 4
    assert "withheld" in printed
    assert found_in(printed) == []
