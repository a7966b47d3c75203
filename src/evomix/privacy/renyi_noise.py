"""From a Rényi cost to the least noise of a round, and the order at which a run's rounds need least.

The noise found is put back and found to cost no more than was allowed. Mixing weights are multiples of 2⁻⁵³, rounded
up, because the sampler draws them as whole numbers.
"""

import math
from collections.abc import Sequence
from typing import Final

from scipy.optimize import brentq, minimize_scalar

from evomix.core.errors import SpecError
from evomix.privacy.calibration import GRID
from evomix.privacy.renyi import log_conversion, renyi_budget, renyi_divergence
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, Round, RoundShape
from evomix.privacy.threshold import smallest

_ANY_SHAPE: Final = (RoundShape("gaussian"),)


def least_noise(shape: RoundShape, cost: float, *, order: float, units: int) -> Round:
    """Return the round of least noise whose D_α at ``order`` is at most ``cost`` > 0.

    A mixing round without a floor, or with too small a cost for its draws, gets the mixing weight 1: it tells nothing.
    """
    if shape.kind == "gaussian":
        return GaussianRound(
            smallest(lambda s: renyi_divergence(GaussianRound(s), order) <= cost, guess=math.sqrt(order / cost))
        )
    if shape.kind == "laplace":
        return LaplaceRound(
            smallest(lambda b: renyi_divergence(LaplaceRound(b), order) <= cost, guess=math.sqrt(order / cost))
        )
    return _least_mixing(shape, cost, order, units)


def _least_mixing(shape: RoundShape, cost: float, order: float, units: int) -> MixingRound:
    def mixed(odds: float) -> MixingRound:
        weight = math.ceil(odds / (1.0 + odds) * GRID) / GRID if odds < 2.0 * GRID else 1.0
        return MixingRound(units, min(weight, 1.0), shape.draws, shape.floor)

    if shape.draws == 0:
        return mixed(0.0)
    if shape.floor == 0.0:
        return mixed(math.inf)
    # For small losses D_α ≈ m·α·g²/(βt), and g = (1 − β)/n.
    guess = shape.draws * order / cost / shape.floor / units / units
    return mixed(
        smallest(
            lambda odds: renyi_divergence(mixed(odds), order) <= cost,
            guess=min(max(guess, 1.0 / GRID), 2.0 * GRID),
        )
    )


def split(budget: float, shapes: Sequence[RoundShape]) -> list[float]:
    """Return each round's part of ``budget`` by its share; together they do not exceed it."""
    total = math.fsum(shape.share for shape in shapes)
    return [budget * (shape.share / total) * (1.0 - 2.0**-50) for shape in shapes]


def best_order(epsilon: float, delta: float, shapes: Sequence[RoundShape], *, units: int) -> float:
    """Return an order α at which the rounds need about the least noise for (ε, δ), as a geometric mean over rounds.

    The noise of a mixing round is measured by the odds β/(1 − β). Shapes that no noise can help, or that need none,
    have no say; without others the order is the best one for Gaussian noise. Uses public values only.
    """
    deciding = [shape for shape in shapes if shape.kind != "mixing" or (shape.draws and shape.floor)] or _ANY_SHAPE
    # Below this tilt no cost at all is allowed; at about twice as much Gaussian noise is least.
    least = _least_tilt(epsilon, delta)
    found = minimize_scalar(
        lambda logarithm: _log_noise(epsilon, delta, deciding, 1.0 + least * math.exp(logarithm), units),
        bounds=(1e-4, 12.0),  # at infinity for pure Laplace noise, where the last orders differ by next to nothing
        method="bounded",
        options={"xatol": 1e-3},
    )
    return 1.0 + least * math.exp(float(found.x))


def _least_tilt(epsilon: float, delta: float) -> float:
    """Return the θ = α − 1 at which the Rényi budget of (ε, δ) is 0; below it is negative."""

    def allowed(tilt: float) -> float:
        return tilt * epsilon + math.log(delta) - log_conversion(tilt)

    lowest, highest = 1e-8, -math.log(delta) / epsilon + 1.0
    if highest > 1e15:
        raise SpecError(f"Expected an epsilon that some noise can meet; found epsilon={epsilon!r}, delta={delta!r}.")
    return lowest if allowed(lowest) >= 0.0 else float(brentq(allowed, lowest, highest, rtol=1e-12))


def _log_noise(epsilon: float, delta: float, shapes: Sequence[RoundShape], order: float, units: int) -> float:
    budget = renyi_budget(epsilon, delta, order)
    if budget <= 0.0:
        return 1e3
    costs = dict(zip(shapes, split(budget, shapes), strict=True))  # equal shapes have equal parts
    noise = {shape: _log_size(least_noise(shape, cost, order=order, units=units)) for shape, cost in costs.items()}
    return math.fsum(noise[shape] for shape in shapes) / len(shapes)


def _log_size(round_: Round) -> float:
    if isinstance(round_, MixingRound):
        return math.log(round_.mixing_weight) - math.log(max(1.0 - round_.mixing_weight, 0.5 / GRID))
    return math.log(round_.stddev if isinstance(round_, GaussianRound) else round_.scale)
