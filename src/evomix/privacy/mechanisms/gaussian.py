"""Gaussian histogram: discrete Gaussian noise on every candidate's votes.

Proof: docs/proofs/gaussian.md. Source: Balle & Wang (2018); Canonne, Kamath, Steinke (2020).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from evomix.core.arrays import IntArray
from evomix.core.release import NoisyVotes
from evomix.privacy.adjacency import LATTICE, l2_sensitivity
from evomix.privacy.gaussian_accounting import gaussian_stddev
from evomix.privacy.lattice_noise import add_gaussian


@dataclass(frozen=True, slots=True)
class GaussianHistogram:
    """Votes plus discrete Gaussian noise, for a fixed number of rounds.

    Attributes:
        stddev: σ of the noise on a candidate's votes, in units.
        rounds: number of releases that are accounted for.
        units: n.
        epsilon, delta: what all rounds spend together (replace-one, ℓ2 sensitivity √2).
    """

    name: ClassVar[str] = "gaussian"
    stddev: float
    rounds: int
    units: int
    epsilon: float
    delta: float

    @classmethod
    def calibrate(cls, epsilon: float, delta: float, *, units: int, rounds: int) -> "GaussianHistogram":
        """Return the mechanism with the least noise that meets (ε, δ) over ``rounds`` rounds."""
        stddev = gaussian_stddev(epsilon, delta, rounds=rounds, adjacency="replace-one")
        return cls(stddev, rounds, units, epsilon, delta)

    def privatise(self, votes: IntArray) -> NoisyVotes:
        """Return the round's release; ``votes`` is int64 (d,) in micro-votes."""
        noisy = add_gaussian(votes, stddev=self.stddev)
        return NoisyVotes(noisy / LATTICE, self.stddev, self.units)

    def describe(self) -> dict[str, Any]:
        """Return the public parameters for privacy.json."""
        sensitivity = l2_sensitivity("replace-one")
        return {
            "stddev": self.stddev,
            "noise_multiplier": self.stddev / sensitivity,
            "sensitivity": sensitivity,
            "sensitivity_norm": "l2",
        }
