"""Two clusters of made-up records in the plane, and what becomes of them under a selection (GAPE Example 4.1)."""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.reproduction.figure import Request
from evomix.reproduction.point_clusters import SEPARATION, clustered, near
from evomix.reproduction.point_evolution import World, budget_settings, evolve_points, seeded
from evomix.reproduction.point_selections import SELECTIONS

N: Final = 1000
MAJORITY: Final = 0.7
SIZE: Final = 3
VARIATIONS: Final = 2
ROUNDS: Final = 10
SCALE: Final = 0.25
"""s of a variation, in diameters of a cluster; a variation cannot cross from one cluster to the other."""


@dataclass(frozen=True, slots=True)
class Fates:
    """What became of the clusters, by repetition.

    Attributes:
        rounds: for each repetition, the number of rounds after which both clusters still had a point within R/8.
        lost_first: for each repetition, whether the minority had none after round 1.
        lost_last: for each repetition, whether the minority had none after the last round.
        gap: mean distance of a record of the majority to the nearest point after the last round, over the
            repetitions that still have a point there; NaN if none has.
    """

    rounds: tuple[int, ...]
    lost_first: tuple[bool, ...]
    lost_last: tuple[bool, ...]
    gap: float

    @property
    def kept(self) -> float:
        """Share of repetitions in which every round kept both clusters."""
        return self.kept_until(ROUNDS)

    @property
    def lost(self) -> float:
        """Share of repetitions that ended without the minority."""
        return float(np.mean(self.lost_last))

    @property
    def lost_at_once(self) -> float:
        """Share of repetitions that lost the minority in round 1."""
        return float(np.mean(self.lost_first))

    def kept_until(self, rounds: int) -> float:
        """Return the share of repetitions in which the first ``rounds`` rounds kept both clusters."""
        return float(np.mean([kept >= rounds for kept in self.rounds]))


def two_clusters(*, stddev: float, seed: int, n: int = N, scale: float = SCALE) -> World:
    """Return discs with 70 % and 30 % of ``n`` records, with two and one random points of them to begin with."""
    sizes = (round(MAJORITY * n), n - round(MAJORITY * n))
    scales = (scale,) * VARIATIONS
    return clustered(sizes, (2, 1), scales=scales, size=SIZE, rounds=ROUNDS, stddev=stddev, seed=seed)


def fates(name: str, *, stddev: float, seeds: int, n: int = N, scale: float = SCALE) -> Fates:
    """Run a selection, by its name, on every seed; all selections meet the same records and starts."""
    rounds, first, last, gaps = [], [], [], []
    for seed in range(seeds):
        world = two_clusters(stddev=stddev, seed=seed, n=n, scale=scale)
        populations = evolve_points(world, SELECTIONS[name], seeded(seed, 1))
        found = np.array([near(points, 2) for points in populations[1:]])
        both = found.all(axis=1)
        rounds.append(ROUNDS if both.all() else int(both.argmin()))
        first.append(not found[0, 1])
        last.append(not found[-1, 1])
        if found[-1, 0]:
            gaps.append(_gap(world.records[: round(MAJORITY * n)], populations[-1]))
    return Fates(tuple(rounds), tuple(first), tuple(last), float(np.mean(gaps)) if gaps else math.nan)


def settings(request: Request) -> dict[str, Any]:
    """Return what was fixed beforehand, as plain values."""
    return budget_settings(ROUNDS) | {
        "n": N,
        "majority": MAJORITY,
        "points": SIZE,
        "variations": VARIATIONS,
        "scale_in_diameters": SCALE,
        "separation_in_diameters": SEPARATION,
        "near": "within R/8 of the cluster's disc",
        "seeds": request.seeds,
        "quick": request.quick,
    }


def _gap(records: FloatArray, points: FloatArray) -> float:
    return float(np.linalg.norm(records[:, None] - points, axis=2).min(axis=1).mean())
