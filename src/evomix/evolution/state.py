"""What a run knows between rounds: public values only, so all of it may be written down."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import Population
from evomix.core.errors import InputFileError
from evomix.core.release import Draws, NoisyVotes, Release
from evomix.formats.atomic import atomic_write

STATE_FILE = "state.npz"
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
    """

    next_round: int
    parents: Population
    candidates: Population
    release: Release | None
    rng_state: Mapping[str, Any]
    told: tuple[Mapping[str, Any], ...] = ()


def save_state(state: State, folder: Path) -> None:
    """Write ``state`` atomically and durably into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {"parents": _stored(state.parents), "candidates": _stored(state.candidates)}
    header: dict[str, Any] = {
        "next_round": state.next_round,
        "rng_state": state.rng_state,
        "release": None,
        "told": list(state.told),
        "objects": state.candidates.dtype == object,
    }
    release = state.release
    if release is not None and release.prior is not None:
        arrays["prior"] = release.prior
    if isinstance(release, Draws):
        arrays |= {"counts": release.counts, "noise_distribution": release.noise_distribution}
        header["release"] = {"kind": "draws", "mixing_weight": release.mixing_weight, "units": release.units}
    elif isinstance(release, NoisyVotes):
        arrays["votes"] = release.votes
        header["release"] = {"kind": "noisy_votes", "stddev": release.stddev, "units": release.units}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with atomic_write(folder / STATE_FILE) as partial, partial.open("wb") as file:
        np.savez_compressed(file, **arrays)


def load_state(folder: Path) -> State | None:
    """Return the state saved in ``folder``, or ``None`` when no round was saved yet.

    Raises:
        InputFileError: the file is damaged: it cannot be read, or its parts do not belong together.
    """
    path = folder / STATE_FILE
    if not path.exists():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            header = json.loads(arrays["header"].tobytes())
            state = State(
                next_round=header["next_round"],
                parents=_restored(arrays["parents"], objects=bool(header.get("objects"))),
                candidates=_restored(arrays["candidates"], objects=bool(header.get("objects"))),
                release=_load_release(header["release"], arrays),
                rng_state=header["rng_state"],
                told=tuple(map(dict, header["told"])),
            )
            _check(state)
    except Exception as error:
        raise damaged(folder, type(error).__name__) from error
    return state


def _stored(population: Population) -> NDArray[Any]:
    """Return a population as an array without Python objects: those as the bytes of a JSON list."""
    if population.dtype != object:
        return population
    return np.frombuffer(json.dumps(population.tolist()).encode(), np.uint8)


def _restored(stored: NDArray[Any], *, objects: bool) -> Population:
    """Return what :func:`_stored` was given; records of several parts are tuples."""
    if not objects:
        return stored
    records = json.loads(stored.tobytes())
    population = np.empty(len(records), object)
    population[:] = [tuple(record) if isinstance(record, list) else record for record in records]
    return population


def damaged(folder: Path, why: str) -> InputFileError:
    """Return the error about a saved state that a run cannot go on from."""
    return InputFileError(
        f"the checkpoint {folder / STATE_FILE} is damaged ({why}). What the run spent stays spent; "
        "start a new run in another --run-dir"
    )


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
        if told:
            raise ValueError
        return
    sizes = {part.shape for part in _arrays_of(release)}
    if sizes != {(len(state.candidates),)} or not len(state.parents) or type(release.units) is not int:
        raise ValueError
    last = told[-1] if told else {"round": state.next_round - 1}
    stated = [name for name in _OF_A_RELEASE if name in last and hasattr(release, name)]
    if last["round"] != state.next_round - 1 or any(last[name] != getattr(release, name) for name in stated):
        raise ValueError


def _plain(value: Any) -> bool:
    """Return whether a public parameter is a word or a finite number."""
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _arrays_of(release: Release) -> list[Any]:
    """Return the arrays of a release, of which each has an entry for every candidate."""
    own = [release.counts, release.noise_distribution] if isinstance(release, Draws) else [release.votes]
    return own if release.prior is None else [*own, release.prior]


def _load_release(header: Mapping[str, Any] | None, arrays: Mapping[str, Any]) -> Release | None:
    if header is None:
        return None
    prior = arrays["prior"] if "prior" in arrays else None  # noqa: SIM401  (an open archive has no get)
    if header["kind"] == "draws":
        return Draws(arrays["counts"], header["mixing_weight"], arrays["noise_distribution"], header["units"], prior)
    return NoisyVotes(arrays["votes"], header["stddev"], header["units"], prior)
