"""One round of Private Evolution."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import Population, distinct
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


def propose(
    parents: Population, *, generator: Generator, scales: Sequence[float], rng: np.random.Generator, keep: bool = True
) -> Population:
    """Return the round's candidates: of each parent a variation at every one of ``scales``, distinct.

    Args:
        parents: (size, …), repeats included.
        generator: proposes variations.
        scales: how far each variation of a parent goes; may be empty if the parents are kept.
        rng: public randomness.
        keep: whether the parents are candidates too.
    """
    varied = [generator.vary(parents, scale, rng) for scale in scales]
    return distinct(np.concatenate([parents, *varied] if keep else varied))


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
