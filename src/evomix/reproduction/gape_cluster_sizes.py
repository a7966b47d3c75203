"""How small a cluster a selection keeps (Theorem 4.2): the smallest size against n, and twenty unequal clusters."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evomix.reproduction.point_clusters import clustered, near
from evomix.reproduction.point_evolution import evolve_points, noise_stddev, seeded
from evomix.reproduction.point_selections import SELECTIONS

ROUNDS: Final = 10
SCALES: Final = (0.5, 0.25, 0.125)
"""s of the variations of a point, in diameters of a cluster."""
ENOUGH: Final = 0.95
STEP: Final = 2.0**0.25
"""Ratio of neighbouring sizes that are tried."""


def points_of(n: int) -> int:
    """Return m = √n, the theorem's choice but for constants and logarithms."""
    return round(math.sqrt(n))


@dataclass(frozen=True, slots=True)
class Kept:
    """How often clusters were kept in all rounds.

    Attributes:
        all_kept: share of repetitions in which no cluster was lost.
        by_cluster: share of repetitions that kept each cluster, in the order of their sizes.
    """

    all_kept: float
    by_cluster: tuple[float, ...]


def kept(name: str, sizes: tuple[int, ...], *, seeds: int) -> Kept:
    """Run a selection, by its name, on clusters of these sizes, once for every seed."""
    table = np.array([_survivors(name, sizes, seed) for seed in range(seeds)])
    return Kept(float(table.all(axis=1).mean()), tuple(table.mean(axis=0).tolist()))


def kept_often(name: str, sizes: tuple[int, ...], *, seeds: int) -> bool:
    """Return whether no cluster is lost in at least 95 % of the seeds; ends early where that cannot be any more."""
    allowed = math.floor((1.0 - ENOUGH) * seeds + 1e-9)
    lost = 0
    for seed in range(seeds):
        lost += not _survivors(name, sizes, seed).all()
        if lost > allowed:
            return False
    return True


def smallest_kept(name: str, n: int, *, seeds: int) -> int:
    """Return the smallest size, on a geometric grid up to n/2, that is kept beside one large cluster often enough.

    By bisection, so it takes for granted that larger clusters are kept no less often.
    """
    grid = _grid(n)
    low, high = -1, len(grid) - 1  # the half of all records counts as kept: it is no minority
    while high - low > 1:
        middle = (low + high) // 2
        enough = kept_often(name, (n - grid[middle], grid[middle]), seeds=seeds)
        low, high = (low, middle) if enough else (middle, high)
    return grid[high]


def _survivors(name: str, sizes: tuple[int, ...], seed: int) -> NDArray[np.bool_]:
    """Return which clusters had a point after every round, bool (clusters,).

    The start has equally many points in every cluster: it knows the clusters and not their sizes. So a small one's
    votes are diluted over as many candidates as a large one's, which is what the theorem must provide for.
    """
    points = points_of(sum(sizes))
    starts = [max(points // len(sizes), 1)] * len(sizes)
    world = clustered(sizes, starts, scales=SCALES, size=points, rounds=ROUNDS, stddev=noise_stddev(ROUNDS), seed=seed)
    populations = evolve_points(world, SELECTIONS[name], seeded(seed, 1))
    return np.asarray(np.all([near(population, len(sizes)) for population in populations[1:]], axis=0))


def _grid(n: int) -> tuple[int, ...]:
    exponents = range(4, int(np.floor(np.log(n / 2.0) / np.log(STEP))) + 1)
    return tuple(sorted({round(STEP**k) for k in exponents} | {n // 2}))


def geometric_sizes(n: int, clusters: int, smallest: int) -> tuple[int, ...]:
    """Return sizes in geometric progression from ``smallest`` up that sum to ``n``, ascending."""
    low, high = 1.0, 10.0
    for _ in range(200):
        ratio = (low + high) / 2.0
        total = smallest * sum(ratio**k for k in range(clusters))
        low, high = (ratio, high) if total < n else (low, ratio)
    sizes = [round(smallest * low**k) for k in range(clusters)]
    sizes[-1] += n - sum(sizes)
    return tuple(sizes)
