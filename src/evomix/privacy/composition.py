"""Accounting of runs whose rounds differ, under replace-one neighbours.

Rounds may differ in mechanism, noise, draws and floor. Where one of three exact accounts applies it is used:

* "draws": mixing rounds with one β, at the smallest floor (``calibration``);
* "gaussian", "laplace": rounds of one kind of histogram noise (``gaussian_accounting``, ``laplace_accounting``).

For the rest there is the distribution of the privacy loss, "pld" (``loss_distribution``), and Rényi divergences,
"renyi" (``renyi``). All of these want the rounds' parameters fixed in advance; candidates and noise distributions may
still depend on earlier releases. Rounds whose parameters are chosen on the way need ``renyi_filter``.
Proof: docs/proofs/composition.md.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final, Literal, get_args

from scipy.optimize import brentq

from evomix.core.arguments import number
from evomix.core.errors import SpecError
from evomix.privacy.calibration import check_delta, check_epsilon, delta
from evomix.privacy.gaussian_accounting import gaussian_delta
from evomix.privacy.hockey_stick import MAX_DRAWS
from evomix.privacy.laplace_accounting import laplace_delta
from evomix.privacy.loss_distribution import distribution_delta
from evomix.privacy.renyi import renyi_budget, renyi_delta
from evomix.privacy.renyi_noise import best_order, least_noise, split
from evomix.privacy.rounds import (
    GaussianRound,
    LaplaceRound,
    MixingRound,
    Round,
    RoundShape,
    check_rounds_given,
    check_shapes,
    check_units,
)
from evomix.privacy.run_loss import costs, run_loss

Accountant = Literal["draws", "gaussian", "laplace", "pld", "renyi"]
"""How a run is accounted."""

_ELSEWHERE: Final = 1.0 - 1e-9  # room for another machine's last digits, where a run may be certified anew
_SMALLEST_EPSILON: Final = 1e-12
_LARGEST_EPSILON: Final = 1e9
_LARGEST_COST: Final = 1e12
_CLIPPED: Final = -1e4  # stands for ln 0 where the root finder needs a finite number


def accountant_of(rounds: Sequence[Round]) -> Accountant:
    """Return the account that :func:`composed_delta` takes by itself: an exact one where it applies, else "pld".

    Rounds that tell nothing of the records (no draws, or β = 1) do not count; a run without others has "draws".

    Raises:
        SpecError: for something that is no round.
    """
    counted = [each for each in check_rounds_given(rounds) if costs(each)]
    mixing = [each for each in counted if isinstance(each, MixingRound)]
    if len(mixing) == len(counted) and len({(each.units, each.mixing_weight) for each in mixing}) <= 1:
        return "draws" if sum(each.draws for each in mixing) <= MAX_DRAWS else "pld"
    if all(isinstance(each, GaussianRound) for each in counted):
        return "gaussian"
    scales = {each.scale if isinstance(each, LaplaceRound) else None for each in counted}
    return "laplace" if len(scales) == 1 and None not in scales else "pld"


def composed_delta(
    epsilon: float, rounds: Sequence[Round], *, accountant: Accountant | Literal["auto"] = "auto"
) -> float:
    """Return an upper bound on δ(ε) of a whole run, its rounds' parameters fixed in advance.

    Args:
        epsilon: ε, finite and not negative.
        rounds: what the run releases, in any order; empty for δ = 0.
        accountant: "auto" takes :func:`accountant_of`; "pld" and "renyi" always apply, an exact account only where it
            does.

    Raises:
        SpecError: an argument is out of range, or the accountant does not apply to these rounds.
    """
    given = check_rounds_given(rounds)
    if not 0.0 <= number("epsilon", epsilon) < math.inf:
        raise SpecError(f"Expected epsilon to be finite and not negative; found epsilon={epsilon!r}.")
    return _account(accountant, given)(number("epsilon", epsilon))


def composed_epsilon(
    delta: float, rounds: Sequence[Round], *, accountant: Accountant | Literal["auto"] = "auto"
) -> float:
    """Return an ε that holds with ``delta``, within a relative 10⁻⁸ of the smallest that the account can show.

    Args:
        delta: δ, strictly between 0 and 1.
        rounds: as in :func:`composed_delta`.
        accountant: as in :func:`composed_delta`.

    Returns:
        ε, 0.0 where δ alone suffices, and infinity where no ε up to 10⁹ does: without a floor a draw may betray a
        unit whatever ε is.

    Raises:
        SpecError: as in :func:`composed_delta`.

    >>> [round(composed_epsilon(1e-6, [GaussianRound(10.0)] * t), 3) for t in (1, 4)]
    [0.575, 1.212]
    """
    spent, target = _account(accountant, check_rounds_given(rounds)), check_delta(delta)
    if spent(0.0) <= target:
        return 0.0
    high = 1.0
    while spent(high) > target:
        high *= 2.0
        if high > _LARGEST_EPSILON:
            return math.inf
    low = high / 2.0
    while low > _SMALLEST_EPSILON and spent(low) <= target:
        high, low = low, low / 2.0
    return _settled(_root(spent, target, low, high), high, lambda epsilon: spent(epsilon) <= target)


def calibrate_rounds(
    epsilon: float,
    delta: float,
    shapes: Sequence[RoundShape],
    *,
    units: int,
    accountant: Literal["auto", "pld", "renyi"] = "auto",
) -> tuple[Round, ...]:
    """Return rounds of the given shapes that meet (ε, δ) together with the least noise.

    One number, a Rényi cost at an order that suits the shapes, is shared out and sets the noise of every round; it is
    the largest whose rounds the account finds to meet (ε, δ).

    Args:
        epsilon: ε of the whole run, positive.
        delta: δ of the whole run, strictly between 0 and 1.
        shapes: the rounds, at least one, with their shares of the loss.
        units: n, the number of private units.
        accountant: "auto" or "pld" as in :func:`composed_delta`; "renyi" for rounds that a Rényi filter of the same
            (ε, δ) and shapes shall admit.

    Raises:
        SpecError: an argument is out of range.

    >>> linmix, gaussian = calibrate_rounds(
    ...     1.0, 1e-6, [RoundShape("mixing", draws=1000, floor=1e-3), RoundShape("gaussian")], units=100_000)
    >>> f"{linmix.mixing_weight:.3f} {gaussian.stddev:.2f}"
    '0.028 7.92'
    """
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    check_units(units)
    planned = check_shapes(shapes)
    if not planned:
        raise SpecError("Expected at least one RoundShape; found shapes=().")
    if accountant not in {"auto", "pld", "renyi"}:
        raise SpecError(f"Expected an accountant of auto, pld or renyi; found accountant={accountant!r}.")
    order = best_order(epsilon, delta, planned, units=units)

    def rounds_at(cost: float) -> tuple[Round, ...]:
        parts = dict(zip(planned, split(cost, planned), strict=True))
        found = {shape: least_noise(shape, part, order=order, units=units) for shape, part in parts.items()}
        return tuple(found[shape] for shape in planned)

    allowed = renyi_budget(epsilon, delta, order)
    if accountant == "renyi":
        return rounds_at(allowed)

    def spent(cost: float) -> float:
        return composed_delta(epsilon, rounds_at(cost), accountant=accountant)

    return rounds_at(_largest_cost(spent, delta * _ELSEWHERE, allowed))


def _account(accountant: str, rounds: tuple[Round, ...]) -> Callable[[float], float]:
    """Return δ as a function of ε under one account."""
    exact = accountant_of(rounds)
    chosen = exact if accountant == "auto" else accountant
    if chosen not in get_args(Accountant):
        raise SpecError(f"Expected an accountant of auto, {', '.join(get_args(Accountant))}; found {accountant=!r}.")
    if chosen in {"pld", "renyi"}:
        loss = run_loss(rounds)
        return (
            (lambda epsilon: distribution_delta(epsilon, loss))
            if chosen == "pld"
            else (lambda epsilon: renyi_delta(epsilon, loss))
        )
    if chosen != exact:
        raise SpecError(
            f"Expected rounds that the account applies to: draws for mixing rounds of one mixing weight, gaussian or "
            f"laplace for rounds of that noise alone; found {accountant=!r}. Take auto or pld."
        )
    counted = [each for each in rounds if costs(each)]
    return (lambda _: 0.0) if not counted else _exact(counted)


def _exact(rounds: Sequence[Round]) -> Callable[[float], float]:
    """Return δ of rounds that one exact account covers; at least one, all of which cost something."""
    first = rounds[0]
    if isinstance(first, GaussianRound):
        stddevs = [each.stddev for each in rounds if isinstance(each, GaussianRound)]
        return lambda epsilon: gaussian_delta(epsilon, stddev=stddevs, rounds=len(stddevs))
    if isinstance(first, LaplaceRound):
        return lambda epsilon: laplace_delta(epsilon, scale=first.scale, rounds=len(rounds))
    mixing = [each for each in rounds if isinstance(each, MixingRound)]
    return lambda epsilon: delta(
        epsilon,
        mixing_weight=first.mixing_weight,
        n=first.units,
        draws=sum(each.draws for each in mixing),
        floor=min(each.floor for each in mixing),
        # Which of two masses is the worse side may differ from round to round: only one round can use both.
        second_floor=first.second_floor if len(mixing) == 1 else None,
    )


def _largest_cost(spent: Callable[[float], float], target: float, allowed: float) -> float:
    """Return about the largest cost found to spend at most ``target``; ``allowed``, by Rényi, is one or nearly."""
    low, stride = allowed, 2.0**-30
    while spent(low) > target:  # by what the account itself is above the truth
        low, stride = low * (1.0 - stride), min(4.0 * stride, 0.5)
    high = 2.0 * low
    while spent(high) <= target:
        low, high = high, 2.0 * high
        if high > _LARGEST_COST:
            return low  # next to no noise is enough
    return _settled(_root(spent, target, low, high), low, lambda cost: spent(cost) <= target)


def _root(spent: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Return where ``spent``, monotone either way, is about ``target``, between ``low`` and ``high``."""

    def excess(logarithm: float) -> float:
        found = spent(math.exp(logarithm))
        return max(math.log(found) if found > 0.0 else _CLIPPED, _CLIPPED) - math.log(target)

    ends = excess(math.log(low)), excess(math.log(high))
    if ends[0] * ends[1] >= 0.0:
        return low if abs(ends[0]) < abs(ends[1]) else high
    return math.exp(float(brentq(excess, math.log(low), math.log(high), xtol=1e-10, rtol=1e-12)))


def _settled(start: float, safe: float, holds: Callable[[float], bool]) -> float:
    """Return ``start`` or the nearest number tried on the way to ``safe``, by growing strides, that holds."""
    value, stride = start, 2.0**-34
    while value != safe and not holds(value):
        value = start + (safe - start) * stride if stride < 1.0 else safe
        stride *= 4.0
    return value
