"""The working part of exact neighbour lists: a matrix product proposes pairs, direct sums decide which are near.

Bounds and arithmetic are those of ``evomix.neighbors.vectors``, with one strip more of error, 8·2⁻⁵³·(A² + B²): here
distances are compared, and a square root may make one of two gaps that differ by that little.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.neighbors.blocks import for_each_block
from evomix.neighbors.centring import CELLS, SCORES, centred, parts, power_of_two, spread
from evomix.neighbors.copies import find_copies
from evomix.neighbors.shortlist import Bound, norms, squared_gap

_LARGEST_RADIUS: Final = 2.0**60
"""A row this far out, in units of the columns' spread, is compared directly with every column."""


class Found(NamedTuple):
    """Lists of some rows, one after the other: ``starts`` (r + 1,), ``columns``, ``distances``, ``reach`` (r,)."""

    starts: IntArray
    columns: NDArray[np.int32]
    distances: FloatArray
    reach: FloatArray


class _Columns(NamedTuple):
    positions: IntArray  # in points
    radii: FloatArray  # norms B of the centred, scaled columns
    first: IntArray  # the first column with the same vector
    rank: IntArray  # how many columns before have the same vector


class _Scratch(NamedTuple):
    near: IntArray  # columns of one row, and their distances
    gaps: FloatArray
    known: FloatArray  # the distance of a column and its copies, decided for row ``known_for``
    known_for: IntArray


@dataclass(frozen=True, slots=True)
class Proposer:
    """Columns, prepared for searches.

    Attributes:
        points: floats (n, k), finite.
        rows: int64 (r,), positions in ``points``.
        columns: positions, norms and copies of the columns.
        vectors: float32 (c, k), the columns centred and scaled.
        centre: float64 (k,), the columns' mean.
        scale: the power of two that gaps are multiplied by.
        cap: distances at or above it are never listed.
    """

    points: NDArray[Any]
    rows: IntArray
    columns: _Columns
    vectors: NDArray[np.float32]
    centre: FloatArray
    scale: float
    cap: float

    @classmethod
    def of(cls, points: NDArray[Any], *, rows: IntArray, columns: IntArray, cap: float) -> Self:
        """Centre and scale the columns."""
        total = np.zeros(points.shape[1])
        for part in parts(len(columns), points.shape[1], cells=CELLS):
            total += points[columns[part]].sum(axis=0, dtype=np.float64)
        centre = total / max(1, len(columns))
        scale = power_of_two(spread(points, columns, centre))
        vectors, radii = centred(points, columns, centre, scale)
        first, rank = _copies(points, columns, radii)
        return cls(points, rows, _Columns(columns, radii, first, rank), vectors, centre, scale, cap)

    def search(self, rows: IntArray, counts: IntArray, limits: FloatArray) -> Found:
        """Return, for each row, the nearest ``counts`` columns that are nearer than ``limits`` and the cap.

        Args:
            rows: int64 (r,), positions in ``self.rows``.
            counts: int64 (r,), at least 1.
            limits: float64 (r,).
        """
        counts = np.minimum(counts, len(self.columns.positions))
        limits = np.minimum(limits, self.cap)
        reach = np.empty(len(rows))
        blocks = [
            self._block(self.rows[rows[part]], counts[part], limits[part], reach[part])
            for part in parts(len(rows), len(self.columns.positions), cells=SCORES)
        ]
        lengths = np.concatenate([np.zeros(1, np.int64), *(block[0] for block in blocks)])
        columns = np.concatenate([np.empty(0, np.int32), *(block[1] for block in blocks)])
        distances = np.concatenate([np.empty(0), *(block[2] for block in blocks)])
        return Found(np.cumsum(lengths), columns, distances, reach)

    def _block(
        self, positions: IntArray, counts: IntArray, limits: FloatArray, reach: FloatArray
    ) -> tuple[IntArray, NDArray[np.int32], FloatArray]:
        with np.errstate(all="ignore"):  # what overflows here is compared directly
            gaps = (self.points[positions] - self.centre) * self.scale
            radii = norms(gaps)
        far = ~(radii <= _LARGEST_RADIUS)
        gaps[far], radii[far] = 0.0, np.inf
        products = gaps.astype(np.float32) @ self.vectors.T
        del gaps
        bound = Bound.of(self.points.shape[1] + 1)
        found: dict[int, tuple[IntArray, NDArray[np.int32], FloatArray]] = {}

        def settle(part: slice) -> None:
            found[part.start] = _settle(
                self.points, positions[part], radii[part], products[part], self.columns,
                self.scale, self.cap, bound, counts[part], limits[part], reach[part],
            )  # fmt: skip

        for_each_block(settle, rows=len(positions), block=64)
        ordered = [found[start] for start in sorted(found)]
        lengths, columns, distances = zip(*ordered, strict=True)
        return np.concatenate(lengths), np.concatenate(columns), np.concatenate(distances)


def _copies(points: NDArray[Any], columns: IntArray, radii: FloatArray) -> tuple[IntArray, IntArray]:
    first, rank = np.arange(len(columns)), np.zeros(len(columns), np.int64)
    order = np.argsort(radii, kind="stable")
    same = np.flatnonzero(np.diff(radii[order]) == 0.0)
    alike = np.unique(order[np.concatenate([same, same + 1])])  # equal vectors have equal norms
    if not alike.size:
        return first, rank
    copies = find_copies(points[columns[alike]])
    sizes = np.diff(copies.starts)
    first[alike[copies.members]] = np.repeat(alike[copies.first], sizes)
    rank[alike[copies.members]] = np.arange(len(alike)) - np.repeat(copies.starts[:-1], sizes)
    return first, rank


@compiled
def _threshold(
    products: NDArray[np.float32], radius: float, radii: FloatArray, bound: Bound, count: int, buffer: FloatArray
) -> float:  # pragma: no cover - compiled
    """Return a number that the ``count``-th smallest upper bound s + E (without its terms in A) does not exceed.

    It is that bound itself; uppers below the best threshold so far gather in ``buffer`` (2·count,), which is cut to
    its ``count`` smallest when full.
    """
    threshold, held = np.inf, 0
    slope = bound.product * radius
    for i in range(len(radii)):
        b = radii[i]
        upper = b * (b + slope + bound.sums * b) - 2.0 * products[i]
        if upper < threshold:
            buffer[held] = upper
            held += 1
            if held == 2 * count:
                buffer[:] = np.partition(buffer, count - 1)
                threshold, held = buffer[:count].max(), count
    return np.partition(buffer[:held], count - 1)[count - 1] if held >= count else np.inf


@compiled
def _settle(
    points: NDArray[Any],
    positions: IntArray,
    radii: FloatArray,
    products: NDArray[np.float32],
    columns: _Columns,
    scale: float,
    cap: float,
    bound: Bound,
    counts: IntArray,
    limits: FloatArray,
    reach: FloatArray,
) -> tuple[IntArray, NDArray[np.int32], FloatArray]:  # pragma: no cover - compiled
    """Decide the lists of some rows; write their reach, return lengths, columns and distances."""
    total = len(columns.positions)
    lengths = np.empty(len(positions), np.int64)
    listed, distances, held = np.empty(len(positions), np.int32), np.empty(len(positions)), 0
    near, gaps = np.empty(total, np.int64), np.empty(total)
    scratch = _Scratch(near, gaps, np.empty(total), np.full(total, -1, np.int64))
    buffer = np.empty(0)
    for r in range(len(positions)):
        wanted = counts[r] + 1  # one more than is listed: its distance is the reach
        threshold = np.inf
        if radii[r] < np.inf:
            if len(buffer) != 2 * wanted:
                buffer = np.empty(2 * wanted)
            if wanted <= total:
                threshold = _threshold(products[r], radii[r], columns.radii, bound, wanted, buffer)
            a = radii[r]
            limit = limits[r] * scale
            threshold = min(threshold, limit * limit * (1.0 + 2.0**-40) - a * a)
            threshold += 2.0 * (bound.sums * a * a + bound.underflow * (1.0 + a))
        found = _decide(
            points, columns, scale, bound, scratch, positions[r], radii[r], products[r], threshold, wanted, limits[r]
        )
        order = np.argsort(gaps[:found], kind="mergesort")  # stable, and columns came in order of position
        kept = min(found, counts[r])
        if found > kept:
            reach[r] = gaps[order[kept]]
        else:
            reach[r] = np.inf if limits[r] >= cap or kept == total else limits[r]
        if held + kept > len(listed):
            listed = _longer(listed, held + kept)
            distances = _longer(distances, held + kept)
        for i in order[:kept]:
            listed[held], distances[held] = near[i], gaps[i]
            held += 1
        lengths[r] = kept
    return lengths, listed[:held].copy(), distances[:held].copy()


@compiled
def _decide(
    points: NDArray[Any],
    columns: _Columns,
    scale: float,
    bound: Bound,
    scratch: _Scratch,
    position: int,
    radius: float,
    products: NDArray[np.float32],
    threshold: float,
    wanted: int,
    limit: float,
) -> int:  # pragma: no cover - compiled
    """Write the columns that are not ruled out and nearer than ``limit``, with their distances; return how many."""
    found = 0
    row = points[position].astype(np.float64)
    slope = bound.product * radius
    for i in range(len(columns.positions)):
        b = columns.radii[i]
        lower = b * (b - slope - bound.sums * b) - 2.0 * products[i]
        # Not a number, where a radius is infinite, stays in. Of copies only the first ``wanted`` can be listed.
        if lower > threshold or columns.rank[i] >= wanted:
            continue
        first = columns.first[i]
        if scratch.known_for[first] != position:
            scratch.known[first] = _distance(row, points[columns.positions[first]], scale)
            scratch.known_for[first] = position
        if scratch.known[first] < limit:
            scratch.near[found], scratch.gaps[found] = i, scratch.known[first]
            found += 1
    return found


@compiled
def _distance(row: FloatArray, column: NDArray[Any], scale: float) -> float:  # pragma: no cover - compiled
    gap = squared_gap(row, column, scale)
    if gap == np.inf:  # a row far out, in the columns' scale; coordinates are small enough for none at all
        return float(np.sqrt(squared_gap(row, column, 1.0)))
    return float(np.sqrt(gap) / scale)


@compiled
def _longer(values: NDArray[Any], least: int) -> NDArray[Any]:  # pragma: no cover - compiled
    grown = np.empty(max(2 * len(values), least), values.dtype)
    grown[: len(values)] = values
    return grown
