"""Swaps on the exact LSCost: bounds rule nearly all of them out, the others are solved for.

By docs/proofs/ls_cost.md, equation (4), the dual prices after one chosen candidate was taken away bound from below what
any other in its place would cost. What the bounds leave is tried: a warm solve of a few pivots. Slots near a swap are
visited again; at the end all are, and when none swaps the selection is certified.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from evomix.core.arrays import IntArray
from evomix.selection.filling import Filling
from evomix.selection.sharper_bounds import Prices, sharper
from evomix.selection.swap_bounds import SwapBounds
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
        self._filling, self._transport, self._flow = filling, filling.transport, filling.transport.flow
        self.chosen = chosen.copy()
        self._served = filling.serving.serve(self.chosen)
        self._capped = np.full(filling.supplies.size, np.inf)
        self._seen = np.zeros(filling.demands.size + 1, np.int64)
        self._room: Room | None = None
        self._prepare()

    def certify(self) -> None:
        """Solve anew among all pairs of points, so that what is found from here to the next swap is certain."""
        self._prepare()
        self._room = self._transport.room()

    def _prepare(self) -> None:
        """Prepare bounds for the present selection."""
        self.cost, self._room = self._filling.cost_of(self._served), None
        self._bounds = SwapBounds(self._filling, self.chosen)
        self._wanted = self._below()

    def _below(self) -> float:
        """Return the cost below which a swap counts: by more than the tolerance, and than the rounding of sums."""
        rounding = _ROUNDING * float((self._filling.supplies * self._served.second).sum())
        return self.cost - max(TOLERANCE * self.cost, rounding)

    def visit(self, slot: int, trials: int) -> Visit:
        """Try what the bounds leave of the swaps at one slot, at most ``trials``; make the first that helps."""
        if self.cost <= 0.0:
            return Visit([], 0, 0.0)
        arcs, certified = self._flow.arcs, self._room is not None
        visit = self._visit(slot, trials)
        if self._flow.resolution == self._bounds.resolution:
            if visit.near or self._flow.arcs == arcs:
                return visit
            self._flow.solve()  # arcs that trials have added cannot help here, but for rounding
            if self._bounds.hold():
                return visit
        elif visit.near:
            self._prepare()
            return visit
        # Costs are rounded more coarsely, or prices have moved: the flow and its bounds are made anew.
        self.certify() if certified else self._prepare()
        return self.visit(slot, trials - visit.tried)

    def _visit(self, slot: int, trials: int) -> Visit:
        flow, served, wanted = self._flow, self._served, self._wanted
        flow.mark()
        rows = np.flatnonzero(served.near == slot).astype(np.int32)
        flow.move_slack_costs(rows, served.second[rows])
        flow.solve()
        least, tried = self.cost, 0
        for candidate, bound in self._left(self.cost + flow.spent):
            if bound >= wanted:
                continue
            if tried == trials:
                least = min(least, bound)
                continue
            flow.mark()
            cost, lower = self._cost_with(candidate)
            if cost < wanted:
                exact = flow.cost
                if exact < wanted:
                    return Visit(self._swap(slot, candidate, exact), tried, 0.0)
                lower = min(lower, exact)
            flow.undo()
            least, tried = min(least, lower), tried + 1
        flow.undo()
        return Visit([], tried, 1.0 - max(least, 0.0) / self.cost if least < wanted else 0.0)

    def _left(self, cost: float) -> Iterator[tuple[int, float]]:
        """Yield candidates that bounds leave, most promising first, with sharper bounds, some at a time.

        Args:
            cost: that of the flow with one of those selected taken away.
        """
        moved = self._bounds.moved()
        cost -= self._transport.excess(self._room, moved)
        bounds = self._bounds.at(moved)
        bounds += cost
        left = np.flatnonzero(bounds < self._wanted)
        if not left.size:
            return
        left = left[np.argsort(bounds[left], kind="stable")]
        # A copy: a trial that adds arcs may move these prices, and a raise belongs to the bound that it raises.
        prices = Prices(
            self._flow.node_prices.copy(), self._flow.resolution, self._flow.neighbours, self._filling.demands,
            self._transport.lowest(self._room, moved), self._capped, self._seen,
        )  # fmt: skip
        for start in range(0, left.size, _AT_A_TIME):
            part = left[start : start + _AT_A_TIME]
            sharpened = bounds[part] + sharper(part, self._wanted - bounds[part], self._bounds.columns, prices)
            yield from zip(part.tolist(), sharpened.tolist(), strict=True)

    def _cost_with(self, candidate: int) -> tuple[float, float]:
        """Return the cost with one more candidate and a lower bound of it.

        Args:
            candidate: it stays in the flow.
        """
        flow, columns = self._flow, self._bounds.columns
        part = slice(columns.starts[candidate], columns.starts[candidate + 1])
        rows, distances = columns.rows[part], columns.distances[part]
        nearer = distances < flow.slack_costs[rows]
        flow.move_slack_costs(rows[nearer], distances[nearer])
        flow.solve()
        cost = self.cost + flow.spent
        if cost < self._wanted or self._room is None:
            return cost, cost
        lower = cost - self._transport.excess(self._room, self._bounds.moved())
        if lower < self._wanted and self._room.floors is not None:
            while self._transport.add_violated(self._room, self._bounds.moved()):
                flow.solve()
            cost = lower = self.cost + flow.spent
        return cost, lower

    def _swap(self, slot: int, candidate: int, cost: float) -> list[int]:
        """Put ``candidate``, which the flow has already, in ``slot``; return the slots near the change.

        Args:
            slot: whose candidate the flow has no longer.
            candidate: which it has.
            cost: that of the flow.
        """
        old, before = self.chosen[slot], self._served
        self.chosen[slot] = candidate
        columns = self._bounds.columns
        listing = [columns.rows[columns.starts[one] : columns.starts[one + 1]] for one in (old, candidate)]
        self._served = after = self._filling.serving.exchange(before, self.chosen, np.concatenate(listing))
        rows = np.flatnonzero(after.first != self._flow.slack_costs).astype(np.int32)
        if rows.size:
            self._flow.move_slack_costs(rows, after.first[rows])
            self._flow.solve()
            cost = self._flow.cost
        moved = self._bounds.moved()
        self._flow.keep()
        self.cost, self._room = cost, None  # until the next certificate pairs without an arc are left aside
        if self._filling.serving.lists is not self._bounds.lists:
            self._bounds = SwapBounds(self._filling, self.chosen)
        else:
            self._bounds.follow(moved, old, candidate)
        self._wanted = self._below()
        changed = (after.near != before.near) | (after.second != before.second)
        changed[moved[moved < changed.size]] = True
        near = np.unique(np.append(after.near[changed], slot))
        return [int(one) for one in near if one >= 0]
