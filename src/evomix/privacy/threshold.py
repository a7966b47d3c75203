"""Calibration: the smallest number that meets a monotone condition, rounded to the safe side."""

from collections.abc import Callable

from evomix.core.errors import SpecError

_LOWEST, _HIGHEST = 1e-300, 1e300
_HALVINGS = 46  # the bracket is within a factor of two, so the answer is within 2^-46 of the threshold


def smallest(condition: Callable[[float], bool], *, guess: float) -> float:
    """Return a positive number that meets ``condition``, within a relative 2⁻⁴⁵ of the smallest that does.

    The number returned was itself tried, so rounding inside ``condition`` cannot make it break the
    condition.

    Args:
        condition: false below some threshold and true above it.
        guess: a positive number to start from; a wrong one costs a step per factor of two.

    Raises:
        SpecError: when nothing up to 1e300 meets the condition.
    """
    high = guess
    while not condition(high):
        high *= 2.0
        if high > _HIGHEST:
            raise SpecError("Expected a target that some finite parameter meets; found none. Relax the target.")
    low = high / 2.0
    while low > _LOWEST and condition(low):
        high, low = low, low / 2.0
    for _ in range(_HALVINGS):
        middle = low + (high - low) / 2.0
        if condition(middle):
            high = middle
        else:
            low = middle
    return high


def check_rounds(rounds: int) -> None:
    """Refuse a number of rounds that nothing can be calibrated for.

    Raises:
        SpecError: unless it is a whole number from 1 to 10⁹.
    """
    if not isinstance(rounds, int) or not 1 <= rounds <= 10**9:
        raise SpecError(f"Expected rounds to be a whole number of at least 1; found rounds={rounds!r}.")
