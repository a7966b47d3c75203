"""What a metric accepts as points, and the distance it takes between two of them."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evomix.core.arguments import real_array, whole
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError

LARGEST: Final = 1e140
"""Coordinates beyond it would overflow when squared."""
TIE: Final = 1e-12
"""Squared distances that differ by less than this share of them are equal: rounding must not decide a tie."""
MOST_SEED: Final = 2**32 - 1
"""Largest seed that k-means takes; all figures of one comparison have the same."""
_NUMBERS: Final = 1 << 22
"""Float64 numbers held at a time (32 MiB)."""


def as_points(name: str, points: ArrayLike, *, like: FloatArray | None = None) -> FloatArray:
    """Return points as a contiguous float64 (n, k), n ≥ 1, k ≥ 1, finite.

    Args:
        name: what messages call them.
        points: real numbers (n, k).
        like: points whose dimension they must have.

    Raises:
        SpecError: an argument is not as above, or a coordinate is beyond 1e140.
    """
    given: NDArray[Any] = real_array(name, points, truths=True)
    if given.ndim != 2 or not given.size:
        raise SpecError(
            f"expected {name} as vectors of numbers, shape (n, k) with n ≥ 1 and k ≥ 1, got shape={given.shape} of "
            f"type={given.dtype}; embed the records first, a single number each as (n, 1)"
        )
    with np.errstate(over="ignore"):  # of longer floats, refused below
        found = np.ascontiguousarray(given, dtype=np.float64)
    if not max(float(found.max()), -float(found.min())) <= LARGEST:  # so written, NaN fails too
        raise SpecError(f"expected finite coordinates of at most {LARGEST:g} in size in {name}; mend the others")
    if like is not None and found.shape[1] != like.shape[1]:
        raise SpecError(
            f"expected {name} of dimension {like.shape[1]}, got dimension={found.shape[1]}; embed all sets alike"
        )
    return found


def as_weights(name: str, weights: ArrayLike, count: int) -> FloatArray:
    """Return ``count`` weights of at least 0 as float64, divided by their sum.

    Raises:
        SpecError: another number of weights, a negative one or NaN, or a sum that is not finite and positive.
    """
    with np.errstate(over="ignore"):  # of longer floats, refused below
        found: FloatArray = np.asarray(real_array(name, weights, truths=True), np.float64)
    if found.shape != (count,):
        raise SpecError(f"expected {name} of shape ({count},), one for each point, got shape={found.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(found.sum())
    if not (found >= 0.0).all() or not 0.0 < total < np.inf:
        raise SpecError(f"expected {name} of at least 0 with a finite sum above 0, got sum={total}")
    return found / total


def as_seed(seed: Any) -> int:
    """Return a seed as an int.

    Raises:
        SpecError: it is no whole number from 0 to 2³² − 1.
    """
    return whole("seed", seed, least=0, most=MOST_SEED)


def squared_gaps(points: FloatArray, others: FloatArray, positions: IntArray) -> FloatArray:
    """Return Σ_j (points[i, j] − others[positions[i, c], j])², float64 (n, c), by direct differences.

    Args:
        points: float64 (n, k).
        others: float64 (m, k).
        positions: int64 (n, c), rows of ``others``.
    """
    answer = np.empty(positions.shape)
    block = max(1, _NUMBERS // (points.shape[1] * positions.shape[1]))
    for start in range(0, len(points), block):
        part = slice(start, start + block)
        gaps = others[positions[part]] - points[part, None, :]
        answer[part] = np.einsum("nck,nck->nc", gaps, gaps)
    return answer


def draw(points: FloatArray, most: int, rng: np.random.Generator) -> FloatArray:
    """Return all points, or ``most`` of them drawn without repeats."""
    return points if len(points) <= most else points[rng.choice(len(points), size=most, replace=False)]
