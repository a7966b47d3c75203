"""Exact neighbour lists: the nearest columns of every row, and a radius within which nothing is missing.

A sparse stand-in for a matrix of Euclidean distances between thousands of points. What is not listed is at least
``reach`` away, which is what lets an algorithm on the lists prove that its answer is the one on the whole matrix.
Matrix products propose, sums of squared gaps in float64 decide: see ``evomix.neighbors.vectors``.
Speed: ``benchmarks/results/gape.md``.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.core.errors import SpecError
from evomix.neighbors.proposals import Found, Proposer

_LARGEST_COORDINATE = 1e150


class ByColumn(NamedTuple):
    """Lists by column: ``starts`` int64 (c + 1,), ``rows`` int32 (ascending in each column), ``distances`` float64."""

    starts: IntArray
    rows: NDArray[np.int32]
    distances: FloatArray


@dataclass(frozen=True, slots=True)
class NearLists:
    """The nearest columns of each of r rows, out of c.

    Attributes:
        starts: int64 (r + 1,); row i's list is ``columns[starts[i]:starts[i + 1]]``.
        columns: int32, positions among the columns (not among the points).
        distances: float64, ascending in each list, ties by position.
        reach: float64 (r,); every column strictly nearer than ``reach[i]`` is in row i's list, and no listed one is
            farther. Infinity: all columns nearer than the cap are listed.
        proposer: the prepared columns, for longer lists.
    """

    starts: IntArray
    columns: NDArray[np.int32]
    distances: FloatArray
    reach: FloatArray
    proposer: Proposer

    @property
    def cap(self) -> float:
        """Distances at or above it are not listed."""
        return self.proposer.cap

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return len(self.reach), len(self.proposer.columns.positions)

    def extend(self, rows: NDArray[Any], count: int | NDArray[Any]) -> "NearLists":
        """Return the lists with those of ``rows`` made anew, ``count`` long (one number, or one for each).

        Raises:
            SpecError: a row is not one of the lists' or stands there twice, or a count is below 1.
        """
        rows = self._checked(rows)
        counts = np.broadcast_to(np.asarray(count, np.int64), rows.shape)
        if rows.size and counts.min() < 1:
            raise SpecError(f"expected a count of at least 1, got count={counts.min()}")
        return self._with(rows, self.proposer.search(rows, counts, np.full(len(rows), np.inf)))

    def by_column(self, kept: NDArray[np.bool_] | None = None) -> ByColumn:
        """Return the entries by column, without the rows where ``kept`` (r,) is false."""
        kept = np.ones(len(self.reach), np.bool_) if kept is None else kept
        return ByColumn(*_turned(self.starts, self.columns, self.distances, kept, self.shape[1]))

    def _checked(self, rows: NDArray[Any]) -> IntArray:
        rows = np.asarray(rows, np.int64)
        if rows.ndim != 1 or len(np.unique(rows)) < rows.size or (rows.size and not _inside(rows, len(self.reach))):
            raise SpecError(f"expected distinct rows of the {len(self.reach)} that have lists, got rows={rows}")
        return rows

    def _with(self, rows: IntArray, found: Found) -> "NearLists":
        source = np.full(len(self.reach), -1, np.int64)
        source[rows] = np.arange(len(rows))
        starts, columns, distances = _merged(
            source, (self.starts, self.columns, self.distances), (found.starts, found.columns, found.distances)
        )
        reach = self.reach.copy()
        reach[rows] = found.reach
        return NearLists(starts, columns, distances, reach, self.proposer)


def near_lists(
    points: NDArray[Any], *, rows: NDArray[Any], columns: NDArray[Any], count: int, cap: float = math.inf
) -> NearLists:
    """Return the ``count`` nearest columns of each row, nearer than ``cap``, by Euclidean distance.

    Exact: equal to sorting all distances by (distance, position). A row that is a column too is its own neighbour at
    distance 0. Lists are whole, with an infinite reach, where fewer columns than ``count`` are nearer than ``cap``.
    Working memory stays near 256 MiB beside a float32 copy of the columns and the answer. Post-processing; costs
    nothing.

    Args:
        points: floats (n, k), k < 2²⁰, finite and at most 1e150 in size.
        rows: integers (r,), positions in ``points``.
        columns: integers (c,), distinct positions in ``points``.
        count: columns in a list, at least 1.
        cap: above 0.

    Raises:
        SpecError: an argument is outside these ranges.
    """
    if count < 1:
        raise SpecError(f"expected a count of at least 1, got count={count}")
    proposer = _prepared(points, rows, columns, cap)
    every = np.arange(len(proposer.rows))
    found = proposer.search(every, np.full(len(every), count, np.int64), np.full(len(every), np.inf))
    return NearLists(*found, proposer)


def _prepared(points: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any], cap: float) -> Proposer:
    points, rows, columns = np.asarray(points), np.asarray(rows, np.int64), np.asarray(columns, np.int64)
    if points.ndim != 2 or points.dtype.kind not in "fiu" or points.shape[1] >= 1 << 20:
        raise SpecError(f"expected numbers of shape (n, k) with k below 2**20, got {points.dtype} {points.shape}")
    if not float(max(points.max(initial=0.0), -points.min(initial=0.0))) <= _LARGEST_COORDINATE:  # NaN fails too
        raise SpecError(f"expected points that are finite and at most {_LARGEST_COORDINATE:g} in size")
    for name, positions in (("rows", rows), ("columns", columns)):
        if positions.ndim != 1 or (positions.size and not _inside(positions, len(points))):
            raise SpecError(f"expected positions among the {len(points)} points, got {name}={positions}")
    if len(np.unique(columns)) < len(columns):
        raise SpecError(f"expected distinct columns, got columns={columns}")
    if not cap > 0.0:
        raise SpecError(f"expected a cap above 0, got cap={cap}")
    kept = np.ascontiguousarray(points, dtype=np.float32 if points.dtype == np.float32 else np.float64)
    return Proposer.of(kept, rows=rows, columns=columns, cap=float(cap))


def _inside(positions: IntArray, count: int) -> bool:
    return bool(positions.min() >= 0 and positions.max() < count)


@compiled
def _turned(
    starts: IntArray,
    columns: NDArray[np.int32],
    distances: FloatArray,
    kept: NDArray[np.bool_],
    count: int,
) -> tuple[IntArray, NDArray[np.int32], FloatArray]:  # pragma: no cover - compiled
    ends = np.zeros(count + 1, np.int64)
    for r in range(len(kept)):
        if kept[r]:
            for e in range(starts[r], starts[r + 1]):
                ends[columns[e] + 1] += 1
    ends = np.cumsum(ends)
    free = ends[:-1].copy()
    rows, turned = np.empty(ends[-1], np.int32), np.empty(ends[-1])
    for r in range(len(kept)):
        if kept[r]:
            for e in range(starts[r], starts[r + 1]):
                place = free[columns[e]]
                rows[place], turned[place] = r, distances[e]
                free[columns[e]] += 1
    return ends, rows, turned


_Lists = tuple[IntArray, NDArray[np.int32], FloatArray]


@compiled
def _merged(source: IntArray, old: _Lists, new: _Lists) -> _Lists:  # pragma: no cover - compiled
    """Return ``old`` lists, but where ``source`` is not negative that list of ``new``."""
    starts = np.zeros(len(source) + 1, np.int64)
    for r in range(len(source)):
        s = source[r]
        length = new[0][s + 1] - new[0][s] if s >= 0 else old[0][r + 1] - old[0][r]
        starts[r + 1] = starts[r] + length
    columns, distances = np.empty(starts[-1], np.int32), np.empty(starts[-1])
    for r in range(len(source)):
        s = source[r]
        lists, start = (new, new[0][s]) if s >= 0 else (old, old[0][r])
        for e in range(starts[r + 1] - starts[r]):
            columns[starts[r] + e] = lists[1][start + e]
            distances[starts[r] + e] = lists[2][start + e]
    return starts, columns, distances
