"""Private Evolution on points, as the theory states it: vary, vote, add noise, select.

A simulation on made-up records with seeded randomness: no ledger is charged and nothing is private. The loop of the
product (:mod:`evomix.evolution.loop`) gives every round one scale of variation and a population of fixed size; the
theory varies every point at many scales and keeps *at most* m distinct points, so it has a loop of its own here.
Source: "Understanding Private Evolution as Learning-Augmented Clustering" (2026), section 2.1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray, distinct
from evomix.neighbors.vectors import VectorIndex
from evomix.privacy.gaussian_accounting import gaussian_stddev
from evomix.reproduction.point_selections import PointSelection

EPSILON: Final = 4.0
DELTA: Final = 1e-6
ADJACENCY: Final = "replace-one"

Vary = Callable[[FloatArray, np.random.Generator], FloatArray]
"""From parents (p, g) to candidates (c, g), the parents among them and first."""

Place = Callable[[FloatArray], FloatArray]
"""From points as the generator holds them, (p, g), to where distances are taken, (p, k)."""


def where_they_are(points: FloatArray) -> FloatArray:
    """Return ``points``: the generator moves in the space in which distances are taken."""
    return points


@dataclass(frozen=True, slots=True)
class World:
    """What a run is about.

    Attributes:
        records: float64 (n, k), the private records, where distances are taken.
        start: float64 (m₀, g), the first population.
        vary: the generator.
        size: m, most points that a round keeps.
        rounds: T.
        stddev: σ of the Gaussian noise on every count; 0 for none.
        place: where the generator's points lie.
    """

    records: FloatArray
    start: FloatArray
    vary: Vary
    size: int
    rounds: int
    stddev: float = 0.0
    place: Place = where_they_are


def evolve_points(world: World, select: PointSelection, rng: np.random.Generator) -> tuple[FloatArray, ...]:
    """Return the populations before round 0 and after each round, T + 1 arrays (≤ m, g), repeats included."""
    populations = [world.start]
    for _ in range(world.rounds):
        candidates = np.asarray(distinct(world.vary(populations[-1], rng)), dtype=np.float64)
        points = world.place(candidates)
        votes = count_votes(points, world.records) + rng.normal(0.0, world.stddev, len(points))
        units = len(world.records)
        kept = select(points, votes, size=world.size, units=units, stddev=world.stddev, rng=rng)
        populations.append(candidates[kept])
    return tuple(populations)


def count_votes(points: FloatArray, records: FloatArray) -> FloatArray:
    """Return how many ``records`` (n, k) have each of ``points`` (c, k) as their nearest, float64 (c,)."""
    nearest: IntArray = VectorIndex(points).nearest(records)[:, 0]
    return np.bincount(nearest, minlength=len(points)).astype(np.float64)


def noise_stddev(rounds: int, *, epsilon: float = EPSILON, delta: float = DELTA) -> float:
    """Return σ, in votes, of Gaussian noise on ``rounds`` histograms that cost (ε, δ) together, replace-one."""
    return gaussian_stddev(epsilon, delta, rounds=rounds, adjacency=ADJACENCY)


def budget_settings(rounds: int, *, epsilon: float = EPSILON, delta: float = DELTA) -> dict[str, Any]:
    """Return ε, δ, the neighbour relation and the noise, as plain values for a figure's settings."""
    return {
        "epsilon": epsilon,
        "delta": delta,
        "adjacency": ADJACENCY,
        "rounds": rounds,
        "noise_stddev": noise_stddev(rounds, epsilon=epsilon, delta=delta),
    }


def seeded(*key: int) -> np.random.Generator:
    """Return the randomness of one repetition of one part of a figure."""
    return np.random.default_rng(key)
