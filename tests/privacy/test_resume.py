"""A run is resumed as it began or not at all, and what runs at the same time shares one budget."""

import fcntl
import json
import os
import shutil
import signal
import time

import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from house import KILLED, ROUNDS

import evomix
from evomix.core.errors import InputFileError, PrivacyError, SpecError
from evomix.experiment.accounts import account_of, restored
from evomix.experiment.folder_lock import exclusive
from evomix.experiment.planning import plan
from evomix.privacy.ledger import Ledger


def test_resuming_a_finished_run_or_a_copy_of_it_costs_and_releases_nothing(house):
    assert house.victims.run(house.words())[0] == 0
    first, state = house.out.read_bytes(), (house.run_dir / "checkpoint" / "state.npz").read_bytes()
    shutil.copytree(house.run_dir, house.folder / "copy.run", ignore=shutil.ignore_patterns(".lock"))
    for more in ({}, {"run_dir": house.folder / "copy.run"}):
        code, printed = house.victims.run(house.words("--resume", **more))
        assert code == 0, printed
        assert house.spent() == 0.6
        assert house.out.read_bytes() == first
    assert (house.run_dir / "checkpoint" / "state.npz").read_bytes() == state


def test_a_copied_run_folder_is_no_second_release(house):
    crash = ("evomix.evolution.loop:save_state", "after", 3)
    assert house.victims.run(house.words(), crash=crash)[0] == KILLED
    shutil.copytree(house.run_dir, house.folder / "copy.run", ignore=shutil.ignore_patterns(".lock"))
    assert house.finish() is not None
    code, printed = house.victims.run(house.words("--resume", run_dir=house.folder / "copy.run"))
    assert code == 0, printed  # it has the rounds that were saved in it, and no other
    copied = (house.folder / "copy.run" / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["round"] for line in copied] in ([0, 1], [0, 1, 2])


def _other_public(house):
    house.table(house.public, 9)
    return {}


def _other_private(house):
    house.table(house.private, 9)
    return {}


CHANGES = {
    "epsilon": (lambda _: {"epsilon": 0.7}, "epsilon"),
    "delta": (lambda _: {"delta": 1e-8}, "delta"),
    "private": (_other_private, "data"),
    "public": (_other_public, "public"),
    "rounds": (lambda _: {"rounds": ROUNDS + 1}, "rounds"),
    "mechanism": (lambda _: {"mechanism": "gaussian"}, "mechanism"),
    "seed": (lambda _: {"seed": 8}, "seed"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_resuming_another_run_is_refused_by_name_and_spends_nothing(interrupted, change):
    changed, named = CHANGES[change]
    code, printed = interrupted.victims.run(interrupted.words("--resume", **changed(interrupted)))
    assert code == 2
    assert f"different now: {named}" in printed
    assert interrupted.spent() == 0.6
    assert interrupted.rounds_begun() == 2
    assert not interrupted.out.exists()


def _cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _edit(**changes):
    """Change the parameters of the run and of each of its releases."""

    def edit(path):
        content = json.loads(path.read_text())
        for figures in (content["mechanism"], *content["mechanism"]["releases"]):
            figures.update(changes)
        path.write_text(json.dumps(content))

    return edit


DAMAGE = {
    "state cut": ("state.npz", _cut, 2, "damaged"),
    "state emptied": ("state.npz", lambda path: path.write_bytes(b""), 2, "damaged"),
    "run cut": ("run.json", _cut, 2, "damaged"),
    "run without its parts": ("run.json", lambda path: path.write_text("{}"), 2, "damaged"),
    "run is a list": ("run.json", lambda path: path.write_text("[]"), 2, "damaged"),
    "no weight": ("run.json", _edit(mixing_weight=None), 2, "specification"),
    "less noise": ("run.json", _edit(mixing_weight=0.0), 2, "specification"),
    "no number": ("run.json", _edit(mixing_weight=float("nan")), 2, "specification"),
    "larger floor": ("run.json", _edit(floor=0.9), 2, "specification"),
    "more noise, certified too": ("run.json", _edit(mixing_weight=1.0), 2, "specification"),
    "fewer draws": ("run.json", _edit(draws=1), 2, "specification"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_checkpoint_is_refused_and_spends_nothing(interrupted, damage):
    name, spoil, expected, words = DAMAGE[damage]
    spoil(interrupted.run_dir / "checkpoint" / name)
    code, printed = interrupted.victims.run(interrupted.words("--resume"))
    assert code == expected, printed
    assert words in printed
    assert interrupted.rounds_begun() == 2
    assert interrupted.spent() == 0.6
    assert not interrupted.out.exists()


@pytest.mark.parametrize(
    ("edit", "error", "words"),
    [
        ({}, None, None),
        ({"mixing_weight": 1.0}, None, None),
        ({"mixing_weight": 0.5}, PrivacyError, "budget"),
        ({"floor": 0.001}, PrivacyError, "budget"),
        ({"draws": 10**6}, (PrivacyError, InputFileError), "budget|damaged"),
        ({"mixing_weight": float("nan")}, PrivacyError, "mixing_weight"),
        ({"floor": 0.9}, PrivacyError, "floor"),
        ({"floor": None}, InputFileError, "damaged"),
        ({"draws": "many"}, InputFileError, "damaged"),
    ],
)
def test_restored_mechanisms_are_certified_anew(edit, error, words):
    planned = plan(n=500, epsilon=1.0, delta=1e-6, mechanism="linmix", candidates=50, draws=2000)
    saved = json.loads(json.dumps(account_of(planned).describe()))
    for release in saved["releases"]:
        release.update(edit)
    if error is None:
        assert sum(restored(saved, planned).draws) == 2000
    else:
        with pytest.raises(error, match=words):
            restored(saved, planned)


@pytest.mark.parametrize("mechanism", ["linmix", "gaussian", "laplace", "linmix,laplace", "linmix,gaussian,linmix"])
def test_restored_mechanisms_are_the_calibrated_ones(mechanism):
    planned = plan(n=500, epsilon=1.0, delta=1e-6, mechanism=mechanism, candidates=50)
    calibrated = account_of(planned)
    assert restored(json.loads(json.dumps(calibrated.describe())), planned) == calibrated


def test_another_ledger_or_a_reset_one_lets_nothing_resume(interrupted):
    code, printed = interrupted.victims.run(interrupted.words("--resume", ledger=interrupted.folder / "other.sqlite"))
    assert code == 3
    assert "not in this ledger" in printed
    Ledger(interrupted.ledger).reset(Ledger(interrupted.ledger).datasets()[0])
    code, printed = interrupted.victims.run(interrupted.words("--resume"))
    assert code == 3
    assert "voided" in printed
    assert interrupted.rounds_begun() == 2


def test_two_resumes_at_once_release_each_round_once(interrupted):
    interrupted.victims.start(interrupted.words("--resume"), interrupted.words("--resume"))
    codes = sorted(code for code, _ in interrupted.victims.wait())
    interrupted.check()
    assert codes in ([0, 0], [0, 2])  # one after the other, or one is told that the folder is in use
    assert interrupted.rounds_begun() == ROUNDS
    assert interrupted.spent() == 0.6


def test_of_two_runs_at_once_only_one_fits_the_budget(house):
    runs = [house.words(out=house.folder / f"s{number}.csv", budget="1.0:1e-5", delta=1e-6) for number in range(2)]
    house.victims.start(*runs)
    answers = house.victims.wait()
    assert sorted(code for code, _ in answers) == [0, 3]
    assert [(house.folder / f"s{number}.csv").exists() for number in range(2)] == [code == 0 for code, _ in answers]
    assert house.spent() == 0.6
    assert next(printed for code, printed in answers if code == 3).count("0.6") >= 1
    assert house.leftovers() == []


def test_ctrl_c_leaves_the_charge_and_can_be_resumed(house):
    (victim,) = house.victims.start(house.words(rounds=60))
    deadline = time.monotonic() + 60
    while len(house.events()) < 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(victim, signal.SIGINT)
    ((code, printed),) = house.victims.wait()
    assert code == 130, printed
    assert "stays charged" in printed
    assert not house.out.exists()
    assert house.leftovers() == []
    assert house.victims.run(house.words("--resume", rounds=60))[0] == 0
    assert house.spent() == 0.6


def test_a_private_file_that_changes_under_a_run_is_noticed(house):
    """Rows that vanish between two rounds of a histogram are an error, not a smaller vote."""
    parquet = house.folder / "private.parquet"
    pq.write_table(arrow_csv.read_csv(house.private), parquet)
    house.private = parquet
    house.interrupt()
    pq.write_table(pq.read_table(parquet).slice(0, 100), parquet)
    code, printed = house.victims.run(house.words("--resume"))
    assert code == 2
    assert "data" in printed


def test_runs_from_python_hold_their_folder_too(house):
    house.run_dir.mkdir()
    settings = {"public": house.public, "epsilon": 0.6, "run_dir": house.run_dir, "ledger": house.ledger}
    with exclusive(house.run_dir), pytest.raises(SpecError, match="in use"):
        evomix.synthesize(house.private, **settings)
    assert house.spent() == 0.0


def test_a_lock_on_a_file_that_the_last_holder_removed_is_no_lock(house, monkeypatch):
    house.run_dir.mkdir()
    real = fcntl.flock

    def late(file, operation):
        real(file, operation)
        (house.run_dir / ".lock").unlink()  # the holder before us leaves between our opening and our locking
        (house.run_dir / ".lock").touch()  # and a third one comes

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(SpecError, match="in use"), exclusive(house.run_dir):
        pass
