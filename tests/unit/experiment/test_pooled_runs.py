"""Runs whose rows are made of all releases together."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from experiment_tables import NARROW, SCHEMA, TINY, jobs, people

import evomix
from evomix.core.errors import SpecError
from evomix.evolution.state import load_state
from evomix.experiment.engine import run
from evomix.experiment.spec import RunSpec
from evomix.privacy.randomness import SeededSource


def _spec(tmp_path, **settings):
    given = {"private": people(1500), "schema": SCHEMA, "epsilon": 4.0, "seed": 3, "rows": 1500}
    return RunSpec(ledger=tmp_path / f"{len(list(tmp_path.iterdir()))}.sqlite", **(given | settings))


def _made(tmp_path, *, seed=0, folder=None, **settings):
    return run(_spec(tmp_path, **settings), folder=folder, source=SeededSource(seed))


SQUARE = {"columns": [{"name": name, "type": "integer", "min": 0, "max": 99} for name in ("x", "y")]}


def _diagonal(rows):
    """Points near the diagonal of a square, evenly along it."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, rows)
    return pa.table({"x": x, "y": np.clip(x + rng.integers(-3, 4, rows), 0, 99)})


def _uneven(points):
    """Total variation of x from what is even, in tenths."""
    return np.abs(np.bincount(points[:, 0].astype(int) // 10, minlength=10) / len(points) - 0.1).sum() / 2


def test_all_rounds_together_come_nearer_than_the_last(tmp_path):
    settings = {"private": _diagonal(1500), "schema": SQUARE, "mechanism": "linmix", "epsilon": 1.0}
    off = {}
    for denoising in ("signed", "pooled"):
        runs = [
            _made(tmp_path, seed=seed, denoising=denoising, rounds=16, candidates=100, **settings) for seed in range(6)
        ]
        made = [run.sample(1500, 0) for run in runs]
        off[denoising] = np.mean([_uneven(points) for points in made])
        assert np.mean([np.abs(points[:, 0] - points[:, 1]).mean() for points in made]) < 8.0  # 33 if unrelated
    assert off["pooled"] < 0.5 * off["signed"]  # measured: 0.28 times


@pytest.mark.parametrize(
    ("settings", "denoising"),
    [
        ({}, "pooled"),
        ({"selection": "rank"}, "pooled"),
        ({"mechanism": "gaussian"}, "pooled"),
        ({"mechanism": "linmix,gaussian,laplace"}, "pooled"),
        ({"mechanism": "linmix,gaussian", "accounting": "renyi"}, "pooled"),
        ({"selection": "gape", "rounds": 2}, "signed"),
        ({"selection": "projection", "rounds": 2}, "signed"),
        ({"preset": "pe", "rounds": 2}, "none"),
        ({"denoising": "bayes", "rounds": 2}, "bayes"),
        ({"rounds": 1}, "signed"),
        ({"rounds": 1, "public": people(300, seed=1)}, "shrunk"),
        ({"public": people(300, seed=1)}, "pooled"),
    ],
    ids=str,
)
def test_what_pools_says_so_and_makes_rows_of_every_round(tmp_path, settings, denoising):
    finished = _made(tmp_path, **({"method": "votes", "candidates": 40, "rows": 300} | settings))
    assert finished.privacy["denoising"] == denoising
    assert (finished.pooled is not None) == (denoising == "pooled")
    if finished.pooled is not None:
        rounds = [one.candidates for one in finished.state.released]
        assert len(rounds) == finished.design.plan.rounds
        assert max(map(len, rounds)) < len(finished.pooled.candidates) <= sum(map(len, rounds))  # none twice
        assert finished.pooled.shares.sum() == pytest.approx(1.0)
    assert finished.sample(300, 1).shape == (300, 3)


def test_sampling_again_makes_other_rows_of_the_same_law(tmp_path):
    finished = _made(tmp_path, method="votes", candidates=40)
    first, again, other = finished.sample(400, 1), finished.sample(400, 1), finished.sample(400, 2)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other, equal_nan=True)


def test_few_possible_records_are_not_lost_in_later_rounds(tmp_path):
    """Later rounds ask about some of them only; what the first said of the others is still known."""
    private = jobs(3000, values=("a", "a", "a", "b", "b", "c"))
    finished = _made(tmp_path, private=private, schema=TINY, rounds=2, epsilon=20.0)
    codes = finished.sample(3000, 0)[:, 0].astype(int)
    assert np.abs(np.bincount(codes, minlength=3) / 3000 - np.array([3, 2, 1]) / 6).sum() < 0.05


def test_a_narrow_domain_is_pooled_without_repeats(tmp_path):
    private = pa.table({"x": np.arange(2000) % 10, "y": np.arange(2000) // 10 % 10})
    finished = _made(tmp_path, private=private, schema=NARROW, rounds=4, mechanism="gaussian", epsilon=8.0)
    assert len(finished.pooled.candidates) <= 100
    assert finished.pooled.shares.max() < 0.1  # every record is as frequent as any other


def test_nobody_and_one_person_are_no_exception(tmp_path):
    for private in (people(0), people(1)):
        finished = _made(tmp_path, private=private, public=people(200, seed=1), rounds=3, candidates=20)
        assert len(finished.sample(50, 0)) == 50


def test_texts_cannot_be_pooled(tmp_path):
    texts = pa.table({"text": ["one", "two", "three"] * 20})
    with pytest.raises(SpecError, match="columns of a table"):
        evomix.synthesize(
            texts,
            public=pa.table({"text": ["a public text", "another one"]}),
            text_column="text",
            generator="recombine",
            epsilon=1.0,
            denoising="pooled",
            ledger=tmp_path / "l.sqlite",
        )


def _stopped(tmp_path, monkeypatch, before, **settings):
    """Return the folder and the spec of a run that was killed within a round, so that this round is lost."""
    from evomix.curator.curator import Curator

    release = Curator.release
    folder, spec = tmp_path / "part", _spec(tmp_path, method="votes", candidates=40, **settings)

    def interrupted(self, index, *args, **more):
        made = release(self, index, *args, **more)
        if index == before:
            raise KeyboardInterrupt
        return made

    monkeypatch.setattr(Curator, "release", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(spec, folder=folder, source=SeededSource(0))
    monkeypatch.setattr(Curator, "release", release)
    return folder, replace(spec, resume=True)


def test_rounds_that_were_lost_are_told(tmp_path, monkeypatch):
    folder, spec = _stopped(tmp_path, monkeypatch, 2, rounds=5)
    resumed = run(spec, folder=folder, source=SeededSource(1))
    assert [one.index for one in resumed.state.released] == [0, 1, 3, 4]
    assert any("4 of 5 rounds are left" in warning for warning in resumed.warnings)
    assert resumed.privacy["denoising"] == "pooled"


@pytest.mark.parametrize(("public", "denoising"), [(None, "signed"), (people(300, seed=1), "shrunk")])
def test_the_only_round_that_is_left_stands_alone_and_the_record_says_so(tmp_path, monkeypatch, public, denoising):
    folder, spec = _stopped(tmp_path, monkeypatch, 1, rounds=2, public=public)
    resumed = run(spec, folder=folder, source=SeededSource(1))
    assert [one.index for one in resumed.state.released] == [0]
    assert (resumed.privacy["denoising"], resumed.pooled) == (denoising, None)
    assert len(resumed.sample(50, 0)) == 50


def test_a_dry_run_says_what_one_round_does():
    from evomix.experiment.run import dry_run

    for rounds, denoising in ((1, "signed"), (3, "pooled")):
        spec = RunSpec(private=people(200), schema=SCHEMA, epsilon=1.0, rounds=rounds, candidates=30)
        assert dry_run(spec)["denoising"] == denoising


def test_more_rounds_than_can_be_read_together_are_refused_before_anything_is_charged(tmp_path):
    huge = {"method": "votes", "mechanism": "gaussian", "rounds": 200, "candidates": 100_000}
    with pytest.raises(SpecError, match="read together"):
        _made(tmp_path, **huge)
    assert not list(tmp_path.iterdir())


def test_a_round_of_another_kind_is_no_round_of_this_run(tmp_path, monkeypatch):
    from evomix.core.errors import InputFileError
    from evomix.core.release import NoisyVotes
    from evomix.evolution import state as states

    folder, spec = _stopped(tmp_path, monkeypatch, 3, rounds=5, mechanism="linmix")
    kept = load_state(folder / "checkpoint")
    first = kept.earlier[0]
    votes = NoisyVotes(np.ones(len(first.candidates)), 1.0, first.release.units)
    other = replace(kept, earlier=(replace(first, release=votes),))
    states.save_state(other, folder / "checkpoint")
    with pytest.raises(InputFileError, match="not of this run"):
        run(spec, folder=folder, source=SeededSource(1))


def test_a_resumed_run_pools_what_the_first_part_released(tmp_path, monkeypatch):
    from evomix.curator.curator import Curator

    whole = _made(tmp_path, folder=tmp_path / "whole", method="votes", candidates=40, rounds=5)
    release = Curator.release

    def interrupted(self, index, *args, **more):
        if index == 3:
            raise KeyboardInterrupt
        return release(self, index, *args, **more)

    monkeypatch.setattr(Curator, "release", interrupted)
    folder, spec = tmp_path / "part", _spec(tmp_path, method="votes", candidates=40, rounds=5)
    with pytest.raises(KeyboardInterrupt):
        run(spec, folder=folder, source=SeededSource(0))
    monkeypatch.setattr(Curator, "release", release)
    kept = [one.index for one in load_state(folder / "checkpoint").released]
    assert kept == [0, 1, 2]
    resumed = run(replace(spec, resume=True), folder=folder, source=SeededSource(1))
    assert [one.index for one in resumed.state.released] == [0, 1, 2, 3, 4]
    for index in range(3):
        np.testing.assert_array_equal(resumed.state.released[index].candidates, whole.state.released[index].candidates)
    assert json.loads(json.dumps(resumed.privacy))["begun_rounds"] == [0, 1, 2, 3, 4]
