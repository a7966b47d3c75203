"""Which directions matter: from the record that would get a target's vote to that target."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.neighbors.vectors import VectorIndex

Vectors = Callable[[Population], NDArray[np.floating[Any]]]
"""Gives a population's points, floats (n, k), whose Euclidean distance is that of the votes. Points of two calls need
not be comparable, so what is compared is embedded in one call."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Records that are varied together, and the targets that some of them serve.

    Attributes:
        population: (m, …) the parents of a round; a variation may mix two of them.
        parents: int64 (p,), position of y.
        targets: (p, …), x.
    """

    population: Population
    parents: IntArray
    targets: Population


def serving(population: Population, targets: Population, vectors: Vectors) -> Pairs:
    """Return each target with its nearest record of the population, without targets that were found exactly."""
    positions, distances = nearest(population, targets, vectors)
    apart = distances > 0.0
    return Pairs(population, positions[apart], targets[apart])


def nearest(candidates: Population, targets: Population, vectors: Vectors) -> tuple[IntArray, FloatArray]:
    """Return for each target the position of its nearest candidate, int64 (n,), and their distance, float64 (n,)."""
    points = np.asarray(vectors(np.concatenate([targets, candidates])))
    ours, theirs = points[: len(targets)], points[len(targets) :]
    positions = VectorIndex(theirs).nearest(ours)[:, 0]
    gaps = ours.astype(np.float64) - theirs[positions]
    return positions, np.linalg.norm(gaps, axis=1)
