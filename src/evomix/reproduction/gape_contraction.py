"""How fast W₁ falls a round without noise, against the effective rank λ and the ambient dimension d (Theorem 3.4)."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.reproduction.point_evolution import World, evolve_points, seeded
from evomix.reproduction.point_generators import SubspaceSteps, ball, subspace
from evomix.reproduction.point_selections import subsample_evenly
from evomix.transport.wasserstein import wasserstein_cost

SITES: Final = 8
"""Records, and points: every record can have a point of its own, so nothing is lost by sparsity."""
FINEST: Final = 20
"""ℓ*: the smallest scale is 2^−ℓ*, of a space of diameter 1."""
_FLOOR: Final = 8.0 * 2.0**-FINEST
"""Below it the smallest scale shows, and the rate is no longer that of the theorem."""
ANTI_CONCENTRATION: Final = 0.1855
"""c of the theory for a normal step: a standard normal variable is at least √c with probability 1/3."""


@dataclass(frozen=True, slots=True)
class Contraction:
    """How fast W₁ fell.

    Attributes:
        rank: λ.
        dimension: d.
        rates: for each repetition, −ln of the factor by which W₁ fell a round, float64 (seeds,).
    """

    rank: int
    dimension: int
    rates: FloatArray

    @property
    def rate(self) -> float:
        """Mean rate."""
        return float(self.rates.mean())

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(self.rates.std(ddof=1) / len(self.rates) ** 0.5)

    @property
    def promised(self) -> float:
        """The rate that the theory promises, −ln(1 − c/200λ)."""
        return -float(np.log1p(-ANTI_CONCENTRATION / (200.0 * self.rank)))


def contraction(rank: int, dimension: int, *, rounds: int, seeds: int) -> Contraction:
    """Run the theory's algorithm without noise on a few records within a random subspace of rank λ.

    Without noise the bounded-Lipschitz projection is the votes themselves.
    """
    rates = []
    for seed in range(seeds):
        rng = seeded(seed, rank, dimension)
        basis = subspace(rank, dimension, rng)
        records, start = ball(SITES, basis, 0.5, rng), ball(SITES, basis, 0.5, rng)
        steps = SubspaceSteps(basis, tuple(2.0**-level for level in range(FINEST + 1)))
        populations = evolve_points(World(records, start, steps, SITES, rounds), subsample_evenly, rng)
        distances = np.array([wasserstein_cost(records, points) for points in populations])
        rates.append(_rate(distances))
    return Contraction(rank, dimension, np.array(rates))


def _rate(distances: FloatArray) -> float:
    """Return the slope of −ln W₁, by least squares over the rounds before the smallest scale shows."""
    below = np.flatnonzero(distances < _FLOOR)
    last = int(below[0]) if below.size else len(distances) - 1
    # In the first round records share points, which the theorem's bound does not see; one rate is taken from then on.
    first = min(1, last - 1)
    kept = np.arange(first, last + 1)
    return -float(np.polyfit(kept, np.log(distances[kept]), 1)[0])
