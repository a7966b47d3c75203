"""The law from which each mechanism draws synthetic rows, simulated from an exact histogram.

Simulation only: the histogram's rows are declared public, the randomness is seeded, and no ledger is charged. The
parameters are those that a private run would use, under replace-one neighbours.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.privacy.adjacency import Adjacency
from evomix.privacy.calibration import mixing_weight
from evomix.privacy.gaussian_accounting import gaussian_stddev
from evomix.privacy.noise_design import design_noise

ADJACENCY: Final = "replace-one"


@dataclass(frozen=True, slots=True)
class Budget:
    """ε, δ and n: what a release may cost, and the number of private rows."""

    epsilon: float
    delta: float
    n: int


@dataclass(frozen=True, slots=True)
class ReleaseLaw:
    """What synthetic rows are drawn from.

    Attributes:
        distribution: float64 (d,).
        parameters: what the mechanism used, as plain values.
    """

    distribution: FloatArray
    parameters: dict[str, Any]

    def draw(self, rows: int, rng: np.random.Generator) -> FloatArray:
        """Return the shares of the cells among ``rows`` independent draws, float64 (d,)."""
        return np.asarray(rng.multinomial(rows, self.distribution) / rows, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Mixture:
    """A mixing mechanism before it meets private rows: β and the noise distribution, from public numbers alone."""

    weight: float
    noise: FloatArray
    parameters: dict[str, Any]

    def law(self, private: FloatArray) -> ReleaseLaw:
        """Return (1−β)·private + β·noise."""
        return ReleaseLaw((1.0 - self.weight) * private + self.weight * self.noise, self.parameters)


def pubmix(public: FloatArray, budget: Budget, *, proximity: float, draws: int) -> Mixture:
    """Return PubMix with the closed-form noise design on ``public``, float64 (d,)."""
    found = design_noise(
        public, proximity=proximity, epsilon=budget.epsilon, delta=budget.delta, n=budget.n, draws=draws
    )
    used = {"mixing_weight": found.mixing_weight, "floor": found.floor, "rule": found.rule}
    return Mixture(found.mixing_weight, found.distribution, used | {"worst_case_tv": found.objective})


def linmix(cells: int, budget: Budget, *, draws: int) -> Mixture:
    """Return LinMix: uniform noise over ``cells``."""
    weight = mixing_weight(budget.epsilon, budget.delta, n=budget.n, draws=draws, floor=1.0 / cells)
    return Mixture(weight, np.full(cells, 1.0 / cells), {"mixing_weight": weight, "floor": 1.0 / cells})


def gaussian(
    private: FloatArray,
    budget: Budget,
    rng: np.random.Generator,
    *,
    thresholded: bool = False,
    adjacency: Adjacency = ADJACENCY,
) -> ReleaseLaw:
    """Return the normalised noisy histogram: Gaussian noise on the count of every cell, negative counts set to 0.

    Args:
        private: float64 (d,) exact shares.
        budget: what it may cost.
        rng: seeded randomness.
        thresholded: also set to 0 what stands below σ√(2 ln d), where noise alone hardly reaches. Not in the
            paper; post-processing, so it costs nothing.
        adjacency: neighbour relation.
    """
    stddev = gaussian_stddev(budget.epsilon, budget.delta, rounds=1, adjacency=adjacency)
    noisy = private * budget.n + rng.normal(0.0, stddev, private.size)
    threshold = stddev * math.sqrt(2.0 * math.log(private.size)) if thresholded else 0.0
    kept = np.where(noisy > threshold, noisy, 0.0)
    total = float(kept.sum())
    law = kept / total if total > 0.0 else np.full(private.size, 1.0 / private.size)
    return ReleaseLaw(law, {"stddev": stddev, "threshold": threshold, "adjacency": adjacency})


def total_variation(p: FloatArray, q: FloatArray) -> float:
    """Return ½ Σ|p − q|."""
    return 0.5 * float(np.abs(p - q).sum())
