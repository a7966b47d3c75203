"""Lower bounds of what all pairs of points without an arc cost, two bytes each: one look at them costs no product.

A matrix product is taken once. Then it takes a pass over memory to find every pair that might be worth an arc, or the
room that each point has; the few pairs that the bounds do not settle are decided by squared gaps in float64. Bounds are
multiples of a unit, rounded down, and prices beside them multiples of a 256th of it, rounded so that no pair is missed.
Proof: docs/proofs/transport.md. Post-processing; costs no privacy.
"""

import math
import threading
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.neighbors.blocks import for_each_block
from evomix.neighbors.shortlist import Bound, squared_gap
from evomix.transport.missing_arcs import AllPairs, Worst, note, pair_error

MOST_PAIRS: Final = 1 << 31
"""Pairs up to which floors are kept (4 GiB)."""
HAS_ARC: Final = 65535
"""Stands for a pair that has an arc, and costs at most what it says."""
_AT_CAP: Final = HAS_ARC - 2
"""What costs as much as anything, or very nearly."""
_FINE: Final = 256
_MOST: Final = (1 << 31) - 1
_LARGEST_PRICE: Final = 1 << 28
"""Prices in 256ths of the unit stay below it, so that sums fit int32."""
_SMALLEST: Final = 2.0**-960
"""Least unit, far from where float64 loses digits."""
_BLOCK: Final = 64
"""Sources in one piece of work."""

Prices = NDArray[np.int32]


class Gaps(NamedTuple):
    """What decides a pair: float64 (p, k) sources, floats (q, k) sinks, the power of two for gaps, and the cap."""

    sources: FloatArray
    sinks: FloatArray
    scale: float
    cap: float


class _Few(NamedTuple):
    """Partners of the least bounds of each node: values uint16 (n, w), ascending, and partners int32; −1: none."""

    values: NDArray[np.uint16]
    partners: NDArray[np.int32]

    @classmethod
    def none(cls, nodes: int, width: int) -> "_Few":
        return cls(np.full((nodes, width), _AT_CAP, np.uint16), np.full((nodes, width), -1, np.int32))


class Floors(NamedTuple):
    """Lower bounds of costs.

    Attributes:
        values: uint16 (p, q); a pair costs at least its value times ``unit``, or has an arc: ``HAS_ARC``.
        unit: above 0.
        gaps: the points.
    """

    values: NDArray[np.uint16]
    unit: float
    gaps: Gaps

    @classmethod
    def of(cls, pairs: AllPairs) -> "Floors":
        """Take the product; no pair has an arc yet."""
        values = np.empty(pairs.shape, np.uint16)
        unit = max(pairs.largest / (HAS_ARC - 1.0), _SMALLEST)
        for part, products, left, right, bound in pairs.products():
            _floor_block(products, left, right, bound, pairs, unit, values[part])
        return cls(values, unit, Gaps(pairs.sources, pairs.sinks, pairs.scale, pairs.cap))

    def nearest(self, width: int) -> tuple[IntArray, IntArray]:
        """Return, for every source and every sink, ``width`` pairs of the least bounds below the cap: tails, heads."""
        count, others = self.values.shape
        by_source, by_sink = _Few.none(count, width), _Few.none(others, width)
        found: dict[int, _Few] = {}

        def look(part: slice) -> None:
            found[part.start] = mine = _Few.none(others, width)
            _note_nearest(self.values[part], part.start, _Few(by_source.values[part], by_source.partners[part]), mine)

        for_each_block(look, rows=count, block=max(16 * _BLOCK, -(-count // 8)))
        for _, some in sorted(found.items()):  # in order: which of equals is kept does not depend on the threads
            _merge(by_sink, some)
        at, places = np.nonzero(by_source.partners >= 0)
        back, behind = np.nonzero(by_sink.partners >= 0)
        tails = np.concatenate([at, by_sink.partners[back, behind]])
        heads = np.concatenate([by_source.partners[at, places], back])
        both = np.unique(tails * others + heads)
        return both // others, both % others

    def have_arcs(self, tails: IntArray, heads: IntArray) -> None:
        """Leave pairs aside from now on."""
        self.values[tails, heads] = HAS_ARC

    def whole(self, prices: FloatArray, *, up: bool) -> Prices | None:
        """Return prices in 256ths of the unit, rounded up or down; None if one is out of range."""
        numbers = prices / self.unit * _FINE
        numbers = np.ceil(numbers) + 1.0 if up else np.floor(numbers) - 1.0
        return None if np.abs(numbers).max(initial=0.0) > _LARGEST_PRICE else numbers.astype(np.int32)

    def real(self, room: Prices) -> FloatArray:
        """Return what sums of bounds and whole prices stand for, as a cost."""
        return np.asarray(room * (self.unit / _FINE), np.float64)

    def least(self, sources: Prices, sinks: Prices) -> tuple[Prices, Prices]:
        """Return the least of ``bound − φ(v) + φ(u)`` over the pairs of each source, and of each sink, in 256ths.

        Args:
            sources: φ(v), rounded up, int32 (p,).
            sinks: φ(u), rounded down, int32 (q,).
        """
        by_source, by_sink = np.empty(sources.size, np.int32), np.full(sinks.size, _MOST, np.int32)
        lock = threading.Lock()

        def look(part: slice) -> None:
            columns = np.full(sinks.size, _MOST, np.int32)
            _least(self.values[part], sources[part], sinks, by_source[part], columns)
            with lock:
                np.minimum(by_sink, columns, out=by_sink)

        for_each_block(look, rows=sources.size, block=16 * _BLOCK)
        return by_source, by_sink

    def gaining(
        self, source_prices: FloatArray, sink_prices: FloatArray, *, margin: float, width: int
    ) -> tuple[IntArray, IntArray] | None:
        """Return pairs without an arc as :meth:`AllPairs.gaining` does, of all; None if a price is out of range."""
        sources, sinks = self.whole(source_prices - margin, up=True), self.whole(sink_prices, up=False)
        if sources is None or sinks is None:
            return None
        by_source, _ = self.least(sources, sinks)
        rows = np.flatnonzero(by_source < 0)
        worst = Worst.none(rows.size, width), Worst.none(sinks.size, width)
        _note_gaining(self, rows, (sources, sinks), source_prices - margin, sink_prices, *worst)
        return Worst.pairs(*worst, rows, np.arange(sinks.size))


def _floor_block(
    products: NDArray[np.float32],
    left: FloatArray,
    right: FloatArray,
    bound: Bound,
    pairs: AllPairs,
    unit: float,
    values: NDArray[np.uint16],
) -> None:
    def floor(part: slice) -> None:
        _round_down(products[part], left[part], right, bound, pairs.scale, pairs.cap, unit, values[part])

    for_each_block(floor, rows=len(values), block=_BLOCK)


@compiled
def _round_down(
    products: NDArray[np.float32],
    left: FloatArray,
    right: FloatArray,
    bound: Bound,
    scale: float,
    cap: float,
    unit: float,
    values: NDArray[np.uint16],
) -> None:  # pragma: no cover - compiled
    # The two roundings on the way, of the quotient here and of the product later, may not raise a bound.
    steps, most = (1.0 - 2.0**-40) / (scale * unit), min(cap / unit * (1.0 - 2.0**-40), HAS_ARC - 1.0)
    for i in range(products.shape[0]):
        a = left[i]
        for j in range(products.shape[1]):
            b = right[j]
            square = a * a + b * b - 2.0 * products[i, j] - pair_error(bound, a, b)
            values[i, j] = np.uint16(min(math.sqrt(max(square, 0.0)) * steps, most))


@compiled
def _least(
    values: NDArray[np.uint16], sources: Prices, sinks: Prices, by_source: Prices, by_sink: Prices
) -> None:  # pragma: no cover - compiled
    for i in range(sources.size):
        row, price = values[i], sources[i]
        least = np.int32(_MOST)
        for j in range(sinks.size):
            room = np.int32(np.int32(row[j]) * np.int32(_FINE) + np.int32(sinks[j] - price))
            least = min(least, room)
            by_sink[j] = min(by_sink[j], room)
        by_source[i] = least


@compiled
def _note_nearest(
    values: NDArray[np.uint16], first: int, by_source: _Few, by_sink: _Few
) -> None:  # pragma: no cover - compiled
    last = by_source.values.shape[1] - 1
    for i in range(values.shape[0]):
        row = values[i]
        for j in range(row.size):
            if row[j] < by_source.values[i, last]:
                _insert(by_source, i, row[j], j)
            if row[j] < by_sink.values[j, last]:
                _insert(by_sink, j, row[j], first + i)


@compiled
def _insert(few: _Few, node: int, value: int, partner: int) -> None:  # pragma: no cover - compiled
    values, partners = few.values[node], few.partners[node]
    place = values.size - 1
    while place > 0 and values[place - 1] > value:
        values[place], partners[place] = values[place - 1], partners[place - 1]
        place -= 1
    values[place], partners[place] = value, partner


@compiled
def _merge(few: _Few, more: _Few) -> None:  # pragma: no cover - compiled
    for node in range(few.values.shape[0]):
        for place in range(few.values.shape[1]):
            if more.values[node, place] < few.values[node, few.values.shape[1] - 1]:
                _insert(few, node, more.values[node, place], more.partners[node, place])


@compiled
def row_least(floors: Floors, source: int, sinks: Prices) -> int:  # pragma: no cover - compiled
    """Return the least of ``bound + φ(u)`` over the pairs of a source, in 256ths of the unit."""
    row, least = floors.values[source], np.int32(_MOST)
    for j in range(sinks.size):
        least = min(least, np.int32(np.int32(row[j]) * np.int32(_FINE) + sinks[j]))
    return int(least)


@compiled
def may_gain(floors: Floors, source: int, sink: int, limit: int, low: int) -> bool:  # pragma: no cover - compiled
    """Return whether the bound leaves it open that a pair without an arc costs less than its prices differ by.

    Args:
        floors: the bounds.
        source: v.
        sink: u.
        limit: φ(v), rounded up.
        low: φ(u), rounded down.
    """
    value = floors.values[source, sink]
    return bool(value != HAS_ARC and np.int64(value) * _FINE + low < limit)


@compiled
def cost_of_pair(gaps: Gaps, source: int, sink: int) -> float:  # pragma: no cover - compiled
    """Return min(ρ, cap) by squared gaps in float64."""
    return min(math.sqrt(squared_gap(gaps.sources[source], gaps.sinks[sink], gaps.scale)) / gaps.scale, gaps.cap)


@compiled
def lower_to(
    values: NDArray[np.uint16], unit: float, sources: NDArray[np.integer[Any]], prices: FloatArray, lowest: FloatArray
) -> None:  # pragma: no cover - compiled
    """Raise ``lowest`` to ``φ(v) − bound`` for each of some sources, whatever pair it is."""
    for k in range(sources.size):
        row, price = values[sources[k]], prices[k]
        for j in range(lowest.size):
            lowest[j] = max(lowest[j], price - row[j] * unit)


@compiled
def _note_gaining(
    floors: Floors,
    rows: IntArray,
    whole: tuple[Prices, Prices],
    source_prices: FloatArray,
    sink_prices: FloatArray,
    by_source: Worst,
    by_sink: Worst,
) -> None:  # pragma: no cover - compiled
    for k in range(rows.size):
        v = rows[k]
        for u in range(sink_prices.size):
            if may_gain(floors, v, u, whole[0][v], whole[1][u]):
                gain = source_prices[v] - sink_prices[u] - cost_of_pair(floors.gaps, v, u)
                if gain > 0.0:
                    note(by_source, k, u, gain)
                    note(by_sink, u, k, gain)
