"""The total variation between private and public votes, with discrete Laplace noise.

With votes v in micro-votes (L a unit) and public integers t that sum to n·L as well, the total variation is f/(n·L),

    f = Σ_i max(v_i − t_i, 0).

Replacing one unit takes at most L micro-votes away and gives at most L to others, so f moves by at most L: noise of
scale b = 1/ε units makes the release ε-DP with δ = 0. Proof: docs/proofs/distance.md.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import PrivacyError, SpecError
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.calibration import check_epsilon
from evomix.privacy.lattice_noise import add_laplace
from evomix.privacy.noise_design import to_weights

CONFIDENCE: Final = 0.95
MOST_UNITS: Final = 2**62 // LATTICE
LEAST_EPSILON, MOST_EPSILON = 1e-9, 1e6
"""Beyond, noise leaves the lattice or vanishes on it."""


@dataclass(frozen=True, slots=True)
class MeasuredDistance:
    """A released distance; all that is computed from it is post-processing.

    Attributes:
        estimate: the noisy distance, within [0, 1].
        low, high: they enclose the exact one with probability :data:`CONFIDENCE` or more, from the known noise alone.
    """

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class NoisyDistance:
    """One release of the total variation between private and public votes.

    Attributes:
        scale: b of the noise on the distance, in private units (n units are a total variation of 1).
        units: n.
        epsilon: what the release spends (replace-one); δ = 0.
    """

    name: ClassVar[str] = "distance"
    delta: ClassVar[float] = 0.0
    scale: float
    units: int
    epsilon: float

    def __post_init__(self) -> None:
        if not 1 <= self.units < MOST_UNITS:
            raise SpecError(
                f"a distance between votes needs 1 to {MOST_UNITS - 1} private units; found units={self.units!r}"
            )
        if Fraction(self.scale) * Fraction(self.epsilon) < 1:
            raise PrivacyError(
                f"noise of scale={self.scale!r} units does not meet epsilon={self.epsilon!r}; calibrate() it"
            )

    @classmethod
    def calibrate(cls, epsilon: float, *, units: int) -> "NoisyDistance":
        """Return the release with the least noise that meets ε: scale 1/ε, rounded up.

        Raises:
            SpecError: ε is out of range, or there is no unit.
        """
        epsilon = check_epsilon(epsilon)
        if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
            raise SpecError(
                f"a distance is measured with epsilon from {LEAST_EPSILON:g} to {MOST_EPSILON:g}; "
                f"found epsilon={epsilon!r}"
            )
        scale = 1.0 / epsilon
        while Fraction(scale) * Fraction(epsilon) < 1:
            scale = math.nextafter(scale, math.inf)
        return cls(scale, units, epsilon)

    def public_votes(self, shares: FloatArray) -> IntArray:
        """Return public vote shares as integers that sum to n·L, int64 (d,). Public arithmetic; costs no privacy."""
        return to_weights(shares, floor=0.0, total=self.units * LATTICE)

    def release(self, votes: IntArray, public_votes: IntArray) -> MeasuredDistance:
        """Return the noisy distance: ε-DP with δ = 0 under replace-one; proof: docs/proofs/distance.md.

        Args:
            votes: int64 (d,), private votes in micro-votes; L of each unit.
            public_votes: int64 (d,), of :meth:`public_votes`.

        Raises:
            ValueError: totals or lengths differ; inside the curator no fact about the votes comes out with it.
        """
        total = self.units * LATTICE
        if votes.shape != public_votes.shape or not int(votes.sum()) == int(public_votes.sum()) == total:
            raise ValueError("private and public votes must be over the same candidates and have n units each")
        exact = np.maximum(votes - public_votes, 0).sum(keepdims=True)
        noisy = int(add_laplace(exact, scale=self.scale)[0]) / LATTICE
        # A micro-vote for the discrete tail, and the rounding of all that follows.
        reach = (self.scale * math.log(1.0 / (1.0 - CONFIDENCE)) + 1.0 / LATTICE) * (1.0 + 1e-14)
        return MeasuredDistance(*(min(max(at / self.units, 0.0), 1.0) for at in (noisy, noisy - reach, noisy + reach)))

    def describe(self) -> dict[str, Any]:
        """Return the public parameters."""
        return {"statistic": "total variation", "noise": "discrete Laplace", "sensitivity": 1, "scale": self.scale}
