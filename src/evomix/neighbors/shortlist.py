"""The compiled part of vector search: rule candidates out by a bound, decide among the rest directly.

The bound is derived in ``evomix.neighbors.vectors``.
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled

_LANES = 16
"""Partial sums of the deciding sum: fixed, so that it vectorises and its order is ours."""

_LAST = np.iinfo(np.int64).max

_ZERO_GAP = 2.0
"""Squared gap of unit vectors at cosine distance 1."""


class Bound(NamedTuple):
    """Coefficients of the error E = product·A·B + sums·(A² + B²) + underflow·(1 + A)."""

    product: float
    sums: float
    underflow: float

    @classmethod
    def of(cls, dimension: int) -> Self:
        """Return the coefficients for vectors of ``dimension`` (k < 2²⁰)."""
        steps = (dimension + 3) * 2.0**-24
        return cls(
            product=1.01 * 2.0 * steps / (1.0 - steps),
            sums=8.0 * (dimension + 8) * 2.0**-53,
            underflow=dimension * 2.0**-120,
        )


@compiled
def norms(rows: FloatArray) -> FloatArray:
    """Return the Euclidean norm of each row, float64 (n,)."""
    count, columns = rows.shape
    result = np.empty(count, np.float64)
    for r in range(count):
        total = 0.0
        for j in range(columns):
            total += rows[r, j] * rows[r, j]
        result[r] = np.sqrt(total)
    return result


@compiled
def unit_rows(rows: NDArray[Any]) -> FloatArray:
    """Return rows scaled to norm 1, float64 (n, k); rows without a direction (zero, not finite) become zero.

    Each row is a function of that row alone. Scaling first by a power of two keeps squares in range and makes
    x and 2·x the same unit vector to the last bit.
    """
    count, columns = rows.shape
    result = np.empty((count, columns), np.float64)
    for r in range(count):
        largest = 0.0
        for j in range(columns):
            largest = max(largest, abs(np.float64(rows[r, j])))
        exponent = -math.frexp(largest)[1]
        half = exponent // 2  # in two steps: the factor itself may lie outside float64's range
        total = 0.0
        for j in range(columns):
            value = math.ldexp(math.ldexp(np.float64(rows[r, j]), half), exponent - half)
            result[r, j] = value
            total += value * value
        norm = np.sqrt(total) if 0.0 < total < np.inf else np.nan
        for j in range(columns):
            result[r, j] = 0.0 if np.isnan(norm) else result[r, j] / norm
    return result


@compiled
def squared_gap(query: FloatArray, candidate: NDArray[Any], scale: float) -> float:
    """Return Σ_j ((x_j − c_j)·scale)² in a fixed order; infinity where it is not a number."""
    columns = len(query)
    lanes = np.zeros(_LANES, np.float64)
    whole = columns - columns % _LANES
    for start in range(0, whole, _LANES):
        for lane in range(_LANES):
            gap = (query[start + lane] - candidate[start + lane]) * scale
            lanes[lane] += gap * gap
    total = 0.0
    for lane in range(_LANES):
        total += lanes[lane]
    for j in range(whole, columns):
        gap = (query[j] - candidate[j]) * scale
        total += gap * gap
    return np.inf if np.isnan(total) else total


@compiled
def _insert(gaps: FloatArray, positions: IntArray, gap: float, position: int) -> None:
    """Put (gap, position) into the ascending list if it belongs there, dropping the last entry."""
    slot = len(gaps)
    while slot > 0 and (gap < gaps[slot - 1] or (gap == gaps[slot - 1] and position < positions[slot - 1])):
        slot -= 1
        if slot + 1 < len(gaps):
            gaps[slot + 1] = gaps[slot]
            positions[slot + 1] = positions[slot]
    if slot < len(gaps):
        gaps[slot] = gap
        positions[slot] = position


@compiled
def _threshold(
    products: NDArray[np.float32], radius: float, radii: FloatArray, bound: Bound, uppers: FloatArray
) -> float:
    """Return the ``len(uppers)``-th smallest upper bound s + E − (terms in A alone)."""
    unused = np.zeros(len(uppers), np.int64)
    uppers[:] = np.inf
    for i in range(len(radii)):
        b = radii[i]
        upper = b * b - 2.0 * products[i] + bound.product * radius * b + bound.sums * b * b
        if upper < uppers[-1]:
            _insert(uppers, unused, upper, 0)
    return float(uppers[-1])


@compiled
def decide(
    queries: FloatArray,
    query_radii: FloatArray,
    products: NDArray[np.float32],
    candidates: NDArray[Any],
    candidate_radii: FloatArray,
    copies: tuple[IntArray, IntArray],
    scale: float,
    bound: Bound,
    zero: int,
    answer: IntArray,
) -> None:
    """Write each query's nearest positions, ordered by (distance, position), into ``answer``.

    Args:
        queries: float64 (n, k).
        query_radii: float64 (n,), norms A of centred, scaled queries; infinite: compare with all candidates.
        products: float32 (n, u), inner products of centred, scaled queries and candidates.
        candidates: floats (u, k), distinct.
        candidate_radii: float64 (u,), norms B; infinite: never rule this one out.
        copies: ``starts`` int64 (u + 1,) and ``members`` int64 (d,), where each candidate's copies stand.
        scale: the power of two all gaps are multiplied by.
        bound: coefficients of E.
        zero: the candidate that is ``_ZERO_GAP`` away whatever the query; -1: none.
        answer: int64 (n, count), written.
    """
    starts, members = copies
    count = answer.shape[1]
    gaps = np.empty(count, np.float64)
    for q in range(len(queries)):
        radius = query_radii[q]
        threshold = np.inf
        if radius < np.inf:
            threshold = _threshold(products[q], radius, candidate_radii, bound, gaps)
            threshold += 2.0 * (bound.sums * radius * radius + bound.underflow * (1.0 + radius))
        gaps[:] = np.inf
        answer[q, :] = _LAST
        for i in range(len(candidates)):
            b = candidate_radii[i]
            lower = b * b - 2.0 * products[q, i] - bound.product * radius * b - bound.sums * b * b
            if lower > threshold:
                continue  # not a number, where a radius is infinite, stays in
            gap = _ZERO_GAP * scale * scale if i == zero else squared_gap(queries[q], candidates[i], scale)
            # Of one candidate's copies only the first ``count`` can be among the nearest.
            for member in members[starts[i] : min(starts[i] + count, starts[i + 1])]:
                _insert(gaps, answer[q], gap, member)
