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

    def __post_init__(self) -> None:
        """Refuse what is no number: everything after the release computes with it."""
        if not (np.isfinite(self.votes).all() and self.stddev >= 0.0):
            raise ValueError("noisy votes must be finite numbers, with a standard deviation of at least 0")

    def estimate(self) -> FloatArray:
        """Return the unbiased vote estimate, float64 (d,)."""
        return self.votes

    def shares(self) -> FloatArray:
        """Return the unbiased signed estimate of the vote shares, float64 (d,): ``votes / n``."""
        return np.asarray(self.votes / max(self.units, 1))

    @property
    def spread(self) -> float:
        """Standard deviation of the noise on each of ``shares()``."""
        return self.stddev / max(self.units, 1)

    def error(self) -> float:
        """Return the expected squared error of ``shares()``, summed over candidates."""
        return self.votes.size * self.spread * self.spread


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

    def __post_init__(self) -> None:
        """Refuse what no draws can be: everything after the release computes with it."""
        masses = self.noise_distribution
        if not ((self.counts >= 0).all() and 0.0 <= self.mixing_weight <= 1.0 and (masses >= 0.0).all()):
            raise ValueError("draws need counts and noise masses of at least 0 and a mixing weight in [0, 1]")

    @property
    def draws(self) -> int:
        """Number of draws m."""
        return int(self.counts.sum())

    @property
    def informative(self) -> bool:
        """Whether the draws hold anything about the records: with β = 1 or without draws they do not."""
        return self.mixing_weight < 1.0 and self.draws > 0

    def estimate(self) -> FloatArray:
        """Return a signed vote estimate, float64 (d,): ``n·(counts/m − β·P_nse)/(1−β)``.

        Unbiased for β < 1, because β and P_nse are known. Draws that are not :attr:`informative` give ``n·P_nse``.
        Proof: docs/proofs/post_processing.md.
        """
        return np.asarray(self.units * self.shares())

    def shares(self) -> FloatArray:
        """Return the signed estimate of the vote shares, float64 (d,), sums to 1; :meth:`estimate` without n."""
        if not self.informative:
            return self.noise_distribution
        empirical = self.counts / self.draws
        return np.asarray((empirical - self.mixing_weight * self.noise_distribution) / (1.0 - self.mixing_weight))

    def error(self) -> float:
        """Return an unbiased estimate of the expected squared error of ``shares()``, summed over candidates.

        A single draw tells nothing of its own spread; the largest error that it can have is returned.
        """
        if not self.informative:
            return math.inf
        squares = float(((self.counts / self.draws) ** 2).sum()) if self.draws > 1 else 0.0
        return (1.0 - squares) / max(self.draws - 1, 1) / (1.0 - self.mixing_weight) ** 2


Release = NoisyVotes | Draws
