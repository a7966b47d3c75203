"""What was counted comes back as it was saved, or not at all."""

import json

import numpy as np
import pytest

from evomix.core.errors import InputFileError
from evomix.core.release import NoisyVotes
from evomix.marginals.checkpoint import Counted, load_counts, save_counts

COUNTED = {
    0: Counted("a" * 64, NoisyVotes(np.array([1.5, -2.0, 3.0]), 0.1, 7)),
    2: Counted("b" * 64, NoisyVotes(np.array([2.0**-20]), 1e-12, 7)),
}


def test_stages_come_back_as_they_were(tmp_path):
    path = tmp_path / "checkpoint" / "state.npz"
    save_counts(COUNTED, path)
    found = load_counts(path)
    assert found.keys() == COUNTED.keys()
    for stage, one in COUNTED.items():
        assert found[stage].digest == one.digest
        assert found[stage].release.votes.tobytes() == one.release.votes.tobytes()
        assert (found[stage].release.stddev, found[stage].release.units) == (one.release.stddev, one.release.units)
    assert [path.name] == [file.name for file in path.parent.iterdir()]


def test_no_file_and_no_stage(tmp_path):
    assert load_counts(tmp_path / "none.npz") == {}
    save_counts({}, tmp_path / "empty.npz")
    assert load_counts(tmp_path / "empty.npz") == {}


def test_what_is_saved_replaces_what_was(tmp_path):
    path = tmp_path / "state.npz"
    save_counts(COUNTED, path)
    save_counts({0: COUNTED[0]}, path)
    assert load_counts(path).keys() == {0}


def _arrays(path, **changes):
    with np.load(path) as saved:
        arrays = dict(saved) | changes
    np.savez_compressed(path, **{name: array for name, array in arrays.items() if array is not None})


def _header(change):
    def spoil(path):
        with np.load(path) as saved:
            header = json.loads(saved["counts"].tobytes())
        change(header)
        _arrays(path, counts=np.frombuffer(json.dumps(header).encode(), np.uint8))

    return spoil


DAMAGE = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "empty": lambda path: path.write_bytes(b""),
    "no archive": lambda path: path.write_text("counts"),
    "a state of votes": lambda path: np.savez_compressed(path, header=np.zeros(3, np.uint8)),
    "no header": lambda path: _arrays(path, counts=None),
    "a header that is a list": lambda path: _arrays(path, counts=np.frombuffer(b"[1]", np.uint8)),
    "a stage without its votes": lambda path: _arrays(path, votes_2=None),
    "votes of another type": lambda path: _arrays(path, votes_0=np.array([1, 2, 3])),
    "a matrix": lambda path: _arrays(path, votes_0=np.ones((2, 2))),
    "votes that are no numbers": lambda path: _arrays(path, votes_0=np.array([1.0, np.nan, 2.0])),
    "infinite votes": lambda path: _arrays(path, votes_0=np.array([1.0, np.inf, 2.0])),
    "objects": lambda path: _arrays(path, votes_0=np.array([None, 1], object)),
    "no units": _header(lambda header: header["0"].update(units=None)),
    "half a unit": _header(lambda header: header["0"].update(units=6.5)),
    "negative noise": _header(lambda header: header["0"].update(stddev=-1.0)),
    "noise that is no number": _header(lambda header: header["0"].update(stddev="much")),
    "no digest": _header(lambda header: header["0"].pop("digest")),
    "a stage without a number": _header(lambda header: header.update({"x": header.pop("0")})),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_refused(tmp_path, damage):
    path = tmp_path / "state.npz"
    save_counts(COUNTED, path)
    DAMAGE[damage](path)
    with pytest.raises(InputFileError, match=r"damaged .*stays spent"):
        load_counts(path)
