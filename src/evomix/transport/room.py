"""How far the prices of a certified flow may move before a pair of points without an arc would be worth one.

A warm solve after a small change moves few prices. The pairs without an arc are not looked at again: their room, noted
once, says which of them could have become too cheap. Where lower bounds of all costs are kept, those few are decided.
Proof: docs/proofs/transport.md. Post-processing; costs no privacy.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.neighbors.shortlist import Bound
from evomix.transport.floors import Floors, Prices, cost_of_pair, lower_to, may_gain, row_least
from evomix.transport.missing_arcs import AllPairs, pair_error

_NAMED: Final = 64
"""Violated pairs named at most."""


class Moved(NamedTuple):
    """Nodes of one side, distinct integers (k,), and their prices now, float64 (k,); the others are where they were."""

    nodes: NDArray[np.integer[Any]]
    prices: FloatArray


class Violated(NamedTuple):
    """What pairs without an arc do to prices that are feasible for all arcs.

    Attributes:
        excess: Σ supply·(the most by which one of the source's pairs is violated), or more: lowered by it, the source
            prices are feasible for all pairs.
        pairs: int64 (2, k), sources and sinks: the worst pair of some sources, at least one if there is one.
    """

    excess: float
    pairs: IntArray


class Now(NamedTuple):
    """Prices of sources (p,) and sinks (q,), float64 and as the floors take them, int32."""

    sources: FloatArray
    sinks: FloatArray
    limits: Prices
    lows: Prices


class Room(NamedTuple):
    """Prices of a certified flow, and what they leave.

    Attributes:
        source_prices: float64 (p,), finite.
        sink_prices: float64 (q,), finite.
        source_room: float64 (p,), lower bound of ``c − φ(v) + φ(u)`` over the pairs of a source that have no arc.
        sink_room: float64 (q,), likewise over the pairs of a sink.
        floors: lower bounds of all costs; None where there are too many pairs.
        margin: pairs are named that are violated by more.
        now: the same prices once more; those that have moved are put in while they are looked at.
    """

    source_prices: FloatArray
    sink_prices: FloatArray
    source_room: FloatArray
    sink_room: FloatArray
    floors: Floors | None
    margin: float
    now: Now | None

    def violated(self, supplies: FloatArray, sources: Moved, sinks: Moved) -> Violated:
        """Return which pairs without an arc other prices violate that are feasible for all arcs, and what that costs.

        The excess is exact where floors are kept, else an upper bound, and no pairs are named.

        Args:
            supplies: float64 (p,).
            sources: with their prices after slack costs have changed, optimal among the arcs.
            sinks: likewise, of the same solution.
        """
        pairs = np.zeros((2, _NAMED), np.int64)
        rise, fall = sources.prices - self.source_prices[sources.nodes], self.sink_prices[sinks.nodes] - sinks.prices
        if rise.max(initial=0.0) <= 0.0 and fall.max(initial=0.0) <= 0.0:
            return Violated(0.0, pairs[:, :0])
        change = (sources.nodes, rise), (sinks.nodes, fall)
        if self.floors is not None and self.now is not None:
            limits, lows = self.floors.whole(sources.prices, up=True), self.floors.whole(sinks.prices, up=False)
            if limits is not None and lows is not None:
                moved = Now(sources.prices, sinks.prices, limits, lows)
                rooms = self.source_room, self.sink_room
                excess, count = _excess(self.floors, rooms, self.now, supplies, moved, change, self.margin, pairs)
                return Violated(excess, pairs[:, :count])
        return Violated(_bounded_excess(self.source_room, self.sink_room, supplies, *change), pairs[:, :0])

    def lowest(self, sources: Moved) -> FloatArray:
        """Return how low sink prices may be with these or lower source prices, for pairs without an arc, float64 (q,).

        Where no source has risen, as low as the room of the sink. A source that has risen is looked at by itself where
        floors are kept, else all count as risen by the most that one has.

        Args:
            sources: those whose prices have moved.
        """
        rise = sources.prices - self.source_prices[sources.nodes]
        most = max(float(rise.max(initial=0.0)), 0.0)
        if most == 0.0 or self.floors is None:
            return self.sink_prices - np.maximum(self.sink_room - most, 0.0)
        lowest = self.sink_prices - np.maximum(self.sink_room, 0.0)
        risen = rise > 0.0
        lower_to(self.floors.values, self.floors.unit, sources.nodes[risen], sources.prices[risen], lowest)
        return lowest


def room_of(
    pairs: AllPairs,
    prices: tuple[FloatArray, FloatArray],
    reach: tuple[FloatArray, FloatArray],
    floors: Floors | None,
    margin: float,
) -> Room:
    """Return the room that certified prices leave.

    Args:
        pairs: the points.
        prices: φ of sources (p,) and sinks (q,), finite.
        reach: distances of sources (p,) and of sinks (q,) up to which every partner has an arc.
        floors: lower bounds of all costs, if they are kept.
        margin: by which a pair may be violated without being named.
    """
    if floors is not None:
        limits, lows = floors.whole(prices[0], up=True), floors.whole(prices[1], up=False)
        if limits is not None and lows is not None:
            by_source, by_sink = floors.least(limits, lows)
            now = Now(prices[0].copy(), prices[1].copy(), limits, lows)
            return Room(*prices, floors.real(by_source), floors.real(by_sink), floors, margin, now)
    source_room, sink_room = np.full(prices[0].size, np.inf), np.full(prices[1].size, np.inf)
    for part, products, left, right, bound in pairs.products():
        sides = (left, prices[0][part], reach[0][part]), (right, prices[1], reach[1])
        _room(products, *sides, bound, pairs.scale, pairs.cap, source_room[part], sink_room)
    return Room(*prices, source_room, sink_room, None, margin, None)


_Side = tuple[FloatArray, FloatArray, FloatArray]
"""Norms, prices and reach."""


@compiled
def _room(
    products: NDArray[np.float32],
    left: _Side,
    right: _Side,
    bound: Bound,
    scale: float,
    cap: float,
    source_room: FloatArray,
    sink_room: FloatArray,
) -> None:  # pragma: no cover - compiled
    for i in range(products.shape[0]):
        a, price, near = left[0][i], left[1][i], left[2][i]
        for j in range(products.shape[1]):
            b = right[0][j]
            error = pair_error(bound, a, b)
            square = a * a + b * b - 2.0 * products[i, j]
            if math.sqrt(max(square + error, 0.0)) < scale * max(near, right[2][j]):
                continue
            room = min(math.sqrt(max(square - error, 0.0)) / scale, cap) - price + right[1][j]
            source_room[i] = min(source_room[i], room)
            sink_room[j] = min(sink_room[j], room)


_Change = tuple[NDArray[np.integer[Any]], FloatArray]
"""Nodes that moved, and by how much they went the way that may violate a pair."""


@compiled
def _excess(
    floors: Floors,
    rooms: tuple[FloatArray, FloatArray],
    now: Now,
    supplies: FloatArray,
    moved: Now,
    change: tuple[_Change, _Change],
    margin: float,
    pairs: IntArray,
) -> tuple[float, int]:  # pragma: no cover - compiled
    """Write pairs; return the excess, and how many there are."""
    sources, sinks = change
    before = Now(now.sources[sources[0]], now.sinks[sinks[0]], now.limits[sources[0]], now.lows[sinks[0]])
    _put(now, moved, sources[0], sinks[0])
    most_fall, some = 0.0, np.zeros(sinks[0].size, np.bool_)
    for k in range(sinks[0].size):
        most_fall = max(most_fall, sinks[1][k])
        some[k] = sinks[1][k] > max(0.0, rooms[1][sinks[0][k]])
    every, fallen = np.arange(now.sinks.size), sinks[0][some].astype(np.int64)
    has_risen, excess, count = np.zeros(rooms[0].size, np.bool_), 0.0, 0
    for k in range(sources[0].size):
        v = sources[0][k]
        has_risen[v] = sources[1][k] > 0.0
        if has_risen[v] and sources[1][k] + most_fall > rooms[0][v] and row_least(floors, v, now.lows) < now.limits[v]:
            worst, u = _worst(floors, v, every, now)
            excess += supplies[v] * worst
            count = _name(v, u, worst > margin, pairs, count)
    for v in range(rooms[0].size if fallen.size else 0):
        if rooms[0][v] < most_fall and not has_risen[v]:
            worst, u = _worst(floors, v, fallen, now)
            excess += supplies[v] * worst
            count = _name(v, u, worst > margin, pairs, count)
    _put(now, before, sources[0], sinks[0])
    return excess, count


@compiled
def _name(v: int, u: int, violated: bool, pairs: IntArray, count: int) -> int:  # pragma: no cover - compiled
    """Put a pair down if it is violated and there is space; return how many there are."""
    if not violated or count == pairs.shape[1]:
        return count
    pairs[0, count], pairs[1, count] = v, u
    return count + 1


@compiled
def _put(
    now: Now, values: Now, sources: NDArray[np.integer[Any]], sinks: NDArray[np.integer[Any]]
) -> None:  # pragma: no cover - compiled
    now.sources[sources], now.limits[sources] = values.sources, values.limits
    now.sinks[sinks], now.lows[sinks] = values.sinks, values.lows


@compiled
def _worst(floors: Floors, v: int, sinks: IntArray, now: Now) -> tuple[float, int]:  # pragma: no cover - compiled
    """Return the most by which a pair of a source with one of the sinks is violated, at least 0, and that sink."""
    worst, partner = 0.0, -1
    for u in sinks:
        if may_gain(floors, v, u, now.limits[v], now.lows[u]):
            gain = now.sources[v] - now.sinks[u] - cost_of_pair(floors.gaps, v, u)
            if gain > worst:
                worst, partner = gain, u
    return worst, partner


@compiled
def _bounded_excess(
    source_room: FloatArray, sink_room: FloatArray, supplies: FloatArray, sources: _Change, sinks: _Change
) -> float:  # pragma: no cover - compiled
    """Return the excess where only the rooms are known: a pair is violated by rise + fall − room at most."""
    rises, falls = np.zeros(source_room.size), np.zeros(sink_room.size)
    rises[sources[0]], falls[sinks[0]] = sources[1], sinks[1]
    excess, most_rise, most_fall = 0.0, max(0.0, rises.max()), max(0.0, falls.max())
    near = np.flatnonzero(falls + most_rise > sink_room)
    fallen = near[falls[near] > 0.0]
    for v in range(rises.size):
        if rises[v] + most_fall <= source_room[v]:
            continue
        worst = 0.0
        for u in near if rises[v] > 0.0 else fallen:
            worst = max(worst, rises[v] + falls[u] - max(source_room[v], sink_room[u]))
        excess += supplies[v] * worst
    return excess
