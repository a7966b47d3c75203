"""Rényi accounting of rounds that differ: closed forms that add up.

D_α of a run is at most the sum over its rounds at the same order α (Mironov 2017), and

    δ(ε) ≤ e^{(α−1)(D_α − ε)} · (1/α)(1 − 1/α)^{α−1}      (Canonne, Kamath & Steinke 2020, Proposition 12).

One draw of a mixing round, one part of a Laplace round: ln(p₁^α q₁^{1−α} + p₂^α q₂^{1−α} + rest)/(α − 1); a Gaussian
round: α·Δ²/(2σ²) with Δ² = 2, which holds for the discrete Gaussian on whole votes as it stands. With parameters
fixed in advance every order gives a bound, so the best may be taken. Proof: docs/proofs/composition.md.
"""

import math
from collections.abc import Callable
from typing import Final

from scipy.optimize import minimize_scalar

from evomix.core.arguments import number
from evomix.core.errors import SpecError
from evomix.privacy.rounds import Round
from evomix.privacy.run_loss import ULP, RunLoss, run_loss

_LOWEST, _HIGHEST = math.log(1e-6), math.log(1e15)
TINY: Final = math.ulp(0.0)
_FAR: Final = 1e30


def renyi_divergence(round_: Round, order: float) -> float:
    """Return an upper bound on D_α of one round for replace-one neighbours, in both directions.

    Args:
        round_: what the round releases. A mixing round counts with its smallest floor on both sides.
        order: α, finite and above 1.

    Returns:
        The bound; infinite for a mixing round without a floor.

    Raises:
        SpecError: for an order out of range.

    Proof: docs/proofs/composition.md.
    """
    tilt = check_order(order) - 1.0
    return run_loss((round_,)).log_moment(tilt) / tilt * (1.0 + 8.0 * ULP)


def check_order(order: float) -> float:
    """Return ``order`` if it is a usable α, else raise ``SpecError``."""
    if not 1.0 + 1e-9 <= number("order", order) <= 1e15:
        raise SpecError(f"Expected order to lie between 1 + 1e-9 and 1e15; found order={order!r}.")
    return number("order", order)


def log_conversion(tilt: float) -> float:
    """Return ln((1/α)(1 − 1/α)^{α−1}) for α = 1 + ``tilt``: what the largest of e^{−θx}(1 − e^{−x}) over x ≥ 0 is."""
    return -tilt * math.log1p(1.0 / tilt) - math.log1p(tilt)


def log_delta(log_moment: float, epsilon: float, tilt: float) -> float:
    """Return ln of the bound on δ(ε) that ``log_moment`` = θ·D_{1+θ} gives, rounded up."""
    spent, factor = tilt * epsilon, log_conversion(tilt)
    slack = 16.0 * ULP * (abs(log_moment) + abs(spent) + abs(factor) + 1.0)
    return log_moment - spent + factor + slack


def best_tilt(log_moment: Callable[[float], float], epsilon: float) -> float:
    """Return the θ = α − 1 of about the least bound on δ(ε); any θ gives a bound, and the exponent is convex in θ."""

    def exponent(log_tilt: float) -> float:
        bound = log_delta(log_moment(math.exp(log_tilt)), epsilon, math.exp(log_tilt))
        return max(-_FAR, bound) if bound < _FAR else _FAR  # also for inf − inf; the search multiplies what it sees

    found = minimize_scalar(
        exponent,
        bounds=(_LOWEST, _HIGHEST),
        method="bounded",
        options={"xatol": 1e-4},
    )
    return math.exp(float(found.x))


def renyi_delta(epsilon: float, loss: RunLoss) -> float:
    """Return the least Rényi bound on δ(ε) of a run whose parameters are fixed in advance."""
    if loss.exposed > 0.0:
        return min(1.0, (loss.exposed + renyi_delta(epsilon, loss.hidden())) * (1.0 + 4.0 * ULP))
    if epsilon >= loss.largest:
        return 0.0
    tilt = best_tilt(loss.log_moment, epsilon)
    return min(1.0, math.exp(min(0.0, log_delta(loss.log_moment(tilt), epsilon, tilt))) * (1.0 + 8.0 * ULP) + TINY)


def renyi_budget(epsilon: float, delta: float, order: float) -> float:
    """Return the largest D_α that gives (ε, δ) at one order, rounded down; negative if the order is too small."""
    tilt = order - 1.0
    conversion, logarithm = log_conversion(tilt), math.log(delta)
    slack = 64.0 * ULP * (epsilon + (abs(logarithm) + abs(conversion) + 1.0) / tilt)
    return epsilon + (logarithm - conversion) / tilt - slack
