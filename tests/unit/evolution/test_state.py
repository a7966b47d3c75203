"""A state comes back as it was saved, be its records numbers or objects."""

import numpy as np
import pytest

from evomix.core.errors import InputFileError
from evomix.core.release import NoisyVotes
from evomix.evolution.state import STATE_FILE, State, load_state, save_state

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
