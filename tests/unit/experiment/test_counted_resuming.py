"""A run of counts is resumed wherever it stopped, as it began or not at all."""

import json
from dataclasses import replace

import numpy as np
import pytest
from experiment_tables import counted_spec

from evomix.core.errors import EnvironmentFailure, InputFileError, SpecError
from evomix.curator.counting import tally_panel
from evomix.evolution.state import STATE_FILE
from evomix.experiment import counting, engine
from evomix.experiment.run import synthesize_to_file
from evomix.formats.table import read_table
from evomix.marginals.checkpoint import load_counts
from evomix.privacy import Ledger

STAGES = 4
POINTS = ("begun", "released", "saved")


def _stop(monkeypatch, spec, stage, point):
    """Run until the process dies at a stage: with its charge recorded, its release at hand, or that on disk."""
    real = {"count": engine.Curator.count, "tally": "evomix.curator.curator.tally_panel", "save": counting.save_counts}

    def dying(self, index, panel):
        release = real["count"](self, index, panel)
        if index == stage:
            raise KeyboardInterrupt
        return release

    def dying_save(saved, path):
        real["save"](saved, path)
        if max(saved) == stage:
            raise KeyboardInterrupt

    def reading(panel, sizes, records, *, mass):
        if stages.pop() == stage:
            raise KeyboardInterrupt
        return tally_panel(panel, sizes, records, mass=mass)

    stages = list(range(STAGES))[::-1]
    stages = stages[: STAGES - len(_begun())]
    with monkeypatch.context() as patched:
        if point == "begun":
            patched.setattr(real["tally"], reading)
        elif point == "released":
            patched.setattr(engine.Curator, "count", dying)
        else:
            patched.setattr(counting, "save_counts", dying_save)
        with pytest.raises(KeyboardInterrupt):
            synthesize_to_file(spec)


def _begun():
    entries = Ledger().entries()
    return Ledger().started_rounds(entries[-1].run_id) if entries else frozenset()


def _saved(spec):
    return load_counts(spec.out.parent / "made.run" / "checkpoint" / STATE_FILE)


def _events(spec):
    lines = (spec.out.parent / "made.run" / "events.jsonl").read_text().splitlines()
    return [json.loads(line)["round"] for line in lines]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("stage", range(STAGES))
def test_stopped_anywhere_it_goes_on_and_loses_at_most_that_stage(tmp_path, monkeypatch, stage, point):
    spec = counted_spec(tmp_path)
    _stop(monkeypatch, spec, stage, point)
    assert _begun() == set(range(stage + 1))
    kept = _saved(spec)
    assert set(kept) == set(range(stage + (point == "saved")))
    resumed = replace(spec, resume=True)
    lost = {stage} if point != "saved" else set()
    made = synthesize_to_file(resumed)
    assert _begun() == set(range(STAGES))
    found = _saved(spec)
    assert set(found) == set(range(STAGES)) - lost
    for index, one in kept.items():  # what was released before is not released again
        assert found[index].release.votes.tobytes() == one.release.votes.tobytes()
    assert len(_events(spec)) == len(set(_events(spec)))
    assert lost.isdisjoint(_events(spec))
    assert made.privacy["begun_rounds"] == list(range(STAGES))
    assert made.privacy["last_saved_round"] == max(set(range(STAGES)) - lost)
    told = [warning for warning in made.warnings if "was interrupted before it was saved" in warning]
    assert [warning.split(" (")[0] for warning in told] == [f"stage {index + 1} of {STAGES}" for index in lost]
    (entry,) = Ledger().entries()
    assert entry.rounds_begun == STAGES
    assert Ledger().balance(entry.dataset).spent.epsilon == 1.0
    assert read_table(spec.out).num_rows == 5


def test_stopped_again_and_again_it_ends_where_all_stages_are_lost(tmp_path, monkeypatch):
    spec = counted_spec(tmp_path)
    for stage in range(STAGES):
        _stop(monkeypatch, spec, stage, "released")
        spec = replace(spec, resume=True)
    with pytest.raises(EnvironmentFailure, match="stays spent"):
        synthesize_to_file(spec)
    assert not spec.out.exists()
    assert _begun() == set(range(STAGES))


def test_resuming_a_finished_run_makes_the_same_rows_and_releases_nothing(tmp_path):
    spec = counted_spec(tmp_path)
    synthesize_to_file(spec)
    rows, saved = spec.out.read_bytes(), _saved(spec)
    synthesize_to_file(replace(spec, resume=True, overwrite=True))
    assert spec.out.read_bytes() == rows
    assert {stage: one.digest for stage, one in _saved(spec).items()} == {
        stage: one.digest for stage, one in saved.items()
    }
    more = synthesize_to_file(replace(spec, resume=True, overwrite=True, rows=40))
    assert more.rows == 40
    assert Ledger().entries()[0].rounds_begun == STAGES


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"target": None}, "target"),
        ({"target": "age"}, "target"),
        ({"seed": 2}, "seed"),
        ({"epsilon": 2.0}, "epsilon"),
        ({"method": "votes"}, "method"),
    ],
)
def test_another_run_is_not_resumed(tmp_path, monkeypatch, change, named):
    spec = counted_spec(tmp_path)
    _stop(monkeypatch, spec, 1, "saved")
    with pytest.raises(SpecError, match=f"different now: .*{named}"):
        synthesize_to_file(replace(spec, resume=True, **change))
    assert _begun() == {0, 1}
    assert not spec.out.exists()


def test_what_was_chosen_by_itself_is_resumed_under_its_name(tmp_path, monkeypatch):
    spec = counted_spec(tmp_path, method="auto")
    _stop(monkeypatch, spec, 1, "saved")
    assert synthesize_to_file(replace(spec, resume=True, method="marginals")).privacy["method"] == "marginals"


def _edit(change):
    def spoil(path):
        with np.load(path) as saved:
            arrays = dict(saved)
        header = json.loads(arrays["counts"].tobytes())
        change(header, arrays)
        arrays["counts"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
        np.savez_compressed(path, **arrays)

    return spoil


def _rename(header, arrays, name):
    header[name] = header.pop("1")
    arrays[f"votes_{name}"] = arrays.pop("votes_1")


DAMAGE = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:200]),
    "a stage to come": _edit(lambda header, arrays: _rename(header, arrays, "2")),
    "a stage that is none": _edit(lambda header, arrays: _rename(header, arrays, "-1")),
    "other units": _edit(lambda header, _: header["0"].update(units=61)),
    "other column sets": _edit(lambda header, _: header["1"].update(digest="0" * 64)),
    "less noise than was released": _edit(lambda header, _: header["0"].update(stddev=1e-3)),
    "more noise than was released": _edit(lambda header, _: header["1"].update(stddev=1e9)),
    "too few counts": _edit(lambda _, arrays: arrays.update(votes_1=arrays["votes_1"][:-1])),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_counts_are_refused_before_anything_more_is_released(tmp_path, monkeypatch, damage):
    spec = counted_spec(tmp_path)
    _stop(monkeypatch, spec, 1, "saved")
    DAMAGE[damage](spec.out.parent / "made.run" / "checkpoint" / STATE_FILE)
    with pytest.raises(InputFileError, match="damaged"):
        synthesize_to_file(replace(spec, resume=True))
    assert _begun() == {0, 1}
    assert not spec.out.exists()


def test_a_new_run_forgets_the_counts_of_an_older_one(tmp_path, monkeypatch):
    spec = counted_spec(tmp_path)
    _stop(monkeypatch, spec, 1, "saved")
    made = synthesize_to_file(replace(spec, overwrite=True))
    assert any("interrupted run" in warning for warning in made.warnings)
    assert len(Ledger().entries()) == 2
    assert set(_saved(spec)) == set(range(STAGES))
