"""The worst pair of neighbours for mixing mechanisms, and the three-outcome statistic that is best on it.

One unit votes for a candidate of least noise mass on one side and for another such candidate on the other; all other
units vote for a third, so nothing but noise hides the unit. With λ and µ draws on the two candidates the loss is
``λ·ln(p1/q1) + µ·ln(p2/q2)``: the pair that the proof names. Proof: docs/proofs/mixing.md.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from evomix.audit.release import SIDES, Side
from evomix.audit.stock import StockedSource
from evomix.core.arrays import FloatArray, IntArray
from evomix.privacy.calibration import GRID
from evomix.privacy.mechanisms.linmix import uniform_mass, uniform_weights
from evomix.privacy.mechanisms.mixture import Mixture, draw_noise
from evomix.privacy.randomness import RandomSource, uniform_below

_AT_ONCE = 2**20  # draws of one trial held in memory
_PER_TRIAL = 200  # what a trial costs beside its draws, in draws
_MOST_UNIFORM = 2**17  # candidates
_CERTAIN = 1e6  # stands for the infinite loss of an outcome that only one side can have


@dataclass(frozen=True, slots=True)
class WorstCaseDraws:
    """All draws of a mixture on the worst-case pair.

    Attributes:
        claimed: the mixture that was accounted for; its ``draws`` are drawn in every trial.
        running: the mixture that is run; the same one, unless a broken mechanism is to be convicted.
        weights: int64 (d,), integer noise weights; the two least ones come first.
    """

    claimed: Mixture
    running: Mixture
    weights: IntArray

    @classmethod
    def of(cls, mixture: Mixture) -> "WorstCaseDraws":
        """Return the pair for a sound mixture."""
        return cls(mixture, mixture, worst_weights(mixture.floor))

    def __post_init__(self) -> None:
        """Refuse weights that the mechanism would refuse.

        Raises:
            PrivacyError: a noise mass lies below the floor of the running mixture.
        """
        self.running.check_weights(self.weights)

    @property
    def cost(self) -> int:
        """See :class:`evomix.audit.release.Release`."""
        return self.claimed.draws + _PER_TRIAL

    def losses(self, side: Side, trials: int, source: RandomSource) -> FloatArray:
        """See :class:`evomix.audit.release.Release`; draws as the curator does, with units known by their votes."""
        hits = np.zeros((2, trials), np.int64)
        for done in range(0, self.claimed.draws, _AT_ONCE):
            hits += self._hits(side, trials, min(_AT_ONCE, self.claimed.draws - done), source)
        return self._loss(hits)

    def claimed_losses(self, side: Side, trials: int, rng: np.random.Generator) -> FloatArray:
        """See :class:`evomix.audit.release.Release`."""
        law = self._laws()[side]
        first, second = (min(1.0, float(law[candidate])) for candidate in self._pair)
        on_first = rng.binomial(self.claimed.draws, first, trials)
        # Of what is left, with nothing left where it has probability 0 (or rounding says so).
        on_second = rng.binomial(self.claimed.draws - on_first, second / max(1.0 - first, second, 1e-300))
        return self._loss(np.stack([on_first, on_second]))

    def _hits(self, side: Side, trials: int, draws: int, source: RandomSource) -> IntArray:
        """Return λ and µ of ``trials`` releases of ``draws`` draws, int64 (2, trials)."""
        stocked = StockedSource(source)
        private = np.array([self.running.private_share(draws, stocked) for _ in range(trials)], np.int64)
        total = int(private.sum())
        voters = uniform_below(source, self.running.units, total) if total else np.zeros(0, np.int64)
        changed, others = self._votes(side)
        votes = np.where(voters == 0, changed, others)
        noise = draw_noise(self.weights, trials * draws - total, source)
        return np.stack([_counts(votes == c, private) + _counts(noise == c, draws - private) for c in self._pair])

    @property
    def _pair(self) -> tuple[int, int]:
        """The two candidates that the changed unit votes for: one, if there is no other."""
        return 0, min(1, self.weights.size - 1)

    def _votes(self, side: Side) -> tuple[int, int]:
        """Return whom the changed unit and all other units vote for."""
        return self._pair[side], min(2, self.weights.size - 1)

    def _laws(self) -> tuple[FloatArray, FloatArray]:
        """Return the claimed law of one draw on each side, float64 (d,) each."""
        beta, n = self.claimed.mixing_weight, max(self.claimed.units, 1)
        gap = (1.0 - beta) / n if self.claimed.units else 0.0
        laws = []
        for side in SIDES:
            law = beta * (self.weights / float(self.weights.sum()))
            changed, others = self._votes(side)
            law[changed] += gap
            law[others] += gap * (n - 1)
            laws.append(law)
        return laws[0], laws[1]

    def _loss(self, hits: IntArray) -> FloatArray:
        """Return ``λ·a + µ·b`` for counts on the two candidates, (2, trials); 0 with a single candidate."""
        laws = self._laws()
        a, b = (_log_ratio(float(laws[0][candidate]), float(laws[1][candidate])) for candidate in self._pair)
        # Rounded, so that outcomes with the same loss have the same number.
        return np.asarray(hits[0] * a + hits[1] * b, np.float64).round(12)


def worst_weights(floor: float) -> IntArray:
    """Return integer noise weights with as many masses as possible at the floor, the least ones first, int64 (d,).

    A floor of 1/d admits the uniform distribution alone. Else (or for a d too large to be worth an array) two
    candidates have the floor and a third has the rest: to the worst pair it makes no difference.
    """
    most = int(1.0 / floor) if floor > 1.0 / _MOST_UNIFORM / 2.0 else _MOST_UNIFORM
    for candidates in (most, most + 1):
        if candidates <= _MOST_UNIFORM and floor == uniform_mass(candidates):
            return uniform_weights(candidates)
    if floor > 1.0 / 3.0:
        return uniform_weights(2)
    least = math.ceil(Fraction(floor) * GRID)
    return np.array([least, least, GRID - 2 * least], np.int64)


def _log_ratio(first: float, second: float) -> float:
    if first == second:
        return 0.0
    if min(first, second) <= 0.0:
        return _CERTAIN if second <= 0.0 else -_CERTAIN
    return float(np.log(first / second))


def _counts(hits: NDArray[np.bool_], sizes: IntArray) -> IntArray:
    """Return how many of ``hits`` are true in consecutive groups of the given sizes, int64 (groups,)."""
    before = np.concatenate([[0], np.cumsum(hits, dtype=np.int64)])
    ends = np.cumsum(sizes)
    return np.asarray(before[ends] - before[ends - sizes])
