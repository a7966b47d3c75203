"""Killed at any moment, a run of counts is never free and never counts a stage twice."""

import json
import os
import random
import signal
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from house import KILLED, ROWS, House

from evomix.evolution.state import STATE_FILE
from evomix.marginals.checkpoint import load_counts
from evomix.privacy.ledger import Ledger

STAGES = 4
POINTS = {
    "before the charge": ("evomix.privacy.ledger:Ledger.open_run", "before", 1),
    "after the charge": ("evomix.privacy.ledger:Ledger.open_run", "after", 1),
    "after the folder": ("evomix.experiment.artifacts:save_run", "after", 1),
    "before the first stage begins": ("evomix.privacy.ledger:Ledger.begin_round", "before", 1),
    "first stage begun": ("evomix.privacy.ledger:Ledger.begin_round", "after", 1),
    "second stage begun": ("evomix.privacy.ledger:Ledger.begin_round", "after", 2),
    "second stage counted": ("evomix.curator.curator:tally_panel", "after", 2),
    "second stage released": ("evomix.curator.curator:Curator.count", "after", 2),
    "while the second stage is saved": ("numpy:savez_compressed", "after", 2),
    "second stage saved": ("evomix.experiment.counting:save_counts", "after", 2),
    "before its event": ("evomix.experiment.artifacts:append_event", "before", 2),
    "after its event": ("evomix.experiment.artifacts:append_event", "after", 2),
    "last stage begun": ("evomix.privacy.ledger:Ledger.begin_round", "after", STAGES),
    "last stage released": ("evomix.curator.curator:Curator.count", "after", STAGES),
    "last stage saved": ("evomix.experiment.counting:save_counts", "after", STAGES),
    "before the end is recorded": ("evomix.privacy.ledger:Ledger.finish_run", "before", 1),
    "after the end is recorded": ("evomix.privacy.ledger:Ledger.finish_run", "after", 1),
    "before the table": ("evomix.experiment.run:write_table", "before", 1),
    "after the table": ("evomix.experiment.run:write_table", "after", 1),
}


class CountedHouse(House):
    """A house whose runs count column sets."""

    rounds, columns = STAGES, 3

    def table(self, path, seed):
        rng = np.random.default_rng(seed)
        columns = {
            "age": rng.integers(0, 90, 300),
            "region": rng.choice(["north", "south"], 300).tolist(),
            "visits": rng.integers(0, 9, 300),
        }
        arrow_csv.write_csv(pa.table(columns), path)

    def words(self, *more):
        options = {
            "--public": self.public,
            "--epsilon": 0.6,
            "--rows": ROWS,
            "--method": "marginals",
            "--target": "region",
            "--seed": 7,
            "--out": self.out,
            "--ledger": self.ledger,
        }
        return ["synth", self.private, *(word for pair in options.items() for word in pair), *more]

    def resumed(self, mechanism="gaussian"):
        assert mechanism
        return self.words("--resume")

    def saved(self):
        return load_counts(self.run_dir / "checkpoint" / STATE_FILE)

    def saved_round(self):
        return max(self.saved(), default=-1)


@pytest.fixture
def house(tmp_path, victims):
    return CountedHouse(tmp_path, victims)


@pytest.mark.parametrize("point", POINTS)
def test_killed_between_any_two_steps(house, point):
    code, printed = house.victims.run(house.words(), crash=POINTS[point])
    assert code == KILLED, printed
    house.check()
    kept, begun = house.saved(), house.rounds_begun()
    assert house.spent() == (0.0 if point == "before the charge" else 0.6)
    assert begun - len(kept) in {0, 1}
    privacy = house.finish()
    if privacy is None:
        assert point in {"before the charge", "after the charge"}
        return
    found = house.saved()
    assert all(found[stage].release.votes.tobytes() == one.release.votes.tobytes() for stage, one in kept.items())
    lost = set(range(begun)) - set(kept)
    assert set(found) == set(range(STAGES)) - lost
    assert lost.isdisjoint(house.events())


def test_a_stage_that_was_lost_stays_lost_and_a_run_of_lost_stages_ends(house):
    count = ("evomix.curator.curator:Curator.count", "after", 1)
    assert house.victims.run(house.words(), crash=count)[0] == KILLED
    for _ in range(STAGES - 1):
        assert house.victims.run(house.words("--resume"), crash=count)[0] == KILLED
        house.check()
    code, printed = house.victims.run(house.words("--resume"))
    assert code == 4
    assert "stays spent" in printed
    assert house.spent() == 0.6
    assert house.events() == []
    assert not house.out.exists()


def test_two_resumes_at_once_count_each_stage_once(house):
    crash = ("evomix.experiment.counting:save_counts", "after", 1)
    assert house.victims.run(house.words(), crash=crash)[0] == KILLED
    house.victims.start(house.words("--resume"), house.words("--resume"))
    codes = sorted(code for code, _ in house.victims.wait())
    house.check()
    assert codes in ([0, 0], [0, 2])
    assert house.rounds_begun() == STAGES
    assert house.spent() == 0.6


def test_a_copied_run_folder_is_no_second_release(house):
    crash = ("evomix.experiment.counting:save_counts", "after", 2)
    assert house.victims.run(house.words(), crash=crash)[0] == KILLED
    saved = (house.run_dir / "checkpoint" / STATE_FILE).read_bytes()
    first = house.finish()
    last = house.saved()[STAGES - 1].release.votes
    (house.run_dir / "checkpoint" / STATE_FILE).write_bytes(saved)  # as if the last stage had never been released
    code, printed = house.victims.run(house.words("--resume", "--overwrite"))
    assert code == 0, printed
    assert set(house.saved()) == {0, 1}  # it is not released again
    assert house.rounds_begun() == STAGES
    assert first["begun_rounds"] == list(range(STAGES))
    assert last.size > 0


@pytest.mark.slow
def test_killed_at_ten_random_moments(house):
    rng = random.Random(3)
    started = time.monotonic()
    assert house.victims.run(house.words())[0] == 0
    duration = time.monotonic() - started
    for kill in range(10):
        folder = house.folder / f"kill-{kill}"
        folder.mkdir()
        fresh = CountedHouse(folder, house.victims)
        (victim,) = house.victims.start(fresh.words())
        time.sleep(rng.uniform(0.0, duration))
        os.kill(victim, signal.SIGKILL)  # it may have ended, but its number is still its own
        ((code, _),) = house.victims.wait()
        fresh.check()
        if code == KILLED:
            fresh.finish()


def test_what_a_run_says_of_itself_is_what_the_ledger_holds(house):
    assert house.victims.run(house.words())[0] == 0
    privacy = json.loads((house.run_dir / "privacy.json").read_text())
    (entry,) = Ledger(house.ledger).entries()
    assert (entry.run_id, entry.rounds_begun) == (privacy["run_id"], STAGES)
    assert privacy["method"] == "marginals"
    code, printed = house.victims.run(["audit", house.run_dir, "--trials", "500", "--json"])
    assert code == 0, printed
    assert json.loads(printed)["verdict"] == "consistent"
