"""Gaussian histogram: discrete Gaussian noise on every candidate's votes.

Proof: docs/proofs/gaussian.md. Source: Balle & Wang (2018); Canonne, Kamath, Steinke (2020).
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from evomix.core.arrays import IntArray
from evomix.core.errors import SpecError
from evomix.core.release import NoisyVotes
from evomix.privacy.adjacency import LATTICE, l2_sensitivity
from evomix.privacy.gaussian_accounting import gaussian_stddev
from evomix.privacy.lattice_noise import add_gaussian


def spread_over(stddev: float, blocks: int) -> float:
    """Return σ·√blocks, rounded up: the noise of several histograms that together cost what one with σ costs.

    The difference of neighbours has a squared ℓ2 norm of at most 2 in each histogram, so of 2·blocks in all.

    Raises:
        SpecError: there is no histogram.
    """
    if blocks < 1:
        raise SpecError(f"expected at least one histogram; found blocks={blocks}")
    return stddev if blocks == 1 else math.nextafter(stddev * math.sqrt(blocks) * (1.0 + 2.0**-50), math.inf)


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

    def privatise(self, votes: IntArray, *, blocks: int = 1) -> NoisyVotes:
        """Return the round's release.

        Args:
            votes: int64 (d,) in micro-votes.
            blocks: in how many parts of ``votes`` every unit has a whole vote; all of them have noise of
                :func:`spread_over` together, which costs what one part with σ costs.
        """
        stddev = spread_over(self.stddev, blocks)
        noisy = add_gaussian(votes, stddev=stddev)
        return NoisyVotes(noisy / LATTICE, stddev, self.units)

    def describe(self) -> dict[str, Any]:
        """Return the public parameters for privacy.json."""
        sensitivity = l2_sensitivity("replace-one")
        return {
            "stddev": self.stddev,
            "noise_multiplier": self.stddev / sensitivity,
            "sensitivity": sensitivity,
            "sensitivity_norm": "l2",
        }
