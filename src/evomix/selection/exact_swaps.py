"""Swaps on the exact LSCost: bounds rule nearly all of them out, the others are solved for.

By docs/proofs/ls_cost.md, equation (4), the dual prices after one chosen candidate was taken away bound from below what
any other in its place would cost. What the bounds leave is tried: a warm solve of a few pivots. Slots near a swap are
visited again; at the end all are, and when none swaps the selection is certified.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.selection.filling import Filling
from evomix.selection.sharper_bounds import sharper
from evomix.transport.room import Room

TOLERANCE: Final = 1e-6
"""A swap must lower the cost by more than this share of it."""
_ROUNDING: Final = 1e-11
"""Share of Σ votes·(distance to the second nearest selected) that sums may be off by, with room to spare."""

_AT_A_TIME: Final = 16
"""Candidates whose bounds are sharpened together."""


class Settled(NamedTuple):
    """Where exact swaps end.

    Attributes:
        chosen: int64 (m,), positions among the eligible.
        cost: LSCost.
        gap: largest share of the cost by which one swap might still lower it; 0: none does by more than ``TOLERANCE``
            (nor than 10⁻¹¹ of Σ votes·(distance to the second nearest selected), the rounding of sums).
    """

    chosen: IntArray
    cost: float
    gap: float


def swap_exactly(filling: Filling, chosen: IntArray, *, trials: int) -> Settled:
    """Swap until no swap lowers the cost, or until ``trials`` swaps were tried in vain.

    Args:
        filling: the votes; its transport is left solved for the result.
        chosen: int64 (m,), the start: distinct positions among the eligible.
        trials: at least 0.
    """
    swaps = _ExactSwaps(filling, chosen)
    waiting = dict.fromkeys(range(chosen.size))  # a queue without repeats
    while True:
        while waiting and trials > 0:
            slot = next(iter(waiting))
            del waiting[slot]
            visit = swaps.visit(slot, trials)
            trials -= visit.tried
            waiting |= dict.fromkeys(visit.near)
        waiting.clear()
        swaps.certify()
        gap = 0.0
        for slot in range(chosen.size):
            visit = swaps.visit(slot, trials)
            trials = max(trials - visit.tried, 0)
            gap = max(gap, visit.gap)
            waiting |= dict.fromkeys(visit.near)
        if not waiting:
            return Settled(swaps.chosen, swaps.cost, gap)


class Visit(NamedTuple):
    """What a look at one slot came to.

    Attributes:
        near: slots near the swap that was made; empty without one.
        tried: swaps tried in vain.
        gap: share of the cost by which a swap that was not tried might lower it.
    """

    near: list[int]
    tried: int
    gap: float


class _ExactSwaps:
    """A selection, its flow, and the bounds that swaps are measured against."""

    def __init__(self, filling: Filling, chosen: IntArray) -> None:
        self._filling, self._flow = filling, filling.transport.flow
        self.chosen = chosen.copy()
        self._served = filling.serving.serve(self.chosen)
        self.cost = filling.cost_of(self._served)
        self._room: Room | None = None
        self._lists, self._columns = filling.serving.lists, filling.serving.lists.by_column()
        self._prepare()

    def certify(self) -> None:
        """Solve anew among all pairs of points, so that what is found from here to the next swap is certain."""
        self.cost = self._filling.cost_of(self._served)
        self._prepare()
        self._room = self._filling.transport.room()

    def _prepare(self) -> None:
        """Prepare bounds for the present prices."""
        self._prices, self._room = self._flow.source_prices, None
        if self._filling.serving.lists is not self._lists:
            self._lists = self._filling.serving.lists
            self._columns = self._lists.by_column()
        self._gains = np.zeros(self._lists.shape[1])
        self._add_gains(np.arange(self._prices.size), self._prices, 1.0, self._gains)

    def visit(self, slot: int, trials: int) -> Visit:
        """Try what the bounds leave of the swaps at one slot, at most ``trials``; make the first that helps."""
        if self.cost <= 0.0:
            return Visit([], 0, 0.0)
        flow, served = self._flow, self._served
        rows = np.flatnonzero(served.near == slot)
        flow.set_slack_costs(rows, served.second[rows])
        flow.solve()
        slack = served.first.copy()
        slack[rows] = served.second[rows]
        prices, wanted = flow.source_prices, self._wanted()
        bounds = self._bounds(prices)
        left = np.flatnonzero(bounds < wanted)
        left = left[np.argsort(bounds[left], kind="stable")]
        least, tried = self.cost, 0
        for candidate, bound in self._sharpened(left, bounds, prices):
            if bound >= wanted:
                continue
            if tried == trials:
                least = min(least, bound)
                continue
            cost, lower = self._cost_with(candidate, slack, wanted)
            if cost < wanted:
                return Visit(self._swap(slot, candidate, slack), tried, 0.0)
            least, tried = min(least, lower), tried + 1
        flow.set_slack_costs(rows, served.first[rows])
        flow.solve()
        return Visit([], tried, 1.0 - max(least, 0.0) / self.cost if least < wanted else 0.0)

    def _wanted(self) -> float:
        """Return the cost below which a swap counts: by more than the tolerance, and than the rounding of sums."""
        return self.cost - max(
            TOLERANCE * self.cost, _ROUNDING * float((self._filling.supplies * self._served.second).sum())
        )

    def _cost_with(self, candidate: int, slack: FloatArray, wanted: float) -> tuple[float, float]:
        """Return the cost with one more candidate and a lower bound of it, and leave the candidate out again."""
        part = slice(self._columns.starts[candidate], self._columns.starts[candidate + 1])
        rows, distances = self._columns.rows[part], self._columns.distances[part]
        nearer = distances < slack[rows]
        rows = rows[nearer]
        self._flow.set_slack_costs(rows, distances[nearer])
        self._flow.solve()
        cost = self._flow.cost
        lower = cost - self._filling.transport.excess(self._room)
        if lower < wanted <= cost and self._room is not None and self._room.floors.size:
            self._filling.transport.solve()  # a pair without an arc does make a difference
            cost = lower = self._flow.cost
        self._flow.set_slack_costs(rows, slack[rows])
        return cost, lower

    def _swap(self, slot: int, candidate: int, slack: FloatArray) -> list[int]:
        """Put ``candidate`` in ``slot``, from where ``slack`` are the slack costs; return the slots near the change."""
        self.chosen[slot] = candidate
        before, prices = self._served, self._prices
        self._served = after = self._filling.serving.serve(self.chosen)
        rows = np.flatnonzero(after.first != slack)
        self._flow.set_slack_costs(rows, after.first[rows])
        self._flow.solve()
        self.cost = self._flow.cost
        if self._filling.serving.lists is not self._lists:
            self._prepare()
        else:
            self._room = None  # until the next certificate pairs without an arc are left aside
            self._prices = self._flow.source_prices
            self._move_gains(prices, self._prices, self._gains)
        changed = (self._prices != prices) | (after.near != before.near) | (after.second != before.second)
        near = np.unique(np.concatenate([after.near[changed], [slot]]))
        return [int(one) for one in near if one >= 0]

    def _bounds(self, prices: FloatArray) -> FloatArray:
        """Return for every candidate a bound of the cost with it in the place of the one that was taken away."""
        gains = self._gains.copy()
        self._move_gains(self._prices, prices, gains)
        gains += self._flow.cost - self._filling.transport.excess(self._room)
        gains[self.chosen] = np.inf
        return gains

    def _sharpened(self, left: IntArray, bounds: FloatArray, sources: FloatArray) -> Iterator[tuple[int, float]]:
        """Yield candidates with sharper bounds, some at a time: the first may do."""
        sinks, room = self._flow.sink_prices, self._room
        lowest = np.full(sinks.size, -np.inf) if room is None else room.lowest(sources)
        arcs = self._flow.arcs_by_node()
        for start in range(0, left.size, _AT_A_TIME):
            part = left[start : start + _AT_A_TIME]
            raised = sharper(part, self._columns, arcs, sources, sinks, self._filling.demands, lowest)
            yield from zip(part.tolist(), (bounds[part] + raised).tolist(), strict=True)

    def _move_gains(self, before: FloatArray, after: FloatArray, gains: FloatArray) -> None:
        rows = np.flatnonzero(before != after)
        self._add_gains(rows, before, -1.0, gains)
        self._add_gains(rows, after, 1.0, gains)

    def _add_gains(self, rows: IntArray, prices: FloatArray, sign: float, gains: FloatArray) -> None:
        lists = self._lists
        _add_gains(lists.starts, lists.columns, lists.distances, rows, self._filling.supplies, prices, sign, gains)


@compiled
def _add_gains(
    starts: IntArray,
    columns: NDArray[np.int32],
    distances: FloatArray,
    rows: IntArray,
    supplies: FloatArray,
    prices: FloatArray,
    sign: float,
    gains: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Add ``sign·Σ_v supply_v·(min(φ_v, c(v, x)) − φ_v)``, over ``rows``, to every candidate x."""
    for row in rows:
        for entry in range(starts[row], starts[row + 1]):
            if distances[entry] >= prices[row]:
                break
            gains[columns[entry]] += sign * supplies[row] * (distances[entry] - prices[row])
