"""The worst pair of neighbours for Gaussian and Laplace histograms, and the loss of their noisy votes.

One unit votes for one candidate on one side and for another on the other, which moves the votes by the whole
sensitivity; the candidates that others vote for have noise of their own and say nothing about the unit.
Proofs: docs/proofs/gaussian.md, docs/proofs/laplace.md.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evomix.audit.release import Side
from evomix.core.arrays import FloatArray
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.laplace import LaplaceHistogram
from evomix.privacy.randomness import RandomSource

_PER_NOISE = 100  # what the noise of one vote costs, in draws of a mixture

_VOTES = ((1, 0), (0, 1))  # of the two candidates, on each side

Histogram = GaussianHistogram | LaplaceHistogram


@dataclass(frozen=True, slots=True)
class WorstCaseVotes:
    """All rounds of a histogram mechanism on the worst-case pair.

    Attributes:
        claimed: the mechanism that was accounted for; all its ``rounds`` are run in every trial.
        running: the mechanism that is run; the same one, unless a broken mechanism is to be convicted.
    """

    claimed: Histogram
    running: Histogram

    @classmethod
    def of(cls, mechanism: Histogram) -> "WorstCaseVotes":
        """Return the pair for a sound mechanism."""
        return cls(mechanism, mechanism)

    @property
    def cost(self) -> int:
        """See :class:`evomix.audit.release.Release`."""
        return 2 * _PER_NOISE * self.claimed.rounds

    def losses(self, side: Side, trials: int, source: RandomSource) -> FloatArray:
        """See :class:`evomix.audit.release.Release`; noise is OpenDP's, from its own entropy, not from ``source``."""
        del source
        exact = np.array(_VOTES[side], np.int64) * LATTICE

        def release(size: int) -> FloatArray:
            # Candidates' noise is independent, so one call on many copies makes many releases.
            return self.running.privatise(np.tile(exact, size)).votes.reshape(size, 2)

        return self._summed(release, trials)

    def claimed_losses(self, side: Side, trials: int, rng: np.random.Generator) -> FloatArray:
        """See :class:`evomix.audit.release.Release`; the noise is continuous, which the lattice comes near to."""
        gaussian = isinstance(self.claimed, GaussianHistogram)

        def release(size: int) -> FloatArray:
            draw = rng.normal if gaussian else rng.laplace
            return draw(np.array(_VOTES[side], np.float64), self._noise, (size, 2))

        return self._summed(release, trials)

    @property
    def _noise(self) -> float:
        return self.claimed.stddev if isinstance(self.claimed, GaussianHistogram) else self.claimed.scale

    def _summed(self, release: Callable[[int], FloatArray], trials: int) -> FloatArray:
        """Return the losses of all rounds together, float64 (trials,)."""
        losses = np.zeros(trials)
        for _ in range(self.claimed.rounds):
            losses += self._loss(release(trials))
        return losses

    def _loss(self, votes: FloatArray) -> FloatArray:
        """Return the loss of one round's noisy votes, (trials, 2), in units."""
        if isinstance(self.claimed, GaussianHistogram):
            return np.asarray((votes[:, 0] - votes[:, 1]) / self.claimed.stddev**2)
        nearer = np.abs(votes) - np.abs(votes - 1.0)
        return np.asarray((nearer[:, 0] - nearer[:, 1]) / self.claimed.scale)
