"""Laplace histogram: discrete Laplace noise on every candidate's votes.

Proof: docs/proofs/laplace.md. Source: Ghosh, Roughgarden, Sundararajan (2012); Kairouz, Oh, Viswanath (2015).
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from evomix.core.arrays import IntArray
from evomix.core.release import NoisyVotes
from evomix.privacy.adjacency import LATTICE, l1_sensitivity
from evomix.privacy.laplace_accounting import laplace_scale
from evomix.privacy.lattice_noise import add_laplace


@dataclass(frozen=True, slots=True)
class LaplaceHistogram:
    """Votes plus discrete Laplace noise, for a fixed number of rounds.

    Attributes:
        scale: b of the noise on a candidate's votes, in units (standard deviation about √2·b).
        rounds: number of releases that are accounted for.
        units: n.
        epsilon, delta: what all rounds spend together (replace-one, ℓ1 sensitivity 2).
    """

    name: ClassVar[str] = "laplace"
    scale: float
    rounds: int
    units: int
    epsilon: float
    delta: float

    @classmethod
    def calibrate(cls, epsilon: float, delta: float, *, units: int, rounds: int) -> "LaplaceHistogram":
        """Return the mechanism with the least noise that meets (ε, δ) over ``rounds`` rounds."""
        scale = laplace_scale(epsilon, delta, rounds=rounds, adjacency="replace-one")
        return cls(scale, rounds, units, epsilon, delta)

    def privatise(self, votes: IntArray) -> NoisyVotes:
        """Return the round's release; ``votes`` is int64 (d,) in micro-votes."""
        noisy = add_laplace(votes, scale=self.scale)
        return NoisyVotes(noisy / LATTICE, self.scale * math.sqrt(2.0), self.units)

    def describe(self) -> dict[str, Any]:
        """Return the public parameters for privacy.json."""
        sensitivity = l1_sensitivity("replace-one")
        return {
            "scale": self.scale,
            "noise_multiplier": self.scale / sensitivity,
            "sensitivity": sensitivity,
            "sensitivity_norm": "l1",
        }
