"""Numbers that callers give, as Python's own, and arrays of them.

NumPy's small integers wrap around in sums, and arithmetic with its small floats rounds coarsely: either could bring a
bound below the truth. A float32 stands for the exact number it holds, which is a double.
"""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


def whole(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """Return a whole number in ``least..most`` as an int; without ``most`` any of at least ``least``.

    Raises:
        SpecError: it is none.
    """
    if not isinstance(value, bool) and isinstance(value, Integral):
        found = int(value)
        if least <= found and (most is None or found <= most):
            return found
    span = f"of at least {least}" if most is None else f"in {least}..{most}"
    raise SpecError(f"{name} must be a whole number {span}; found {name}={shown(value)}")


def real_array(name: str, values: ArrayLike, *, truths: bool = False) -> NDArray[Any]:
    """Return real numbers as an array, of the type that they came with.

    Args:
        name: what messages call them.
        values: numbers, nested to any depth.
        truths: whether true and false count as 1 and 0.

    Raises:
        SpecError: they are not all real numbers, or their shape is ragged.
    """
    try:
        found: NDArray[Any] = np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise SpecError(f"{name} must be an array of real numbers; it is ragged or holds something else") from error
    if found.dtype.kind not in ("fiub" if truths else "fiu"):
        raise SpecError(f"{name} must be an array of real numbers; found one of type={found.dtype}")
    return found


def shown(value: Any) -> str:
    """Return the ``repr`` of what a caller gave, for a message."""
    try:
        return repr(value)
    except ValueError:  # Python writes out no whole number of more than some thousand digits
        return "(a number of thousands of digits)"
