"""How far the prices of a certified flow may move before a pair of points without an arc would be worth one.

A warm solve after a small change moves few prices. The pairs without an arc are not looked at again: their room, noted
once, says which of them could have become too cheap, and by how much at most. Proof: docs/proofs/transport.md.
Post-processing; costs no privacy.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.neighbors.shortlist import Bound
from evomix.transport.missing_arcs import AllPairs, pair_error

_MOST_FLOORS: Final = 1 << 28
"""Pairs up to which a lower bound of every cost is kept (1 GiB); beyond, the rooms alone have to do."""


class Room(NamedTuple):
    """Prices of a certified flow, and what they leave.

    Attributes:
        source_prices: float64 (p,), finite.
        sink_prices: float64 (q,), finite.
        source_room: float64 (p,), lower bound of ``c − φ(v) + φ(u)`` over the pairs of a source that have no arc.
        sink_room: float64 (q,), likewise over the pairs of a sink.
        floors: float32 (p, q), lower bounds of all costs; (0, 0) where there are too many pairs.
    """

    source_prices: FloatArray
    sink_prices: FloatArray
    source_room: FloatArray
    sink_room: FloatArray
    floors: NDArray[np.float32]

    def excess(self, supplies: FloatArray, source_prices: FloatArray, sink_prices: FloatArray) -> float:
        """Return by how much the value of other prices, feasible for all arcs, may have to fall to suit all pairs.

        Σ supply·(the most by which one of the source's pairs is violated): lowered by it, the source prices are
        feasible. Exact up to the floors where these are kept, else an upper bound.

        Args:
            supplies: float64 (p,).
            source_prices: float64 (p,), optimal after slack costs have changed.
            sink_prices: float64 (q,), of the same solution.
        """
        rise, fall = source_prices - self.source_prices, self.sink_prices - sink_prices
        most_rise, most_fall = max(float(rise.max()), 0.0), max(float(fall.max()), 0.0)
        if most_rise == most_fall == 0.0:
            return 0.0
        sources = np.flatnonzero(rise + most_fall > self.source_room)
        sinks = np.flatnonzero(fall + most_rise > self.sink_room)
        risen, fallen = sources[rise[sources] > 0.0], sinks[fall[sinks] > 0.0]
        worst = np.zeros(rise.size)
        for rows, columns in ((risen, sinks), (sources, fallen)):
            if rows.size and columns.size:
                _violations(rows, columns, rise, fall, self, source_prices, sink_prices, worst)
        return float((supplies * worst).sum())

    def lowest(self, source_prices: FloatArray) -> FloatArray:
        """Return how low sink prices may be with these or lower source prices, for pairs without an arc, float64 (q,).

        Where no source has risen, as low as the room of the sink. A source that has risen is looked at by itself where
        the floors are kept, else all count as risen by the most that one has.

        Args:
            source_prices: float64 (p,).
        """
        rise = source_prices - self.source_prices
        most = max(float(rise.max()), 0.0)
        if most == 0.0 or not self.floors.size:
            return self.sink_prices - np.maximum(self.sink_room - most, 0.0)
        risen = np.flatnonzero(rise > 0.0)
        return _lowest(risen, source_prices, self.floors, self.sink_prices - np.maximum(self.sink_room, 0.0))


def room_of(
    pairs: AllPairs, prices: tuple[FloatArray, FloatArray], reach: tuple[FloatArray, FloatArray], before: Room | None
) -> Room:
    """Return the room that certified prices leave.

    Args:
        pairs: the points.
        prices: φ of sources (p,) and sinks (q,), finite.
        reach: distances of sources (p,) and of sinks (q,) up to which every partner has an arc.
        before: an earlier room of the same pairs, for its floors.
    """
    count, width = prices[0].size, prices[1].size
    source_room, sink_room = np.full(count, np.inf), np.full(width, np.inf)
    new = before is None and count * width <= _MOST_FLOORS
    floors = before.floors if before is not None else np.empty((count, width) if new else (0, 0), np.float32)
    for part, products, left, right, bound in pairs.products():
        _room(
            products, (left, prices[0][part], reach[0][part]), (right, prices[1], reach[1]), bound, pairs.scale,
            pairs.cap, source_room[part], sink_room, floors[part] if new else floors[:0],
        )  # fmt: skip
    return Room(*prices, source_room, sink_room, floors)


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
    floors: NDArray[np.float32],
) -> None:  # pragma: no cover - compiled
    for i in range(products.shape[0]):
        a, price, near = left[0][i], left[1][i], left[2][i]
        for j in range(products.shape[1]):
            b = right[0][j]
            error = pair_error(bound, a, b)
            square = a * a + b * b - 2.0 * products[i, j]
            least = min(math.sqrt(max(square - error, 0.0)) / scale, cap)
            if floors.size:
                floors[i, j] = np.float32(least * (1.0 - 2.0**-23))  # rounding to float32 must not raise it
            if math.sqrt(max(square + error, 0.0)) < scale * max(near, right[2][j]):
                continue
            room = least - price + right[1][j]
            source_room[i] = min(source_room[i], room)
            sink_room[j] = min(sink_room[j], room)


@compiled
def _violations(
    rows: IntArray,
    columns: IntArray,
    rise: FloatArray,
    fall: FloatArray,
    room: Room,
    source_prices: FloatArray,
    sink_prices: FloatArray,
    worst: FloatArray,
) -> None:  # pragma: no cover - compiled
    for v in rows:
        for u in columns:
            most = rise[v] + fall[u] - max(room.source_room[v], room.sink_room[u])
            if most > worst[v] and room.floors.size:
                most = min(most, source_prices[v] - sink_prices[u] - room.floors[v, u])
            worst[v] = max(worst[v], most)


@compiled
def _lowest(
    risen: IntArray, source_prices: FloatArray, floors: NDArray[np.float32], lowest: FloatArray
) -> FloatArray:  # pragma: no cover - compiled
    for v in risen:
        for u in range(lowest.size):
            lowest[u] = max(lowest[u], source_prices[v] - floors[v, u])
    return lowest
