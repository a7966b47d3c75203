"""What a run knows between rounds: public values only, so all of it may be written down."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evomix.core.arrays import Population
from evomix.core.errors import InputFileError
from evomix.core.release import Draws, NoisyVotes, Release
from evomix.formats.atomic import atomic_write

STATE_FILE = "state.npz"


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
    arrays: dict[str, Any] = {"parents": state.parents, "candidates": state.candidates}
    header: dict[str, Any] = {
        "next_round": state.next_round,
        "rng_state": state.rng_state,
        "release": None,
        "told": list(state.told),
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
        InputFileError: the file is damaged.
    """
    path = folder / STATE_FILE
    if not path.exists():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            header = json.loads(arrays["header"].tobytes())
            return State(
                next_round=int(header["next_round"]),
                parents=arrays["parents"],
                candidates=arrays["candidates"],
                release=_load_release(header["release"], arrays),
                rng_state=header["rng_state"],
                told=tuple(map(dict, header["told"])),
            )
    except Exception as error:
        raise InputFileError(
            f"the checkpoint {path} is damaged ({type(error).__name__}). What the run spent stays spent; "
            "start a new run in another --run-dir"
        ) from error


def _load_release(header: Mapping[str, Any] | None, arrays: Mapping[str, Any]) -> Release | None:
    if header is None:
        return None
    prior = arrays["prior"] if "prior" in arrays else None  # noqa: SIM401  (an open archive has no get)
    if header["kind"] == "draws":
        return Draws(arrays["counts"], header["mixing_weight"], arrays["noise_distribution"], header["units"], prior)
    return NoisyVotes(arrays["votes"], header["stddev"], header["units"], prior)
