"""Where W₁ ends with noise, against n and the intrinsic dimension k (Theorem 3.4)."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.reproduction.point_evolution import World, evolve_points, noise_stddev, seeded
from evomix.reproduction.point_generators import SubspaceSteps, ball, subspace
from evomix.reproduction.point_selections import projection
from evomix.transport.wasserstein import wasserstein_cost

ROUNDS: Final = 8
FINEST: Final = 6
RECORDS_PER_POINT: Final = 16
"""n/m. The theory's choice of m balances the noise, σ·m_V^(1−1/k)/n, with the sparsity, m^(−1/k): m ~ n."""


@dataclass(frozen=True, slots=True)
class Floor:
    """Where W₁ ended.

    Attributes:
        dimension: k.
        ambient: d.
        sizes: n of each column.
        distances: W₁ after the last round, float64 (seeds, len(sizes)).
    """

    dimension: int
    ambient: int
    sizes: tuple[int, ...]
    distances: FloatArray

    @property
    def slopes(self) -> FloatArray:
        """Slope of ln W₁ on ln n, for each repetition, float64 (seeds,)."""
        return np.asarray(np.polyfit(np.log(self.sizes), np.log(self.distances).T, 1)[0])

    @property
    def slope(self) -> float:
        """Mean slope."""
        return float(self.slopes.mean())

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(self.slopes.std(ddof=1) / len(self.slopes) ** 0.5)

    @property
    def mean(self) -> FloatArray:
        """Mean W₁ at each n."""
        return np.asarray(self.distances.mean(axis=0))

    @property
    def spread(self) -> FloatArray:
        """Standard deviation of W₁ at each n."""
        return np.asarray(self.distances.std(axis=0, ddof=1))


def noise_floor(dimension: int, ambient: int, *, sizes: tuple[int, ...], seeds: int) -> Floor:
    """Run the theory's algorithm with noise on records uniform in a ball of dimension k, diameter 1."""
    stddev = noise_stddev(ROUNDS)
    found = [[_last_distance(dimension, ambient, n, stddev, seed) for n in sizes] for seed in range(seeds)]
    return Floor(dimension, ambient, sizes, np.array(found))


def _last_distance(dimension: int, ambient: int, n: int, stddev: float, seed: int) -> float:
    rng = seeded(seed, dimension, ambient, n)
    basis, points = subspace(dimension, ambient, rng), max(n // RECORDS_PER_POINT, 2)
    records, start = ball(n, basis, 0.5, rng), ball(points, basis, 0.5, rng)
    steps = SubspaceSteps(basis, tuple(2.0**-level for level in range(FINEST + 1)))
    populations = evolve_points(World(records, start, steps, points, ROUNDS, stddev), projection, rng)
    return wasserstein_cost(records, populations[-1])
