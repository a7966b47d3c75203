"""A state comes back as it was saved, be its records numbers or objects."""

from dataclasses import replace

import numpy as np
import pytest

from evomix.core.errors import InputFileError
from evomix.core.release import NoisyVotes
from evomix.evolution.released import Released
from evomix.evolution.state import STATE_FILE, State, forget_state, load_state, save_state

RNG = np.random.default_rng(5).bit_generator.state


def _objects(*records):
    made = np.empty(len(records), object)
    made[:] = list(records)
    return made


def _state(candidates, parents):
    return State(1, parents, candidates, NoisyVotes(np.arange(len(candidates), dtype=float), 1.0, 9), RNG)


@pytest.mark.parametrize(
    "candidates",
    [
        np.arange(6.0).reshape(3, 2),
        _objects((0, "plain"), (1, "caf\u00e9\n\U0001f600"), (2, "\u05e9\u05dc\u05d5\u05dd")),
        _objects("one text", "", "another"),
        _objects((0, "only one")),
    ],
    ids=["numbers", "texts with a class", "texts", "one"],
)
def test_what_was_saved_comes_back(tmp_path, candidates):
    parents = candidates[[0, len(candidates) - 1, 0]]
    save_state(_state(candidates, parents), tmp_path)
    state = load_state(tmp_path)
    assert state.candidates.dtype == candidates.dtype
    assert state.candidates.tolist() == candidates.tolist()
    assert state.parents.tolist() == parents.tolist()
    assert [type(record) for record in state.parents] == [type(record) for record in parents]
    assert state.release.votes.tolist() == list(range(len(candidates)))


def test_before_any_round_there_are_no_records(tmp_path):
    empty = _objects()
    save_state(State(0, empty, empty, None, RNG), tmp_path)
    assert load_state(tmp_path).candidates.shape == (0,)


def test_objects_need_no_pickling_and_damage_is_told(tmp_path):
    save_state(_state(_objects((0, "a"), (0, "b")), _objects((0, "a"))), tmp_path)
    with np.load(tmp_path / STATE_FILE, allow_pickle=False) as arrays:
        kept = {name: arrays[name] for name in arrays.files}
    kept["candidates"] = kept["candidates"][:-3]
    np.savez(tmp_path / STATE_FILE, **kept)
    with pytest.raises(InputFileError, match="damaged"):
        load_state(tmp_path)


def _rounds(*indices, units=9):
    """A state whose last round is the last of ``indices``; earlier ones have other numbers of candidates."""
    kept = [
        Released(index, np.arange(2.0 * (2 + at)).reshape(-1, 2), NoisyVotes(np.arange(2.0 + at), 1.0, units))
        for at, index in enumerate(indices)
    ]
    *earlier, last = kept
    return State(last.index + 1, last.candidates[:1], last.candidates, last.release, RNG, earlier=tuple(earlier))


def _saved(folder, *indices):
    for end in range(1, len(indices) + 1):
        save_state(_rounds(*indices[:end]), folder)


def test_rounds_before_the_last_are_each_written_once(tmp_path):
    _saved(tmp_path, 0, 1)
    first = (tmp_path / "round-0.npz").stat().st_mtime_ns
    save_state(_rounds(0, 1, 3), tmp_path)
    assert (tmp_path / "round-0.npz").stat().st_mtime_ns == first
    found = load_state(tmp_path)
    assert [one.index for one in found.released] == [0, 1, 3]
    for one, same in zip(found.released, _rounds(0, 1, 3).released, strict=True):
        np.testing.assert_array_equal(one.candidates, same.candidates)
        np.testing.assert_array_equal(one.release.votes, same.release.votes)


def test_a_round_file_of_another_run_is_never_taken_up(tmp_path):
    _saved(tmp_path, 0, 1, 2)
    forget_state(tmp_path)
    assert list(tmp_path.iterdir()) == []
    _saved(tmp_path, 0, 1)
    (tmp_path / "round-7.npz").write_bytes(b"of whatever")
    assert [one.index for one in load_state(tmp_path).released] == [0, 1]


@pytest.mark.parametrize(
    "harm", ["missing", "cut", "swapped", "of another round", "of other votes", "of other units", "of other columns"]
)
def test_a_damaged_round_is_told(tmp_path, harm):
    _saved(tmp_path, 0, 1, 2)
    path = tmp_path / "round-1.npz"
    if harm == "missing":
        path.unlink()
    elif harm == "cut":
        path.write_bytes(path.read_bytes()[:-40])
    elif harm == "swapped":
        path.write_bytes((tmp_path / STATE_FILE).read_bytes()[:200])
    elif harm == "of another round":
        path.write_bytes((tmp_path / "round-0.npz").read_bytes())
    elif harm == "of other votes":
        arrays = dict(np.load(path))
        np.savez_compressed(path, **(arrays | {"votes": arrays["votes"] + 1.0}))
    elif harm == "of other units":
        save_state(replace(_rounds(0, 1, 2), earlier=_rounds(0, 1, 2, units=8).earlier), tmp_path)
    else:
        other = Released(1, np.zeros((3, 5)), NoisyVotes(np.zeros(3), 1.0, 9))
        save_state(replace(_rounds(0, 1, 2), earlier=(_rounds(0, 1, 2).earlier[0], other)), tmp_path)
    with pytest.raises(
        InputFileError,
        match=r"state\.npz is damaged" if "units" in harm or "columns" in harm else r"round-1\.npz is damaged",
    ):
        load_state(tmp_path)


def test_rounds_out_of_order_are_damage(tmp_path):
    rounds = _rounds(0, 1, 2)
    _saved(tmp_path, 0, 1, 2)
    save_state(replace(rounds, earlier=rounds.earlier[::-1]), tmp_path)
    with pytest.raises(InputFileError, match="damaged"):
        load_state(tmp_path)
