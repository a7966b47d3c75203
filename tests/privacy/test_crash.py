"""Killed at any moment, a run is never free, never releases a round twice, and leaves whole files or none."""

import os
import random
import signal
import time

import pytest
from house import KILLED, ROUNDS, House

from evomix.privacy.ledger import Ledger

POINTS = {
    "before the charge": ("evomix.privacy.ledger:Ledger.open_run", "before", 1),
    "after the charge": ("evomix.privacy.ledger:Ledger.open_run", "after", 1),
    "before the folder": ("evomix.experiment.artifacts:save_run", "before", 1),
    "after the folder": ("evomix.experiment.artifacts:save_run", "after", 1),
    "first round begun": ("evomix.privacy.ledger:Ledger.begin_round", "after", 1),
    "third round begun": ("evomix.privacy.ledger:Ledger.begin_round", "after", 3),
    "third round released": ("evomix.curator.curator:Curator.release", "after", 3),
    "last round released": ("evomix.curator.curator:Curator.release", "after", ROUNDS),
    "while the last round is saved": ("numpy:savez_compressed", "after", ROUNDS),
    "third round saved": ("evomix.evolution.loop:save_state", "after", 3),
    "before the end is recorded": ("evomix.privacy.ledger:Ledger.finish_run", "before", 1),
    "after the end is recorded": ("evomix.privacy.ledger:Ledger.finish_run", "after", 1),
    "while the report is put in place": ("evomix.experiment.run:write_report", "after", 1),
    "before the table": ("evomix.experiment.run:write_table", "before", 1),
    "after the table": ("evomix.experiment.run:write_table", "after", 1),
}


@pytest.mark.parametrize("point", POINTS)
def test_killed_between_any_two_steps(house, point):
    code, _ = house.victims.run(house.words(), crash=POINTS[point])
    assert code == KILLED
    house.check()
    saved, begun = house.saved_round(), sum(entry.rounds_begun for entry in Ledger(house.ledger).entries())
    assert house.spent() == (0.0 if point == "before the charge" else 0.6)
    assert begun - saved - 1 in {0, 1}
    lost = begun - 1 if begun - 1 > saved else None
    privacy = house.finish()
    if privacy is None:
        assert point in {"before the charge", "after the charge", "before the folder"}
    elif lost is not None:
        assert lost not in house.events()


def test_a_round_that_was_lost_stays_lost_and_a_run_of_lost_rounds_ends(house):
    release = ("evomix.curator.curator:Curator.release", "after", 1)
    assert house.victims.run(house.words(), crash=release)[0] == KILLED
    for _ in range(ROUNDS - 1):
        assert house.victims.run(house.words("--resume"), crash=release)[0] == KILLED
        house.check()
    code, printed = house.victims.run(house.words("--resume"))
    assert code == 4
    assert "stays spent" in printed
    assert house.spent() == 0.6
    assert house.events() == []
    assert not house.out.exists()


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["pubmix", "gaussian"])
def test_killed_at_ten_random_moments(house, mechanism):
    rng = random.Random(mechanism)
    started = time.monotonic()
    assert house.victims.run(house.words(mechanism=mechanism))[0] == 0
    duration = time.monotonic() - started
    for kill in range(10):
        folder = house.folder / f"kill-{kill}"
        folder.mkdir()
        fresh = House(folder, house.victims)
        (victim,) = house.victims.start(fresh.words(mechanism=mechanism))
        time.sleep(rng.uniform(0.0, duration))
        os.kill(victim, signal.SIGKILL)  # it may have ended, but its number is still its own
        ((code, _),) = house.victims.wait()
        fresh.check()
        if code == KILLED:
            fresh.finish(mechanism)
