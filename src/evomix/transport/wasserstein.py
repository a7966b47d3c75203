"""The Wasserstein distance W1 between weighted point sets, exact."""

import math

import numpy as np
from numpy.typing import ArrayLike

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.transport.arguments import finite_numbers
from evomix.transport.points import PointTransport


def wasserstein_cost(
    x: FloatArray,
    y: FloatArray,
    *,
    x_weights: ArrayLike | None = None,
    y_weights: ArrayLike | None = None,
    cap: float = math.inf,
) -> float:
    """Return the least cost of moving the weights of ``x`` onto those of ``y``, at min(ρ, cap) a unit.

    Weights are divided by their sums. Exact up to 10⁻¹² of the largest distance; no dense matrix is made.

    Args:
        x: floats (n, k), n ≥ 1, finite.
        y: floats (m, k), m ≥ 1, finite.
        x_weights: floats (n,), at least 0 and not all 0; ``None``: all alike.
        y_weights: floats (m,), likewise.
        cap: positive.

    Raises:
        SpecError: an argument is not as above.

    >>> wasserstein_cost(np.array([[0.0], [2.0]]), np.array([[1.0], [4.0]]))
    1.5
    """
    left, right = _shares("x", x, x_weights), _shares("y", y, y_weights)
    sources, sinks = np.flatnonzero(left), np.flatnonzero(right)
    problem = PointTransport(
        np.asarray(x)[sources],
        np.asarray(y)[sinks],
        left[sources],
        right[sinks],
        slack_costs=np.zeros(sources.size),
        cap=cap,
        aligned=True,
    )
    problem.solve()
    return problem.flow.cost


def _shares(name: str, points: FloatArray, weights: ArrayLike | None) -> FloatArray:
    count = len(np.atleast_1d(points))
    if weights is None:
        return np.full(count, 1.0 / max(count, 1))
    numbers = finite_numbers(f"{name}_weights", weights, count)
    total = float(numbers.sum())
    if (numbers < 0.0).any() or not 0.0 < total < math.inf:
        raise SpecError(f"expected {name}_weights of at least 0, with a finite sum above 0, got sum={total}")
    return numbers / total
