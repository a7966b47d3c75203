"""Which of the selected candidates serve a vote: the nearest, and the second nearest should that one go."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.neighbors.near_lists import NearLists, near_lists

_SHORTEST: Final = 16
"""Candidates in a list at first; short lists are made longer where that matters."""
_FIRST: Final = 8
_LONGER: Final = 4


class Served(NamedTuple):
    """The nearest two selected candidates of every source.

    Attributes:
        near: int64 (p,), slot of the nearest; −1: none is nearer than the cap.
        first: float64 (p,), min(distance to the nearest, cap).
        second: float64 (p,), to the second nearest likewise; without one the largest of all distances.
    """

    near: IntArray
    first: FloatArray
    second: FloatArray


class Serving:
    """Sources of votes and the candidates that may be selected.

    Args:
        points: floats (n, k).
        sources: int64 (p,), positions: the rows of the lists.
        eligible: int64 (c,), positions: the columns of the lists.
        cap: distances count as at most this.
        size: how many will be selected, from 1 to c.

    Attributes:
        lists: the candidates near each source; longer after searches that needed it.
    """

    def __init__(self, points: NDArray[Any], *, sources: IntArray, eligible: IntArray, cap: float, size: int) -> None:
        count = min(list_length(eligible.size, size), eligible.size)
        self.lists: NearLists = near_lists(points, rows=sources, columns=eligible, count=count, cap=cap)

    def serve(self, chosen: IntArray) -> Served:
        """Return the nearest two of ``chosen`` for every source, with longer lists where they do not reach them.

        Args:
            chosen: int64 (m,), distinct positions among the eligible, m ≥ 1.
        """
        slot_of = np.full(self.lists.shape[1], -1, np.int64)
        slot_of[chosen] = np.arange(chosen.size)
        while True:
            lists = self.lists
            every = np.arange(lists.shape[0])
            near, first, second, found = _nearest_two(lists.starts, lists.columns, lists.distances, slot_of, every)
            short = np.flatnonzero((found < 2) & np.isfinite(lists.reach))
            if not short.size:
                break
            self.lists = lists.extend(short, np.maximum(_LONGER * np.diff(lists.starts)[short], _SHORTEST))
        # What is not listed is as far as the cap. Where no other candidate is selected, the largest distance stands in
        # for what removing the only one costs: nothing that may take its place is farther.
        complete = lists.starts[-1] == lists.shape[0] * lists.shape[1]
        far = float(lists.distances.max(initial=0.0)) if complete else lists.cap
        first[found < 1], second[found < 2] = lists.cap, far
        return Served(near, first, second)

    def exchange(self, served: Served, chosen: IntArray, rows: NDArray[np.integer[Any]]) -> Served:
        """Return the same as :meth:`serve` after one of those selected was exchanged.

        Args:
            served: before.
            chosen: int64 (m,), after.
            rows: sources that list the old or the new one.
        """
        slot_of = np.full(self.lists.shape[1], -1, np.int64)
        slot_of[chosen] = np.arange(chosen.size)
        lists = self.lists
        near, first, second, found = _nearest_two(lists.starts, lists.columns, lists.distances, slot_of, rows)
        if found.min(initial=2) < 2:
            return self.serve(chosen)
        after = Served(served.near.copy(), served.first.copy(), served.second.copy())
        after.near[rows], after.first[rows], after.second[rows] = near, first, second
        return after


def list_length(candidates: int, size: int) -> int:
    """Return how long lists should be at first: so that few miss the second nearest of ``size`` at random."""
    return max(_FIRST * candidates // size, _SHORTEST)


def inflow(served: Served, votes: FloatArray, size: int) -> FloatArray:
    """Return the votes that go to each of ``size`` selected candidates, float64 (size,).

    Where none is nearer than the cap all cost alike, and the first slot takes the votes.
    """
    return np.asarray(np.bincount(np.maximum(served.near, 0), np.maximum(votes, 0.0), minlength=size), np.float64)


@compiled
def _nearest_two(
    starts: IntArray,
    columns: NDArray[np.int32],
    distances: FloatArray,
    slot_of: IntArray,
    rows: NDArray[np.integer[Any]],
) -> tuple[IntArray, FloatArray, FloatArray, IntArray]:  # pragma: no cover - compiled
    near, found = np.full(rows.size, -1), np.zeros(rows.size, np.int64)
    first, second = np.zeros(rows.size), np.zeros(rows.size)
    for k in range(rows.size):
        for entry in range(starts[rows[k]], starts[rows[k] + 1]):
            slot = slot_of[columns[entry]]
            if slot < 0:
                continue
            if found[k]:
                second[k], found[k] = distances[entry], 2
                break
            near[k], first[k], found[k] = slot, distances[entry], 1
    return near, first, second, found
