"""A round that was released, and how it is written into a file of arrays; public values only."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import Population
from evomix.core.release import Draws, NoisyVotes, Release


@dataclass(frozen=True, slots=True)
class Released:
    """What was asked and answered in one round.

    Attributes:
        index: 0-based round.
        candidates: (d, …) distinct candidates that were voted on.
        release: the privatised votes.
    """

    index: int
    candidates: Population
    release: Release

    @property
    def whole(self) -> bool:
        """Whether the release has an entry for every candidate, and a number of units."""
        one = self.release
        arrays = [one.counts, one.noise_distribution] if isinstance(one, Draws) else [one.votes]
        arrays += [] if one.prior is None else [one.prior]
        return {part.shape for part in arrays} == {(len(self.candidates),)} and type(one.units) is int


def pack(candidates: Population, release: Release | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return candidates and what was released of them as arrays and plain values."""
    arrays: dict[str, Any] = {"candidates": stored(candidates)}
    header: dict[str, Any] = {"release": None, "objects": candidates.dtype == object}
    if release is not None and release.prior is not None:
        arrays["prior"] = release.prior
    if isinstance(release, Draws):
        arrays |= {"counts": release.counts, "noise_distribution": release.noise_distribution}
        header["release"] = {"kind": "draws", "mixing_weight": release.mixing_weight, "units": release.units}
    elif isinstance(release, NoisyVotes):
        arrays["votes"] = release.votes
        header["release"] = {"kind": "noisy_votes", "stddev": release.stddev, "units": release.units}
    return arrays, header


def unpack(arrays: Mapping[str, Any], header: Mapping[str, Any]) -> tuple[Population, Release | None]:
    """Return what :func:`pack` was given."""
    candidates = restored(arrays["candidates"], objects=bool(header.get("objects")))
    release, prior = header["release"], arrays.get("prior")
    if release is None:
        return candidates, None
    if release["kind"] == "draws":
        weight, noise = release["mixing_weight"], arrays["noise_distribution"]
        return candidates, Draws(arrays["counts"], weight, noise, release["units"], prior)
    return candidates, NoisyVotes(arrays["votes"], release["stddev"], release["units"], prior)


def stored(population: Population) -> NDArray[Any]:
    """Return a population as an array without Python objects: those as the bytes of a JSON list."""
    if population.dtype != object:
        return population
    return np.frombuffer(json.dumps(population.tolist()).encode(), np.uint8)


def restored(array: NDArray[Any], *, objects: bool) -> Population:
    """Return what :func:`stored` was given; records of several parts are tuples."""
    if not objects:
        return array
    records = json.loads(array.tobytes())
    population = np.empty(len(records), object)
    population[:] = [tuple(record) if isinstance(record, list) else record for record in records]
    return population
