"""Which pairs of points that have no arc would make a flow cheaper: all pairs are looked at, none is stored.

A pair of source v and sink u at distance c may lower the cost exactly if c < φ(v) − φ(u), with the dual prices φ of an
optimum over the arcs there are. Float32 matrix products settle nearly all pairs, by the error bound that is derived in
``evomix.neighbors.vectors``; those too close to call are decided by squared gaps in float64. Proof that a flow without
such pairs is optimal among all pairs: docs/proofs/transport.md.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.neighbors.centring import SCORES, centred, parts, power_of_two, spread
from evomix.neighbors.shortlist import Bound, squared_gap


class Side(NamedTuple):
    """Sources or sinks, as the scan takes them.

    Attributes:
        points: float (n, k), as they came.
        radii: float64 (n,), norms of the centred, scaled points.
        prices: float64 (n,), finite.
    """

    points: NDArray[np.float64]
    radii: FloatArray
    prices: FloatArray


class Worst(NamedTuple):
    """For each node of one side the pairs by which a unit of flow gains most: gains descending (n, w), and partners."""

    gains: FloatArray
    partners: IntArray

    @classmethod
    def none(cls, nodes: int, width: int) -> "Worst":
        """Return lists of ``width`` empty places: gain 0, partner −1."""
        return cls(np.zeros((nodes, width)), np.full((nodes, width), -1, np.int64))

    @staticmethod
    def pairs(by_source: "Worst", by_sink: "Worst", sources: IntArray, sinks: IntArray) -> tuple[IntArray, IntArray]:
        """Return what two lists hold, partners being positions in the other's names: sources and sinks, no repeats."""
        at, places = np.nonzero(by_source.partners >= 0)
        back, others = np.nonzero(by_sink.partners >= 0)
        tails = np.concatenate([sources[at], sources[by_sink.partners[back, others]]])
        heads = np.concatenate([sinks[by_source.partners[at, places]], sinks[back]])
        width = int(sinks.max(initial=0)) + 1
        both = np.unique(tails * width + heads)
        return both // width, both % width


class AllPairs:
    """Sources and sinks, prepared for scans.

    Args:
        sources: float64 (p, k), p ≥ 1, finite.
        sinks: float64 or float32 (q, k), q ≥ 1, finite.
        cap: distances beyond it count as the cap.

    Attributes:
        sources: as given.
        sinks: as given.
        cap: as given.
        scale: gaps are multiplied by it, a power of two, in matrix products.
        largest: no pair costs more.
    """

    def __init__(self, sources: FloatArray, sinks: FloatArray, *, cap: float) -> None:
        self.sources, self.sinks, self.cap = sources, sinks, cap
        self._centre = sinks.mean(axis=0, dtype=np.float64)
        largest = max(spread(side, np.arange(len(side)), self._centre) for side in (sources, sinks))
        self.scale = power_of_two(largest)
        self.largest = min(cap, self._diameter())

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of sources and of sinks."""
        return len(self.sources), len(self.sinks)

    def distances(self, sources: IntArray, sinks: IntArray) -> FloatArray:
        """Return min(ρ, cap) of pairs, float64, by squared gaps in float64."""
        return _distances(self.sources, self.sinks, sources, sinks, self.scale, self.cap)

    def gaining(
        self, rows: IntArray, columns: IntArray, source_prices: FloatArray, sink_prices: FloatArray, *,
        margin: float, width: int,
    ) -> tuple[IntArray, IntArray]:  # fmt: skip
        """Return pairs with ``c < φ(v) − φ(u) − margin``: for each node the ``width`` that gain most, repeats removed.

        Nothing is returned exactly if there is no such pair.

        Args:
            rows: int64, sources to look at.
            columns: int64, sinks to look at.
            source_prices: float64 (p,), finite.
            sink_prices: float64 (q,), finite.
            margin: at least 0.
            width: at least 1.
        """
        vectors, radii = self._prepared(self.sinks, columns)
        right = Side(self.sinks[columns], radii, sink_prices[columns])
        by_source, by_sink = Worst.none(len(rows), width), Worst.none(len(columns), width)
        for part in parts(len(rows), len(columns), cells=SCORES):
            scaled, radii = self._prepared(self.sources, rows[part])
            left = Side(self.sources[rows[part]], radii, source_prices[rows[part]])
            products, bound = scaled @ vectors.T, Bound.of(scaled.shape[1] + 1)
            some = Worst(by_source.gains[part], by_source.partners[part])
            _scan(products, left, right, some, by_sink, part.start, bound, self.scale, self.cap, margin)
        return Worst.pairs(by_source, by_sink, rows, columns)

    def products(self) -> Iterator[tuple[slice, NDArray[np.float32], FloatArray, FloatArray, Bound]]:
        """Yield parts of the sources with their inner products with all sinks, both norms, and the error bound.

        Vectors are centred and scaled. ``A² + B² − 2·product`` is the squared distance times ``scale``², but for an
        error that is bounded as in :meth:`gaining`.
        """
        vectors, right = self._prepared(self.sinks, np.arange(len(self.sinks)))
        bound = Bound.of(vectors.shape[1] + 1)
        for part in parts(len(self.sources), len(self.sinks), cells=SCORES):
            scaled, left = self._prepared(self.sources, np.arange(part.start, part.stop))
            yield part, scaled @ vectors.T, left, right, bound

    def _diameter(self) -> float:
        """Return the sum of the largest norms, a little raised: no gap is larger."""
        norms = [self._prepared(side, np.arange(len(side)))[1].max() for side in (self.sources, self.sinks)]
        return float(sum(norms)) * (1.0 + 2.0**-30) / self.scale

    def _prepared(self, points: FloatArray, chosen: IntArray) -> tuple[NDArray[np.float32], FloatArray]:
        return centred(points, chosen, self._centre, self.scale)


@compiled
def pair_error(bound: Bound, a: float, b: float) -> float:  # pragma: no cover - compiled
    """Return how far ``A² + B² − 2·product`` may be from a squared distance that is compared with another number."""
    return bound.product * a * b + (bound.sums + 2.0**-49) * (a * a + b * b) + bound.underflow * (1.0 + a)


@compiled
def _distances(
    sources: FloatArray, sinks: FloatArray, rows: IntArray, columns: IntArray, scale: float, cap: float
) -> FloatArray:  # pragma: no cover - compiled
    answer = np.empty(rows.size)
    for k in range(rows.size):
        answer[k] = min(math.sqrt(squared_gap(sources[rows[k]], sinks[columns[k]], scale)) / scale, cap)
    return answer


@compiled
def _scan(
    products: NDArray[np.float32],
    left: Side,
    right: Side,
    by_source: Worst,
    by_sink: Worst,
    first: int,
    bound: Bound,
    scale: float,
    cap: float,
    margin: float,
) -> None:  # pragma: no cover - compiled
    """Note the pairs of a block of sources, which starts at ``first``, with all sinks."""
    top = cap * scale
    for i in range(products.shape[0]):
        a = left.radii[i]
        for j in range(products.shape[1]):
            limit = (left.prices[i] - right.prices[j] - margin) * scale
            if limit <= 0.0:
                continue
            b = right.radii[j]
            error = pair_error(bound, a, b)
            square = a * a + b * b - 2.0 * products[i, j]
            if square - error >= limit * limit and top >= limit:
                continue
            if square + error >= limit * limit and top >= limit:
                square = squared_gap(left.points[i], right.points[j], scale)
                if square >= limit * limit:
                    continue
            gain = limit - min(math.sqrt(max(square, 0.0)), top)
            note(by_source, i, j, gain)
            note(by_sink, j, first + i, gain)


@compiled
def note(worst: Worst, node: int, partner: int, gain: float) -> None:  # pragma: no cover - compiled
    """Insert a pair in the list of a node if it gains more than the last of it."""
    gains, partners = worst.gains[node], worst.partners[node]
    slot = gains.size
    while slot > 0 and (gain > gains[slot - 1] or partners[slot - 1] < 0):
        slot -= 1
        if slot + 1 < gains.size:
            gains[slot + 1], partners[slot + 1] = gains[slot], partners[slot]
    if slot < gains.size:
        gains[slot], partners[slot] = gain, partner
