"""What crosses the trust boundary: privatised votes, in one of two forms.

Everything computed from a release is post-processing and costs no privacy.
"""

import math
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class NoisyVotes:
    """Votes plus symmetric integer noise on a fine lattice (Gaussian and Laplace histograms).

    Attributes:
        votes: float64 (d,), noisy votes in units of one private unit; may be negative.
        stddev: standard deviation of the noise on each entry, in the same unit.
        units: number of private units n (public).
        prior: float64 (d,), shares of the public votes, where there are public records; sums to 1.
    """

    votes: FloatArray
    stddev: float
    units: int
    prior: FloatArray | None = None

    def estimate(self) -> FloatArray:
        """Return the unbiased vote estimate, float64 (d,)."""
        return self.votes

    def error(self) -> float:
        """Return the expected squared error of ``estimate() / units``, summed over candidates."""
        return self.votes.size * (self.stddev / max(self.units, 1)) ** 2


@dataclass(frozen=True, slots=True)
class Draws:
    """Independent draws from ``(1-β)·votes/n + β·noise`` (LinMix and PubMix).

    Attributes:
        counts: int64 (d,), how often each candidate was drawn.
        mixing_weight: β, the share of noise.
        noise_distribution: float64 (d,), P_nse, sums to 1.
        units: number of private units n (public).
        prior: float64 (d,), shares of the public votes, where there are public records; sums to 1.
    """

    counts: IntArray
    mixing_weight: float
    noise_distribution: FloatArray
    units: int
    prior: FloatArray | None = None

    @property
    def draws(self) -> int:
        """Number of draws m."""
        return int(self.counts.sum())

    def estimate(self) -> FloatArray:
        """Return a signed vote estimate, float64 (d,): ``n·(counts/m − β·P_nse)/(1−β)``.

        Unbiased for β < 1, because β and P_nse are known. With β = 1 the draws hold nothing about the records
        and the estimate is the prior, ``n·P_nse``.
        """
        if self.mixing_weight >= 1.0 or self.draws == 0:
            return self.units * self.noise_distribution
        empirical = self.counts / self.draws
        signed = (empirical - self.mixing_weight * self.noise_distribution) / (1.0 - self.mixing_weight)
        return np.asarray(self.units * signed)

    def error(self) -> float:
        """Return the expected squared error of ``estimate() / units``, summed over candidates."""
        if self.mixing_weight >= 1.0 or self.draws == 0:
            return math.inf
        squares = float(((self.counts / self.draws) ** 2).sum())
        return (1.0 - squares) / max(self.draws - 1, 1) / (1.0 - self.mixing_weight) ** 2


Release = NoisyVotes | Draws
