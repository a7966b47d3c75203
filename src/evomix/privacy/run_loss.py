"""The privacy loss of a run whose rounds differ, as a sum of independent parts that dominates it.

* A mixing round with m draws: a walk of m steps. The pair of one draw at floor t on both sides,

      P = (βt + g, βt, 1 − 2βt − g),   Q = (βt, βt + g, 1 − 2βt − g),   g = (1 − β)/n,

  has losses +a, −a and 0 with a = ln(1 + g/(βt)), so m draws lose a·(ups − downs).
* A Laplace round: a walk of two steps without standing still (randomised response at 1/b, twice).
* All Gaussian rounds together: one normal loss N(µ²/2, µ²) with µ² = Σ 2/σ_t².
* A mixing round without a floor: an infinite loss with probability 1 − (1 − g)^m, and none otherwise.

Every part looks the same with the neighbours exchanged, so one direction is enough. That is why a round enters with
its smallest noise mass on *both* sides: with two different masses t1 < t2 the worse order may differ from round to
round, and neither order of all rounds at once would bound the mixed ones. Replace-one neighbours throughout.
Proof, also for rounds chosen adaptively among those so dominated: docs/proofs/composition.md.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from evomix.privacy.adjacency import LATTICE, l1_sensitivity, l2_sensitivity_squared
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, Round

ULP: Final = 2.0**-53
"""Largest relative error of one operation on doubles."""

_UP: Final = 1.0 + 2.0**-48
_SMALLEST: Final = 2.0**-150  # base masses below this part of the gap count as none, as in the exact account
_LARGEST_GAIN: Final = 600.0  # one Laplace part that can lose more counts as certain to lose everything


@dataclass(frozen=True, slots=True)
class LossWalk:
    """The loss ``gain·(ups − downs)`` of independent steps; ``down·e^gain = up`` and ``up + down + stay = 1``.

    Attributes:
        gain: loss of one step up, positive.
        up: probability of a step up.
        down: probability of a step down, positive.
        stay: probability of no step.
        steps: how many.
    """

    gain: float
    up: float
    down: float
    stay: float
    steps: int

    def log_moment(self, tilt: float) -> float:
        """Return an upper bound on ln E[e^{θ·loss}], θ = ``tilt`` > 0, tight to a few roundings.

        ``ln E = steps·ln(1 + x)`` with ``x = down·(e^{(1+θ)a} − 1)(1 − e^{−θa})``: a form in which nothing cancels.
        """
        near, far = tilt * self.gain, (1.0 + tilt) * self.gain
        if far < 500.0:
            log_one = math.log1p(self.down * math.expm1(far) * -math.expm1(-near))
        else:  # e^far would overflow; x is then astronomically large or down is astronomically small
            log_x = math.log(self.down) + far + math.log(-math.expm1(-near))
            log_one = log_x + math.log1p(math.exp(-log_x)) if log_x > 0.0 else math.log1p(math.exp(log_x))
        # x is off by a relative 64·ULP·(…) at most, hence its logarithm by that times x/(1 + x) ≤ min(1, ln(1 + x)).
        slack = 64.0 * ULP * (far - math.log(self.down) + 8.0) * min(1.0, log_one)
        return self.steps * (log_one + slack) * (1.0 + 16.0 * ULP)


@dataclass(frozen=True, slots=True)
class RunLoss:
    """What dominates a run; see the head of this file.

    Attributes:
        walks: the walks, rounds of the same pair joined into one.
        variance: µ² of the Gaussian part, 0 if there is none.
        inverse_variances: Σ 1/σ_t² of the Gaussian rounds, for the lattice.
        exposed: probability of an infinite loss.
    """

    walks: tuple[LossWalk, ...]
    variance: float
    inverse_variances: float
    exposed: float

    @property
    def per_lattice(self) -> float:
        """Σ Δ₁/(L·σ_t²): half of it is taken off ε, and a 24th is the logarithm of a factor on δ."""
        return l1_sensitivity("replace-one") * self.inverse_variances / LATTICE * _UP

    @property
    def largest(self) -> float:
        """The most that the run can lose; infinite with Gaussian noise or without a floor."""
        if self.variance > 0.0 or self.exposed > 0.0:
            return math.inf
        return math.fsum(walk.steps * walk.gain for walk in self.walks) * _UP

    def log_moment(self, tilt: float) -> float:
        """Return an upper bound on ln E[e^{θ·loss}], that is on θ·D_{1+θ}; infinite if a loss may be.

        Exact for discrete Gaussians as well: their moments at whole shifts are at most the continuous ones.
        """
        if self.exposed > 0.0:
            return math.inf
        normal = tilt * (1.0 + tilt) * self.variance / 2.0 * _UP
        return math.fsum((normal, *(walk.log_moment(tilt) for walk in self.walks))) * _UP

    def hidden(self) -> "RunLoss":
        """Return the loss where none is infinite: rounds that expose a unit or tell nothing add nothing else."""
        return replace(self, exposed=0.0)


def run_loss(rounds: Sequence[Round]) -> RunLoss:
    """Return what dominates ``rounds``; rounds that release nothing of the records drop out."""
    steps: Counter[tuple[float, float, float]] = Counter()
    logs_hidden: list[float] = []
    inverse_variances: list[float] = []
    for each in rounds:
        if isinstance(each, GaussianRound):
            inverse_variances.append(1.0 / each.stddev / each.stddev * _UP)
        elif isinstance(each, LaplaceRound):
            pure = math.nextafter(1.0 / each.scale, math.inf)
            if pure > _LARGEST_GAIN:
                logs_hidden.append(-math.inf)
            else:
                steps[pure, 1.0 / (1.0 + math.exp(pure)), 0.0] += 2
        elif costs(each):
            base, gap = each.mixing_weight * each.floor, (1.0 - each.mixing_weight) / each.units
            if base < _SMALLEST * gap:
                logs_hidden.append(-math.inf if gap >= 1.0 else each.draws * math.log1p(-gap))
            else:
                steps[math.log1p(gap / base), base, _stay(each)] += each.draws
    total = math.fsum(inverse_variances) * _UP
    return RunLoss(
        walks=tuple(_walk(*pair, count) for pair, count in steps.items()),
        variance=l2_sensitivity_squared("replace-one") * total,
        inverse_variances=total,
        exposed=min(1.0, max(0.0, -math.expm1(math.fsum(logs_hidden))) * (1.0 + 1e-14)),
    )


def costs(round_: Round) -> bool:
    """Return whether a round depends on the records at all."""
    return not isinstance(round_, MixingRound) or (round_.draws > 0 and round_.mixing_weight < 1.0)


def _stay(mixing: MixingRound) -> float:
    """Return 1 − 2βt − g as a sum of terms that are not negative, so that it keeps its relative accuracy."""
    beta, n = mixing.mixing_weight, mixing.units
    return beta * (1.0 - 2.0 * mixing.floor) + (1.0 - beta) * ((n - 1) / n)


def _walk(gain: float, down: float, stay: float, steps: int) -> LossWalk:
    return LossWalk(gain=gain, up=down * math.exp(gain), down=down, stay=stay, steps=steps)
