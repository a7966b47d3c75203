"""The Wasserstein distance W1 between two sets of points: exact, or the mean over subsamples with its error."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evomix.core.arguments import whole
from evomix.core.arrays import FloatArray, IntArray
from evomix.metrics.points import as_points, as_seed, as_weights
from evomix.transport.wasserstein import wasserstein_cost

MOST_POINTS: Final = 4_000
"""Points a side up to which the distance is exact by default: some seconds."""
_MOST_SAMPLES: Final = 5


@dataclass(frozen=True, slots=True)
class Measure:
    """A measured number; ``float(measure)`` is its value.

    Attributes:
        value: the number.
        error: its standard error over subsamples; 0 where it is exact.
        exact: whether it was taken over all points.
        points: how many points of each side were compared at a time.
        samples: how many subsamples the value is the mean of; 1 where it is exact.
    """

    value: float
    error: float
    exact: bool
    points: tuple[int, int]
    samples: int

    def __float__(self) -> float:
        """Return the value."""
        return self.value


def wasserstein(
    x: ArrayLike,
    y: ArrayLike,
    *,
    x_weights: ArrayLike | None = None,
    y_weights: ArrayLike | None = None,
    most: int = MOST_POINTS,
    seed: int = 0,
) -> Measure:
    """Return the least mean Euclidean distance over which the mass of ``x`` can be moved onto that of ``y``.

    Exact, by network simplex, for at most ``most`` points a side. A larger side is cut at random into as many
    disjoint subsamples of ``most`` points as it holds, from 2 to 5 (of half the points where it holds no two), and
    the value is the mean over them, with a standard error. A smaller side takes part as a whole each time.

    **A subsampled W1 is biased upward**: few points cannot be spread as finely as many, and two samples of one
    distribution are apart as well. Compare it only with figures, the ceiling among them, that were taken with as many
    points.

    Args:
        x: numbers (n, k), n ≥ 1.
        y: numbers (m, k), m ≥ 1.
        x_weights: numbers (n,), at least 0 and not all 0, divided by their sum; None: all alike. Points without
            weight are left out at once.
        y_weights: numbers (m,), likewise.
        most: points a side that are compared at a time, whole, at least 1.
        seed: of the subsamples, whole, from 0 to 2³² − 1.

    Raises:
        SpecError: an argument is not as above, or the sets differ in dimension.

    >>> float(wasserstein([[0.0], [2.0]], [[1.0], [4.0]]))
    1.5
    """
    most, rng = whole("most", most, least=1), np.random.default_rng(as_seed(seed))
    left, left_weights = _weighted("x", as_points("x", x), x_weights)
    right, right_weights = _weighted("y", as_points("y", y, like=left), y_weights)
    larger = [len(side) for side in (left, right) if len(side) > most]
    samples = int(np.clip(min(larger) // most, 2, _MOST_SAMPLES)) if larger else 1
    pairs = list(zip(*(_parts(len(side), most, samples, rng) for side in (left, right)), strict=True))
    costs = [
        wasserstein_cost(left[a], right[b], x_weights=left_weights[a], y_weights=right_weights[b]) for a, b in pairs
    ]
    error = float(np.std(costs, ddof=1) / np.sqrt(samples)) if samples > 1 else 0.0
    sizes = min(len(a) for a, _ in pairs), min(len(b) for _, b in pairs)
    return Measure(float(np.mean(costs)), error, not larger, sizes, samples)


def _weighted(name: str, points: FloatArray, weights: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    if weights is None:
        return points, np.full(len(points), 1.0 / len(points))
    shares = as_weights(f"{name}_weights", weights, len(points))
    held = shares > 0.0
    return points[held], shares[held]


def _parts(count: int, most: int, samples: int, rng: np.random.Generator) -> list[IntArray]:
    """Return the positions of each subsample: everything, or disjoint parts of one size, at most ``most``."""
    if count <= most:
        return [np.arange(count)] * samples
    size = min(most, count // samples)
    return list(rng.permutation(count)[: size * samples].reshape(samples, size))
