"""What a run knows between rounds: public values only, so all of it may be written down."""

import hashlib
import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from evomix.core.arrays import Population
from evomix.core.errors import InputFileError
from evomix.core.release import Release
from evomix.evolution.released import Released, pack, restored, stored, unpack
from evomix.formats.atomic import atomic_write
from evomix.formats.checkpoints import damaged

STATE_FILE = "state.npz"
_ROUND_FILE: Final = "round-{}.npz"
"""A round that came before the last one, where a run keeps them; written once, as rounds do not change."""
_OF_A_RELEASE: Final = ("mixing_weight", "stddev")
"""Figures of a release that a run may have told of it too."""


@dataclass(frozen=True, slots=True)
class State:
    """The public state after some rounds.

    Attributes:
        next_round: 0-based round to come.
        parents: the current parents, repeats included.
        candidates: candidates of the last round that was released; empty before any.
        release: what that round released; ``None`` before any.
        rng_state: state of the public random generator.
        told: public parameters of each release so far, where a run keeps them.
        earlier: the rounds that were released before the last one, where a run keeps them.
    """

    next_round: int
    parents: Population
    candidates: Population
    release: Release | None
    rng_state: Mapping[str, Any]
    told: tuple[Mapping[str, Any], ...] = ()
    earlier: tuple[Released, ...] = ()

    @property
    def released(self) -> tuple[Released, ...]:
        """The rounds that are kept, the last one too; none before any."""
        if self.release is None:
            return self.earlier
        return (*self.earlier, Released(self.next_round - 1, self.candidates, self.release))


def save_state(state: State, folder: Path) -> None:
    """Write ``state`` atomically and durably into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    if state.earlier:  # those before it were written when it was the last
        before = state.earlier[-1]
        arrays, header = pack(before.candidates, before.release)
        _write(_round_file(folder, before.index), arrays, header)
    arrays, header = pack(state.candidates, state.release)
    arrays["parents"] = stored(state.parents)
    header |= {
        "next_round": state.next_round,
        "rng_state": state.rng_state,
        "told": list(state.told),
        "earlier": [[one.index, _digest(_round_file(folder, one.index).read_bytes())] for one in state.earlier],
    }
    _write(folder / STATE_FILE, arrays, header)


def load_state(folder: Path) -> State | None:
    """Return the state saved in ``folder``, or ``None`` when no round was saved yet.

    Raises:
        InputFileError: a file is damaged: it cannot be read, or its parts do not belong together.
    """
    if not (folder / STATE_FILE).exists():
        return None
    try:
        arrays, header = _parsed((folder / STATE_FILE).read_bytes())
        candidates, release = unpack(arrays, header)
        state = State(
            next_round=header["next_round"],
            parents=restored(arrays["parents"], objects=bool(header.get("objects"))),
            candidates=candidates,
            release=release,
            rng_state=header["rng_state"],
            told=tuple(map(dict, header["told"])),
            earlier=tuple(_earlier(folder, *named) for named in header.get("earlier", [])),
        )
        _check(state)
    except InputFileError:
        raise
    except Exception as error:
        raise damaged(folder / STATE_FILE, type(error).__name__) from error
    return state


def forget_state(folder: Path) -> None:
    """Remove what an earlier run saved in ``folder``."""
    for pattern in (STATE_FILE, _ROUND_FILE.format("*"), f".{_ROUND_FILE.format('*')}.*.partial"):
        for file in folder.glob(pattern):
            file.unlink(missing_ok=True)


def _round_file(folder: Path, index: int) -> Path:
    return folder / _ROUND_FILE.format(int(index))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _earlier(folder: Path, index: int, digest: str) -> Released:
    """Return a round that came before; the state names the content of its file, so that no other is taken for it."""
    path = _round_file(folder, index)
    try:
        content = path.read_bytes()
        if _digest(content) != digest:
            raise ValueError("another content")  # noqa: TRY301  (told as any other damage)
        candidates, release = unpack(*_parsed(content))
    except Exception as error:
        raise damaged(path, type(error).__name__) from error
    if release is None:
        raise damaged(path, "no release")
    return Released(index, candidates, release)


def _write(path: Path, arrays: Mapping[str, Any], header: Mapping[str, Any]) -> None:
    with atomic_write(path) as partial, partial.open("wb") as file:
        np.savez_compressed(file, **arrays, header=np.frombuffer(json.dumps(header).encode(), np.uint8))


def _parsed(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what :func:`_write` wrote; what was hashed is what is read."""
    with np.load(io.BytesIO(content), allow_pickle=False) as kept:
        arrays = {name: kept[name] for name in kept.files}
    return arrays, json.loads(arrays.pop("header").tobytes())


def _check(state: State) -> None:
    """Raise ``ValueError`` unless the parts belong together: a run that goes on releases more before it needs them all.

    Rounds may be missing in what was told: those that were lost.
    """
    release, told = state.release, state.told
    rounds = [state.next_round, *(one["round"] for one in reversed(told))]
    if not all(type(index) is int and index >= 0 for index in rounds) or rounds != sorted(set(rounds), reverse=True):
        raise ValueError
    if not all(_plain(value) for one in told for value in one.values()):
        raise ValueError
    if not state.parents.dtype == state.candidates.dtype or state.parents.shape[1:] != state.candidates.shape[1:]:
        raise ValueError
    generator = np.random.default_rng(0)
    generator.bit_generator.state = dict(state.rng_state)  # raises what NumPy does if it is none
    if generator.bit_generator.state != state.rng_state:
        raise ValueError
    if release is None:
        if told or state.earlier:
            raise ValueError
        return
    if not len(state.parents) or not all(one.whole for one in state.released):
        raise ValueError
    kept = [one.index for one in state.released]
    alike = all(one.candidates.shape[1:] == state.candidates.shape[1:] for one in state.earlier)
    if kept != sorted(set(kept)) or kept[0] < 0 or not alike or len({one.release.units for one in state.released}) > 1:
        raise ValueError
    last = told[-1] if told else {"round": state.next_round - 1}
    stated = [name for name in _OF_A_RELEASE if name in last and hasattr(release, name)]
    if last["round"] != state.next_round - 1 or any(last[name] != getattr(release, name) for name in stated):
        raise ValueError


def _plain(value: Any) -> bool:
    """Return whether a public parameter is a word or a finite number."""
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
