"""Checking what a transport problem is made of, and rounding it to integers."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError


def finite_numbers(name: str, values: ArrayLike, size: int | None = None) -> FloatArray:
    """Return a copy as float64 (n,).

    Raises:
        SpecError: the shape is another, or a number is not finite.
    """
    numbers = np.array(values, np.float64)
    if numbers.ndim != 1 or numbers.size != (numbers.size if size is None else size):
        wanted = "(n,)" if size is None else f"({size},)"
        raise SpecError(f"expected {name} of shape {wanted}, got shape={numbers.shape}")
    if not np.isfinite(numbers).all():
        raise SpecError(f"expected finite {name}; found infinity or NaN")
    return numbers


def positions_below(name: str, values: ArrayLike, count: int) -> NDArray[np.int32]:
    """Return positions as int32 (n,).

    Raises:
        SpecError: they are no integers, or not from 0 to ``count`` − 1.
    """
    positions = np.asarray(values)
    if positions.size == 0:
        return np.zeros(0, np.int32)
    if positions.ndim != 1 or positions.dtype.kind not in "iu" or positions.min() < 0 or positions.max() >= count:
        raise SpecError(f"expected {name} as integers (n,) from 0 to {count - 1}")
    return positions.astype(np.int32)


def rounded(values: FloatArray, exponent: int) -> IntArray:
    """Return ``values·2^exponent`` rounded to int64."""
    return np.rint(np.ldexp(values, exponent)).astype(np.int64)
