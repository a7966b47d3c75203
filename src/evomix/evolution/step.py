"""One round of Private Evolution."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import Population
from evomix.core.protocols import Generator, Selection
from evomix.core.release import Release

Privatise = Callable[[int, Population], Release]
"""Answers a round's candidates with a release; the private side lives behind it."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one round did.

    Attributes:
        candidates: (d, …) distinct candidates that were voted on.
        release: the privatised votes.
        parents: (size, …) the selected parents, repeats included.
    """

    candidates: Population
    release: Release
    parents: Population


def distinct(population: Population) -> Population:
    """Return ``population`` without repeats, first occurrences in order."""
    if not population.size:
        return population[:1]  # none, or records without a single cell, which are all the same
    if population.dtype == object:
        return population[sorted(np.unique(population, return_index=True)[1])]
    flat = np.ascontiguousarray(population).reshape(len(population), -1)
    if flat.dtype.kind == "f":
        flat = np.where(np.isnan(flat), np.nan, flat) + 0.0  # one bit pattern for missing and for zero
    rows = flat.view(np.dtype((np.void, flat.dtype.itemsize * flat.shape[1]))).ravel()
    return population[np.sort(np.unique(rows, return_index=True)[1])]


def propose(
    parents: Population, *, generator: Generator, scales: Sequence[float], rng: np.random.Generator
) -> Population:
    """Return the round's candidates: the parents and of each a variation at every one of ``scales``, distinct."""
    varied = [generator.vary(parents, scale, rng) for scale in scales]
    return distinct(np.concatenate([parents, *varied]))


def step(
    round_index: int,
    candidates: Population,
    *,
    privatise: Privatise,
    select: Selection,
    size: int,
    rng: np.random.Generator,
) -> Round:
    """Release the votes for ``candidates`` and select ``size`` parents for the next round."""
    release = privatise(round_index, candidates)
    return Round(candidates, release, candidates[select.parents(release, candidates, size, rng)])
