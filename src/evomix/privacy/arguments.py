"""Numbers that callers give, as Python's own.

NumPy's small integers wrap around in sums, and arithmetic with its small floats rounds coarsely: either could bring a
bound below the truth. A float32 stands for the exact number it holds, which is a double.
"""

from numbers import Integral, Real
from typing import Any

from evomix.core.errors import SpecError


def number(name: str, value: Any) -> float:
    """Return a real number as a float.

    Raises:
        SpecError: it is no real number (true and false are none), or too large for a float.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise SpecError(f"{name} must be a number; found {name}={value!r}")
    try:
        return float(value)
    except OverflowError:
        raise SpecError(f"{name} must be a number that a float can hold; found one beyond 10^308") from None


def whole(name: str, value: Any, *, least: int, most: int) -> int:
    """Return a whole number in ``least..most`` as an int.

    Raises:
        SpecError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        raise SpecError(f"{name} must be a whole number in {least}..{most}; found {name}={value!r}")
    return int(value)
