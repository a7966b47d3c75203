"""A lower bound of β_min(t, t)·f(t) over *all* floors t, from finitely many of them.

Between two floors a < b whose mixing weights are known, β falls at most so far: β(t) ≥ β(b), and the odds of keeping a
draw private grow at most in proportion to the floor, (1−β)/β at t ≤ (1−β)/β at a · t/a. With a lower bound of f that is
linear in t, the product on the interval is least at a or where the two bounds of β meet. Splitting the interval of
least bound closes the gap. Proof: docs/proofs/noise_design.md. Public arithmetic; costs no privacy.
"""

import heapq
import math
from collections.abc import Mapping
from typing import Final

from evomix.privacy.calibration import GRID
from evomix.privacy.minimax_bounds import BoundPool

ACCOUNTED: Final = 1.0 - 1e-8
"""Computed mixing weights exceed the true β_min by less than this factor shows (docs/proofs/mixing.md, section 4)."""

_FIRST_SPLIT: Final = 1.0 / 32.0


class FloorIntervals:
    """Intervals that cover (0, 1/d], each with a lower bound of the objective on it."""

    def __init__(self, weights: Mapping[float, float], *, candidates: int, pool: BoundPool) -> None:
        """Cover the range by the floors whose mixing weight is known, ``weights[floor]``, each above 0."""
        self._pool = pool
        self._weights = dict(weights)
        limit = 1.0 / candidates
        floors = sorted(self._weights)
        last = floors[-1]
        if last < limit:  # floors that no multiple of the grid reaches
            self._weights[limit] = 1.0 / (1.0 + _odds(self._weights[last]) * limit / last)
            floors.append(limit)
        self._heap = [(0.0, low, high) for low, high in zip([0.0, *floors], floors, strict=False)]

    def weakest(self) -> tuple[float, float, float]:
        """Return the least bound and its interval (low, high); the bound holds for all floors."""
        while True:
            stale, low, high = self._heap[0]
            bound = self._bound(low, high)
            if bound <= stale:  # the others have gained since as well, if anything
                return stale, low, high
            heapq.heapreplace(self._heap, (bound, low, high))

    def split(self, floor: float, weight: float) -> None:
        """Split the interval that :meth:`weakest` returned at ``floor`` inside it."""
        _, low, high = heapq.heappop(self._heap)
        self._weights[floor] = weight
        for ends in ((low, floor), (floor, high)):
            heapq.heappush(self._heap, (self._bound(*ends), *ends))

    def _bound(self, low: float, high: float) -> float:
        weight = self._weights[high]
        if low == 0.0:
            return weight * self._pool.at(0.0)
        low_weight = self._weights[low]
        low_odds = _odds(low_weight)
        meeting = low if low_odds == 0.0 else min(max(low * _odds(weight) / low_odds, low), high)
        return self._pool.between(low, meeting, low_weight=low_weight, high_weight=weight)


def inner_floor(low: float, high: float) -> float | None:
    """Return a floor on the grid of 2⁻⁵³ strictly inside (low, high), near the geometric middle, if there is one."""
    middle = high * _FIRST_SPLIT if low == 0.0 else math.sqrt(low) * math.sqrt(high)
    floor = max(math.floor(middle * GRID), 1) / GRID
    if floor <= low:
        floor = (math.floor(low * GRID) + 1) / GRID
    return floor if low < floor < high else None


def _odds(weight: float) -> float:
    """Return the odds that a draw is private."""
    return (1.0 - weight) / weight
