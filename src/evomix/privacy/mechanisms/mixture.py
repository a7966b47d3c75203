"""Sampling a mixture exactly: what LinMix and PubMix share.

A draw is noise with probability β = B/2⁵³, else the vote of a private unit drawn uniformly. So only the units that
are drawn ever need to vote, and how many are drawn does not depend on the data. Proof: docs/proofs/mixing.md.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from evomix.core.arrays import IntArray
from evomix.core.errors import PrivacyError
from evomix.privacy.calibration import GRID
from evomix.privacy.randomness import RandomSource, uniform_below


@dataclass(frozen=True, slots=True)
class Mixture:
    """A mixing mechanism with its run-wide constants, fixed before any record is seen.

    Attributes:
        name: "linmix" or "pubmix".
        mixing_weight: β, a multiple of 2⁻⁵³.
        floor: t, at most every mass of every round's noise distribution.
        draws: the run's budget of draws, over all rounds.
        units: n, the number of private units.
        epsilon, delta: what ``draws`` draws spend (replace-one neighbours).

    Guarantee: any adaptive sequence of rounds with at most ``draws`` draws in all is (ε, δ)-DP under replacing one
    private unit. Proof: docs/proofs/mixing.md. Source: PubMix, Theorem 4.1.
    """

    name: str
    mixing_weight: float
    floor: float
    draws: int
    units: int
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """Refuse what could not be sampled exactly as it is accounted for."""
        sound = (
            0.0 <= self.mixing_weight <= 1.0
            and (self.mixing_weight * GRID).is_integer()
            and 0.0 <= self.floor <= 0.5
            and self.draws >= 0
            and self.units >= 0
        )
        if not sound:
            raise PrivacyError(
                "a mixture needs a mixing weight in [0, 1] that is a multiple of 2^-53, a floor in [0, 1/2], and draws "
                f"and units of at least 0; found mixing_weight={self.mixing_weight!r}, floor={self.floor!r}, "
                f"draws={self.draws}, units={self.units}"
            )

    @property
    def numerator(self) -> int:
        """B with β = B/2⁵³."""
        return int(self.mixing_weight * GRID)

    def describe(self) -> dict[str, Any]:
        """Return the public parameters for privacy.json."""
        return {
            "draws": self.draws,
            "mixing_weight": self.mixing_weight,
            "floor": self.floor,
        }

    def private_share(self, draws: int, source: RandomSource) -> int:
        """Return how many of ``draws`` draws come from private units; independent of any record."""
        if self.units == 0:
            return 0
        return int((uniform_below(source, GRID, draws) >= self.numerator).sum())

    def check_weights(self, weights: IntArray) -> None:
        """Raise ``PrivacyError`` unless integer noise weights are what was accounted for.

        One candidate needs no floor: its release says nothing.
        """
        if weights.dtype != np.int64 or weights.ndim != 1 or not weights.size or int(weights.min()) < 0:
            raise PrivacyError("noise weights must be non-negative int64, one for each candidate; nothing was released")
        total = sum(weights.tolist())  # as Python integers, because int64 would wrap around silently
        if not 0 < total < 2**63:
            raise PrivacyError("the sum of the noise weights must lie in 1..2^63-1; nothing was released")
        # numerator/denominator comparison: weight/total ≥ floor in exact arithmetic.
        top, bottom = self.floor.as_integer_ratio()
        if weights.size > 1 and int(weights.min()) * bottom < top * total:
            raise PrivacyError(
                f"a noise mass lies below the accounted floor={self.floor!r} "
                f"(candidates={weights.size}); the release was not computed"
            )


def draw_noise(weights: IntArray, size: int, source: RandomSource) -> IntArray:
    """Return ``size`` candidate positions drawn with probability proportional to integer ``weights``."""
    cumulative = np.cumsum(weights)
    drawn = uniform_below(source, int(cumulative[-1]), size)
    return np.searchsorted(cumulative, drawn, side="right").astype(np.int64)
