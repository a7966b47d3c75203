"""From a budget to a parameter and back, for mixing mechanisms; always rounded towards privacy.

A run's budget is a *number of draws*: rounds may differ in candidates and noise distribution and may be chosen
adaptively, as long as all use one mixing weight β and no noise mass lies below the common floor t
(proof: docs/proofs/mixing.md, "Composition"). A second, larger floor speaks of one round only.

Every figure here is for replace-one neighbours, n being public. What it takes to read it as add-remove:
docs/proofs/mixing.md, "Add-remove neighbours".
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Final

from scipy.optimize import brentq

from evomix.core.arguments import number, whole
from evomix.core.errors import SpecError
from evomix.privacy.hockey_stick import MAX_DRAWS, mixing_delta

GRID: Final = 2**53
"""Mixing weights are multiples of 1/GRID: exact as floats, and sampled as the very same integers."""

MAX_UNITS: Final = 2**62
"""Largest number of private units that is accounted for."""

_TINY_LOG: Final = -1e4  # stands for ln 0 where the root finder needs a finite number


def check_epsilon(epsilon: float) -> float:
    """Return ``epsilon`` if it is finite and positive, else raise ``SpecError``."""
    if not 0.0 < number("epsilon", epsilon) < math.inf:
        raise SpecError(f"epsilon must be a finite number above 0; found epsilon={epsilon!r}")
    return number("epsilon", epsilon)


def check_loss(epsilon: float) -> float:
    """Return ``epsilon`` if it is at least 0, perhaps infinite, else raise ``SpecError``."""
    if not number("epsilon", epsilon) >= 0.0:
        raise SpecError(f"epsilon must be at least 0; found epsilon={epsilon!r}")
    return number("epsilon", epsilon)


def check_delta(delta: float) -> float:
    """Return ``delta`` if it lies in (0, 1), else raise ``SpecError``."""
    if not 0.0 < number("delta", delta) < 1.0:
        raise SpecError(f"delta must lie strictly between 0 and 1; found delta={delta!r}")
    return number("delta", delta)


def check_share(name: str, value: float) -> float:
    """Return ``value`` if it is a number in [0, 1], else raise ``SpecError``."""
    if not 0.0 <= number(name, value) <= 1.0:
        raise SpecError(f"{name} must be a number in [0, 1]; found {name}={value!r}")
    return number(name, value)


def check_floors(floor: float, second_floor: float | None = None) -> tuple[float, float]:
    """Return the two smallest noise masses if a distribution can have them, else raise ``SpecError``."""
    least = number("floor", floor)
    floors = (least, least if second_floor is None else number("second_floor", second_floor))
    if not (0.0 <= floors[0] <= floors[1] <= 1.0 and sum(floors) <= 1.0):
        raise SpecError(
            f"floors are the two smallest noise masses: 0 ≤ floor ≤ second_floor and floor + second_floor ≤ 1; "
            f"found floor={floors[0]!r}, second_floor={floors[1]!r}; a single candidate counts as two with floor=0.5"
        )
    return floors


def _sizes(n: int, draws: int) -> tuple[int, int]:
    """Return the number of units and of draws if they can be accounted for, else raise ``SpecError``."""
    return whole("n", n, least=1, most=MAX_UNITS), whole("draws", draws, least=0, most=MAX_DRAWS)


def delta(
    epsilon: float,
    *,
    mixing_weight: float,
    n: int,
    draws: int,
    floor: float,
    second_floor: float | None = None,
) -> float:
    """Return an upper bound on δ(ε) of ``draws`` draws from a mixture, replace-one neighbours.

    Args:
        epsilon: ε ≥ 0.
        mixing_weight: β in [0, 1], the share of noise.
        n: number of private units (public).
        draws: number of draws over all rounds.
        floor: smallest mass of any round's noise distribution, in [0, 1/2]. One candidate alone counts as two: 1/2.
        second_floor: second smallest mass, if it is known to be larger. Only for draws of a *single* round: from
            round to round the smaller mass may change sides, and such a run can lose more than either order does.

    Raises:
        SpecError: a parameter is out of range.

    Source: PubMix, Theorem 4.1 and Lemma C.2. Proof: docs/proofs/mixing.md.
    """
    epsilon = check_loss(epsilon)
    mixing_weight = check_share("mixing_weight", mixing_weight)
    (n, draws), floors = _sizes(n, draws), check_floors(floor, second_floor)
    if epsilon == math.inf and mixing_weight * floors[0] > 0.0:
        return 0.0
    return mixing_delta(epsilon, mixing_weight=mixing_weight, n=n, draws=draws, floors=floors)


def mixing_weight(
    epsilon: float, delta: float, *, n: int, draws: int, floor: float, second_floor: float | None = None
) -> float:
    """Return β_min, the least share of noise that meets (ε, δ) under replace-one neighbours.

    A multiple of 2⁻⁵³, rounded up: put back into :func:`delta` it gives at most ``delta``, and less by 2⁻⁴³ of β or
    1 − β (or by one multiple, if that is more) would not. Arguments as there.

    Raises:
        SpecError: a parameter is out of range.

    Source: PubMix, Theorem 4.1 and Lemma C.5. Proof: docs/proofs/mixing.md.

    Ten times the draws, and more of them have to be noise:

    >>> [f"{mixing_weight(5.0, 1 / 1200, n=1200, draws=m, floor=1e-3):.4f}" for m in (100, 1000, 10_000)]
    ['0.0607', '0.2882', '0.6660']
    """
    epsilon, target = check_epsilon(epsilon), check_delta(delta)
    (n, draws), floors = _sizes(n, draws), check_floors(floor, second_floor)

    def spent(beta: float) -> float:
        return mixing_delta(epsilon, mixing_weight=beta, n=n, draws=draws, floors=floors)

    return least_weight(spent, target)


def least_weight(spent: Callable[[float], float], target: float) -> float:
    """Return the least multiple of 2⁻⁵³ at which ``spent``, which falls in β and is 0 at 1, is at most ``target``.

    Exact to 2⁻⁴³ of β or of 1 − β, whichever is less, or to one multiple, and never too small.
    """
    spent = cache(spent)  # the search comes back to where it has been
    if spent(0.0) <= target:
        return 0.0
    log_target = math.log(target)

    def excess(log_odds: float) -> float:
        found = spent(1.0 / (1.0 + math.exp(-log_odds)))
        return max(math.log(found) if found > 0.0 else _TINY_LOG, _TINY_LOG) - log_target

    bracket = _bracket(excess)
    beta = 1.0 / GRID
    if bracket is not None:
        beta = 1.0 / (1.0 + math.exp(-brentq(excess, *bracket, xtol=1e-11, rtol=1e-13, maxiter=200)))
    return _on_grid(beta, lambda beta: spent(beta) <= target)


def _bracket(excess: Callable[[float], float]) -> tuple[float, float] | None:
    """Return log-odds of β around the root of the decreasing function ``excess``.

    At log-odds 40 the float β is 1, where δ is 0. None: the root lies below log-odds −40, beyond the grid.
    """
    low = high = 0.0
    step = 1.0
    if excess(0.0) > 0.0:
        while high < 40.0 and excess(high) > 0.0:
            low, high, step = high, min(high + step, 40.0), step * 2.0
        return low, high
    while low > -40.0:
        low, high, step = max(low - step, -40.0), low, step * 2.0
        if excess(low) > 0.0:
            return low, high
    return None


def _on_grid(beta: float, private: Callable[[float], bool]) -> float:
    """Return a grid point near ``beta`` found private whose lower neighbour, a stride away, is not.

    The grid's ends need no asking: 0 is known not to be private, 1 to be.
    """
    low, high = 0, GRID
    at = min(max(1, math.ceil(beta * GRID)), GRID - 1)
    stride = step = max(1, min(at, GRID - at) >> 43)
    while low < at < high:  # away from ``beta`` by growing steps, until the answer changes
        if private(at / GRID):
            high, at = at, at - step
        else:
            low, at = at, at + step
        step *= 2
    while high - low > stride:
        middle = (low + high) // 2
        low, high = (low, middle) if private(middle / GRID) else (middle, high)
    return high / GRID


def max_draws(
    epsilon: float,
    delta: float,
    *,
    n: int,
    mixing_weight: float,
    floor: float,
    second_floor: float | None = None,
) -> int:
    """Return the largest number of draws that meets (ε, δ) at a given β under replace-one, at most ``MAX_DRAWS``.

    The budget of a whole run, to spend over rounds as one likes; with ``second_floor``, of a single round.
    Arguments as in :func:`delta`.

    Raises:
        SpecError: a parameter is out of range.

    Source: PubMix, Theorem 4.1. Proof: docs/proofs/mixing.md.
    """
    epsilon, target = check_epsilon(epsilon), check_delta(delta)
    (n, _), floors = _sizes(n, 0), check_floors(floor, second_floor)
    mixing_weight = check_share("mixing_weight", mixing_weight)

    def private(draws: int) -> bool:
        return mixing_delta(epsilon, mixing_weight=mixing_weight, n=n, draws=draws, floors=floors) <= target

    high = 1
    while high < MAX_DRAWS and private(high):
        high = min(2 * high, MAX_DRAWS)
    if private(high):
        return high
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if private(middle) else (low, middle)
    return low
