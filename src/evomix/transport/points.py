"""Transport between points: the optimum among all pairs, from the few arcs that matter.

    problem = PointTransport(source_points, sink_points, supplies, demands, slack_costs=…, cap=…)
    problem.solve()                       # optimal among all p·q pairs
    problem.flow                          # the Transport: cost, kept, prices, …

    problem.flow.set_slack_costs(…); problem.flow.solve()      # optimal among the arcs there are
    problem.certify()                     # 0: among all pairs as well; else so many arcs were added: solve again

A pair's cost is min(ρ, cap), ρ the Euclidean distance, by squared gaps in float64. The arcs are those to the nearest
sinks of each source, the nearest sources of each sink, and a path of arcs that can meet every demand; then pairs that
would lower the cost are added until there are none. No dense matrix is made. Proof: docs/proofs/transport.md.
Post-processing; costs no privacy.
"""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.neighbors.near_lists import near_lists
from evomix.transport.arguments import finite_numbers
from evomix.transport.floors import MOST_PAIRS, Floors
from evomix.transport.missing_arcs import AllPairs
from evomix.transport.network_simplex import Transport
from evomix.transport.room import Moved, Room, Violated, room_of

_NEAREST: Final = 32
"""Nearest partners of each point that have arcs from the start."""
_ADDED: Final = 8
"""Arcs added at most for each point and round."""
_DENSE: Final = 1 << 18
"""Pairs up to which all have arcs at once."""
_ROUNDING: Final = 2.0**-46
"""Bounds the rounding of prices in float64, relative to the largest."""


class PointTransport:
    """A transport problem between points; see the module.

    Args:
        sources: floats (p, k), p ≥ 1, finite.
        sinks: floats (q, k), q ≥ 1, finite.
        supplies: floats (p,), at least 0, together with ``free`` at least the demand (up to 5·10⁻¹³ of it).
        demands: floats (q,), positive.
        slack_costs: floats (p,): cost of a unit that stays at its source.
        cap: positive.
        aligned: start from points that are near after both sets were centred: quicker where all supply is shipped.
        repeated: :meth:`certify` will be called many times: lower bounds of all costs are kept for it (2 bytes each, at
            most 4 GiB).
        free: supply that is at no point: it fills any sink, or stays, at no cost.

    Attributes:
        flow: the solver over the arcs there are. Where ``free`` is positive it is one source more, the last.

    Raises:
        SpecError: an argument is not as above.
    """

    def __init__(
        self,
        sources: FloatArray,
        sinks: FloatArray,
        supplies: ArrayLike,
        demands: ArrayLike,
        *,
        slack_costs: ArrayLike,
        cap: float = math.inf,
        free: float = 0.0,
        aligned: bool = False,
        repeated: bool = False,
    ) -> None:
        # Float64 on one side makes gaps float64.
        sources, sinks = _matrix("sources", sources).astype(np.float64, copy=False), _matrix("sinks", sinks)
        if sources.shape[1] != sinks.shape[1]:
            raise SpecError(f"expected points of one dimension, got shapes {sources.shape} and {sinks.shape}")
        if not cap > 0.0:
            raise SpecError(f"expected a positive cap, got cap={cap}")
        supply = finite_numbers("supplies", supplies, len(sources))
        demand = finite_numbers("demands", demands, len(sinks))
        if not 0.0 <= free < math.inf or supply.sum() + free < demand.sum() * (1.0 - 5e-13):
            raise SpecError("expected supplies that cover the demands, and a free supply of at least 0; got less")
        self._pairs = AllPairs(sources, sinks, cap=cap)
        self._complete = len(sources) * len(sinks) <= _DENSE
        self._supplies = supply
        self._repeated = repeated
        self._floors: Floors | None = None
        self._arcs: list[tuple[IntArray, IntArray]] = []
        self._source_reach, self._sink_reach = np.zeros(len(sources)), np.zeros(len(sinks))
        if self._complete:
            tails, heads = np.divmod(np.arange(len(sources) * len(sinks)), len(sinks))
        else:
            tails, heads = self._first_arcs(sources, sinks, cap, aligned=aligned)
            path = _path(sources, sinks, supply, demand)
            both = np.unique(np.append(tails, path[0]) * len(sinks) + np.append(heads, path[1]))
            tails, heads = both // len(sinks), both % len(sinks)
        self._arcs.append((tails, heads))
        if self._floors is not None:
            self._floors.have_arcs(tails, heads)
        costs, slack = self._pairs.distances(tails, heads), finite_numbers("slack_costs", slack_costs, len(sources))
        if free > 0.0:
            supply, slack = np.append(supply, free), np.append(slack, 0.0)
            tails, heads = np.append(tails, np.full(len(sinks), len(sources))), np.append(heads, np.arange(len(sinks)))
            costs = np.append(costs, np.zeros(len(sinks)))
        self.flow = Transport(supply, demand, tails, heads, costs, slack)

    @property
    def kept(self) -> FloatArray:
        """What stays at each source point, float64 (p,)."""
        return self.flow.kept[: self._source_reach.size]

    def solve(self) -> None:
        """Find an optimum among all pairs."""
        self.flow.solve()
        while self.certify():
            self.flow.solve()

    def certify(self) -> int:
        """Add arcs that would lower the cost of the solved flow; 0 means that it is optimal among all pairs.

        Optimal up to rounding: no pair's reduced cost is below −2·``flow.resolution`` − 2⁻⁴⁶·(largest price).

        Returns:
            The number of arcs added. Solve again where it is not 0.
        """
        if self._complete:
            return 0
        source, sink = self._prices()
        return self._add(*self._gaining(source, sink, self._margin(source, sink)))

    def _margin(self, source: FloatArray, sink: FloatArray) -> float:
        largest = max(float(np.abs(source).max(initial=0.0)), float(np.abs(sink).max(initial=0.0)))
        return 2.0 * self.flow.resolution + _ROUNDING * largest

    def _add(self, tails: IntArray, heads: IntArray) -> int:
        if tails.size:
            self._arcs.append((tails, heads))
            if self._floors is not None:
                self._floors.have_arcs(tails, heads)
            self.flow.add_arcs(tails, heads, self._pairs.distances(tails, heads))
        return len(tails)

    def _gaining(self, source: FloatArray, sink: FloatArray, margin: float) -> tuple[IntArray, IntArray]:
        if self._repeated and (floors := self._all_floors()) is not None:
            found = floors.gaining(source, sink, margin=margin, width=_ADDED)
            if found is not None:
                return found
        # A pair without an arc costs at least what either end's list reaches out to.
        rows = np.flatnonzero(source - self._source_reach > sink.min() + margin)
        columns = np.flatnonzero(sink + self._sink_reach < source.max() - margin)
        if not rows.size or not columns.size:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return self._pairs.gaining(rows, columns, source, sink, margin=margin, width=_ADDED)

    def _all_floors(self) -> Floors | None:
        """Return lower bounds of all costs, made once; None where there are too many pairs."""
        if self._floors is None and math.prod(self._pairs.shape) <= MOST_PAIRS:
            self._floors = Floors.of(self._pairs)
            for tails, heads in self._arcs:
                self._floors.have_arcs(tails, heads)
        return self._floors

    def room(self) -> Room | None:
        """Return how far the prices of the certified flow may move; None where every pair has an arc."""
        if self._complete:
            return None
        reach = self._source_reach, self._sink_reach
        prices = self._prices()
        return room_of(self._pairs, prices, reach, self._all_floors(), self._margin(*prices))

    def excess(self, room: Room | None, touched: NDArray[np.integer[Any]] | None = None) -> float:
        """Return by how much the cost among the arcs may lie above that among all pairs, at most.

        Args:
            room: of a certified flow of this problem, from which slack costs have changed since.
            touched: nodes of the flow whose price may have changed since, distinct; None: any.
        """
        return 0.0 if room is None else self._violated(room, touched).excess

    def add_violated(self, room: Room, touched: NDArray[np.integer[Any]]) -> int:
        """Add arcs as :meth:`certify` does, for pairs that the room leaves open: those near what has been touched.

        Args:
            room: as for :meth:`excess`, with floors.
            touched: as for :meth:`excess`.

        Returns:
            The number of arcs added. Solve again where it is not 0; 0 means that it is optimal among all pairs.
        """
        tails, heads = self._violated(room, touched).pairs
        return self._add(tails, heads)

    def _violated(self, room: Room, touched: NDArray[np.integer[Any]] | None) -> Violated:
        return room.violated(self._supplies, *self._moved(touched))

    def lowest(self, room: Room | None, touched: NDArray[np.integer[Any]]) -> FloatArray:
        """Return how low sink prices may be, for pairs without an arc, with the present or lower source prices.

        Args:
            room: as for :meth:`excess`.
            touched: as for :meth:`excess`.
        """
        if room is None:
            return np.full(self._sink_reach.size, -np.inf)
        return room.lowest(self._moved(touched)[0])

    def _moved(self, touched: NDArray[np.integer[Any]] | None) -> tuple[Moved, Moved]:
        """Return nodes of either side with their prices."""
        points, first = self._source_reach.size, self.flow.sources
        if touched is not None:
            prices = self.flow.prices_of(touched)
            if np.isfinite(prices).all():
                left, right = touched < points, touched >= first
                return Moved(touched[left], prices[left]), Moved(touched[right] - first, prices[right])
        source, sink = self._prices()
        return Moved(np.arange(points), source), Moved(np.arange(sink.size), sink)

    def _prices(self) -> tuple[FloatArray, FloatArray]:
        """Return the prices of source points and sinks; for −∞ a number below the others by more than any arc costs."""
        sides = self.flow.source_prices[: self._source_reach.size], self.flow.sink_prices
        least = min(float(side.min(initial=0.0, where=np.isfinite(side))) for side in sides)
        source, sink = (np.maximum(side, least - 4.0 * self._pairs.largest) for side in sides)
        return source, sink

    def _first_arcs(
        self, sources: FloatArray, sinks: FloatArray, cap: float, *, aligned: bool
    ) -> tuple[IntArray, IntArray]:
        if aligned:
            return self._near_centred(sources, sinks)
        if self._repeated and (floors := self._all_floors()) is not None:
            return floors.nearest(_NEAREST)
        tails, heads, *reaches = _near_pairs(sources, sinks, cap)
        # A complete list leaves out only what costs the cap.
        self._source_reach, self._sink_reach = (np.minimum(reach, cap) for reach in reaches)
        return tails, heads

    def _near_centred(self, sources: FloatArray, sinks: FloatArray) -> tuple[IntArray, IntArray]:
        # The reach of these lists says nothing of the distances themselves: it stays 0.
        tails, heads, *_ = _near_pairs(sources - sources.mean(axis=0), sinks - sinks.mean(axis=0), math.inf)
        return tails, heads


def _near_pairs(
    sources: FloatArray, sinks: FloatArray, cap: float
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return pairs of sources and sinks, from lists of the nearest both ways, and the reach of these lists."""
    points = np.concatenate([sources, sinks])
    left, right = np.arange(len(sources)), np.arange(len(sources), len(points))
    lists = near_lists(points, rows=left, columns=right, count=min(_NEAREST, len(sinks)), cap=cap)
    back = near_lists(points, rows=right, columns=left, count=min(_NEAREST, len(sources)), cap=cap)
    tails = np.concatenate([np.repeat(left, np.diff(lists.starts)), back.columns.astype(np.int64)])
    heads = np.concatenate([lists.columns.astype(np.int64), np.repeat(right - len(left), np.diff(back.starts))])
    return tails, heads, lists.reach, back.reach


def _matrix(name: str, points: FloatArray) -> FloatArray:
    points = np.asarray(points)
    if points.ndim != 2 or not len(points) or points.dtype.kind not in "fiu" or not np.isfinite(points).all():
        raise SpecError(f"expected {name} as finite numbers (n, k) with n ≥ 1, got shape={points.shape}")
    return np.ascontiguousarray(points, np.float32 if points.dtype == np.float32 else np.float64)


def _path(sources: FloatArray, sinks: FloatArray, supply: FloatArray, demand: FloatArray) -> tuple[IntArray, IntArray]:
    """Return p + q − 1 arcs over which every demand can be met, in the order along the widest axis.

    Sources in order fill sinks in order; the arcs are where the shares of supply and of demand overlap.
    """
    axis = int(np.argmax(np.ptp(sources, axis=0))) if sources.shape[1] else None
    left = np.argsort(sources[:, axis], kind="stable") if axis is not None else np.arange(len(sources))
    right = np.argsort(sinks[:, axis], kind="stable") if axis is not None else np.arange(len(sinks))
    given, taken = np.cumsum(supply[left]), np.cumsum(demand[right])
    given, taken = given / (given[-1] or 1.0), taken / taken[-1]
    ends = np.sort(np.concatenate([given, taken]))[:-1]
    at_source, at_sink = np.searchsorted(given, ends), np.searchsorted(taken, ends)
    # The next arc of the path as well, so that rounding cannot open a gap.
    tails = np.concatenate([at_source, np.minimum(at_source + 1, len(left) - 1), at_source])
    heads = np.concatenate([at_sink, at_sink, np.minimum(at_sink + 1, len(right) - 1)])
    return left[np.minimum(tails, len(left) - 1)], right[np.minimum(heads, len(right) - 1)]
