"""Vectors as matrix products take them: centred, scaled by a power of two and rounded to float32, some at a time.

What the rounding may do to a distance is bounded in ``evomix.neighbors.vectors``.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.neighbors.shortlist import norms

SCORES: Final = 1 << 25
"""Float32 products held at a time (128 MiB)."""
CELLS: Final = 1 << 22
"""Float64 coordinates held at a time while vectors are centred (32 MiB, twice)."""
_ROWS: Final = 4096
"""Most rows in one matrix product."""


def parts(count: int, width: int, *, cells: int) -> list[slice]:
    """Return slices of ``count`` rows of ``width`` numbers, each of at most ``cells`` numbers (one row at least)."""
    step = max(1, min(_ROWS, cells // max(1, width)))
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def power_of_two(largest: float) -> float:
    """Return the power of two that brings ``largest`` into [0.5, 1), within float64's range."""
    exponent = int(np.frexp(largest)[1])
    return float(np.ldexp(1.0, -max(-900, exponent)))


def spread(points: NDArray[Any], chosen: IntArray, centre: FloatArray) -> float:
    """Return the largest size of a coordinate of the chosen points, seen from ``centre``; 0 without any."""
    sizes = (
        float(np.abs(points[chosen[part]] - centre).max(initial=0.0))
        for part in parts(len(chosen), points.shape[1], cells=CELLS)
    )
    return max(sizes, default=0.0)


def centred(
    points: NDArray[Any], chosen: IntArray, centre: FloatArray, scale: float
) -> tuple[NDArray[np.float32], FloatArray]:
    """Return the chosen points less ``centre``, times ``scale``, as float32 (c, k), and their norms before rounding."""
    vectors, radii = np.empty((len(chosen), points.shape[1]), np.float32), np.empty(len(chosen))
    for part in parts(len(chosen), points.shape[1], cells=CELLS):
        gaps = (points[chosen[part]] - centre) * scale
        radii[part] = norms(gaps)
        vectors[part] = gaps
    return vectors, radii
