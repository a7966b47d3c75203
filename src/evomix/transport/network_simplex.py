"""Least-cost flow from sources to sinks over given arcs, by the primal network simplex, warm-startable.

    min Σ cost·flow + Σ slack_cost·kept   over flow, kept ≥ 0 with
        kept(v) + Σ flow out of v = supply(v)  at each source,      Σ flow into u = demand(u)  at each sink.

    flow = Transport(supplies, demands, tails, heads, costs, slack_costs)
    flow.solve()
    flow.cost, flow.kept, flow.shipped, flow.unmet, flow.source_prices, flow.sink_prices

    state = flow.snapshot()                      # a trial solve …
    flow.set_slack_costs([3, 7], [0.5, 0.1])     # the basis stays feasible
    flow.solve()                                 # so this takes a few pivots
    flow.restore(state)                          # … undone, slack costs included

    flow.add_arcs(tails, heads, costs)           # they start empty; solve again

**Exactness.** Masses and costs are rounded once, to integers, and from there on everything is exact: the basis that
``solve`` ends with is an optimum of the rounded problem, not one up to a tolerance. Masses are rounded by at most
2⁻⁵⁹ of the total; costs by at most ``resolution``/2, and ``resolution`` is at most 2⁻⁵⁷·(p+q+1)·(largest cost), 10⁻¹³
of it for 15,000 nodes. So the flow's true cost is within ``resolution``·(total supply) of the least, and ``bound``
certifies it independently, in float64 and against the costs as given.

Source: Cunningham (1976) for the strongly feasible tree; Ahuja, Magnanti and Orlin, "Network Flows" (1993), chapter 11.
Post-processing of whatever the masses are; costs no privacy.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.transport.arguments import finite_numbers, positions_below, rounded
from evomix.transport.pricing import Arcs, improve, incidence, repair
from evomix.transport.spanning_tree import Snapshot, cost_of, move_slack, reprice, star

_MASS_BITS = 60
"""Sums of masses stay below 2^61."""
_BALANCE_BITS = 20
"""Totals that differ by less than 2^-40 of them are equal but for rounding: demand gives way."""
_LACK = 1 << 61
"""Cost of a unit that a sink lacks: more than any path of arcs, whose costs sum to less than 2^59."""
_PATH_BITS = 59
_PIVOTS = 1 << 14
"""Pivots in one call of compiled code: between two calls Ctrl-C gets through."""


class Transport:
    """A transport problem with its present basis.

    Args:
        supplies: floats (p,), finite, at least 0.
        demands: floats (q,), finite, positive.
        tails: integers (a,), positions of sources.
        heads: integers (a,), positions of sinks. Several arcs may join the same two.
        costs: floats (a,), finite, any sign.
        slack_costs: floats (p,), finite, any sign: cost of a unit that stays at its source.

    Supply beyond the demand stays where keeping it is cheapest. Where demand cannot be met, as much as can be is, and
    the rest is ``unmet``; totals that differ by less than 10⁻¹² of them count as equal.

    Raises:
        SpecError: an argument is not as above.
    """

    def __init__(
        self,
        supplies: ArrayLike,
        demands: ArrayLike,
        tails: ArrayLike,
        heads: ArrayLike,
        costs: ArrayLike,
        slack_costs: ArrayLike,
    ) -> None:
        supplied, demanded = finite_numbers("supplies", supplies), finite_numbers("demands", demands)
        if (supplied < 0.0).any() or (demanded <= 0.0).any():
            raise SpecError("expected supplies of at least 0 and positive demands; leave out sinks without demand")
        self._supplies, self._demands = supplied, demanded
        self._sources, self._sinks = supplied.size, demanded.size
        total = max(float(supplied.sum()), float(demanded.sum()))
        if not math.isfinite(total):
            raise SpecError(f"expected masses with a finite sum, got total={total}; scale them")
        self._mass_exponent = math.frexp(total)[1] - _MASS_BITS
        self._tree = star(self._whole_masses())
        slack = finite_numbers("slack_costs", slack_costs, self._sources)
        nodes = np.arange(self._sources + self._sinks + 1, dtype=np.int32)
        # Arc number k of the first p + q is the one between node k and the ground.
        ground = np.full(nodes.size - 1, nodes[-1], np.int32)
        self._tails = np.concatenate([nodes[: self._sources], ground[self._sources :]])
        self._heads = np.concatenate([ground[: self._sources], nodes[self._sources : -1]])
        self._real = np.concatenate([slack, np.zeros(self._sinks)])
        self._costs = np.zeros(0, np.int64)
        self._cost_exponent = -(1 << 20)
        self._start = 0
        self._stale = True
        self._optimal_arcs, self._changed = 0, np.zeros(0, np.int32)
        self._starts, self._incident = np.zeros(0, np.int64), np.zeros(0, np.int32)
        self._costs = np.zeros(self._real.size, np.int64)
        self._requantise(slice(None))
        self.add_arcs(tails, heads, costs)

    @property
    def resolution(self) -> float:
        """The unit of cost: costs are rounded to its multiples."""
        return math.ldexp(1.0, self._cost_exponent)

    def solve(self) -> None:
        """Go from the present basis to an optimal one."""
        self._refresh()
        if self._optimal_arcs == self._real.size and self._repaired():
            return
        block, optimal = max(32, math.isqrt(self._costs.size)), False
        arcs = (self._tails, self._heads, self._costs)
        while not optimal:
            self._start, optimal = improve(self._tree, self._sources, *arcs, self._start, block, _PIVOTS)
        self._optimal_arcs, self._changed = self._real.size, self._changed[:0]

    def _repaired(self) -> bool:
        """Price the arcs near what changed since the basis was optimal; return whether it is optimal again."""
        if self._changed.size == 0:
            return True
        arcs = (self._tails, self._heads)
        if self._starts.size == 0:
            self._starts, self._incident = incidence(self._sources + self._sinks, *arcs)
        changed, self._changed, self._optimal_arcs = self._changed, self._changed[:0], 0
        if repair(self._tree, self._sources, *arcs, self._costs, self._starts, self._incident, changed):
            self._optimal_arcs = self._real.size
        return self._optimal_arcs > 0

    def _index_arcs(self) -> None:
        if self._starts.size == 0:
            self._starts, self._incident = incidence(self._sources + self._sinks, self._tails, self._heads)

    def arcs_by_node(self) -> Arcs:
        """Return the arcs as they are now, by node."""
        self._index_arcs()
        return Arcs(self._starts, self._incident, self._tails, self._heads, self._real)

    def set_slack_costs(self, positions: ArrayLike, values: ArrayLike) -> None:
        """Change what keeping a unit costs at some sources; the present basis stays feasible, :meth:`solve` re-prices.

        Args:
            positions: integers (k,), distinct sources.
            values: floats (k,), finite.

        Raises:
            SpecError: a position is no source or not distinct, or a value is not finite.
        """
        where = positions_below("positions", positions, self._sources)
        if np.unique(where).size < where.size:
            raise SpecError("expected distinct positions; a source stands there twice")
        self._real[where] = finite_numbers("values", values, where.size)
        stale, exponent, before = self._stale, self._cost_exponent, self._costs[where]
        self._requantise(where)
        if not stale and exponent == self._cost_exponent:
            move_slack(self._tree, where, self._costs[where] - before)
            self._stale = False
        self._changed = np.union1d(self._changed, where).astype(np.int32)

    def add_arcs(self, tails: ArrayLike, heads: ArrayLike, costs: ArrayLike) -> None:
        """Append arcs without flow; their positions follow those of the arcs before.

        Raises:
            SpecError: lengths differ, a position is out of range or a cost is not finite.
        """
        new_costs = finite_numbers("costs", costs)
        new_tails = positions_below("tails", tails, self._sources)
        new_heads = positions_below("heads", heads, self._sinks)
        if not new_tails.size == new_heads.size == new_costs.size:
            sizes = f"{new_tails.size}, {new_heads.size}, {new_costs.size}"
            raise SpecError(f"expected as many tails, heads and costs, got {sizes}")
        if not new_costs.size and self._costs.size:
            return
        first = self._real.size
        self._tails = np.concatenate([self._tails, new_tails])
        self._heads = np.concatenate([self._heads, new_heads + np.int32(self._sources)])
        self._real = np.concatenate([self._real, new_costs])
        self._costs = np.concatenate([self._costs, np.zeros(self._real.size - self._costs.size, np.int64)])
        self._starts, self._incident = np.zeros(0, np.int64), np.zeros(0, np.int32)
        self._start = first if first < self._real.size else 0
        self._requantise(slice(first, None))

    def snapshot(self) -> Snapshot:
        """Return the present basis and slack costs."""
        slack_costs = self._real[: self._sources].copy()
        return Snapshot(self._tree.copy(), slack_costs, self._optimal_arcs, self._changed, self._cost_exponent)

    def restore(self, state: Snapshot) -> None:
        """Go back to a snapshot of this problem; arcs added since stay, without flow."""
        self._tree = state.tree.copy()
        changed = np.flatnonzero(self._real[: self._sources] != state.slack_costs)
        self._real[changed] = state.slack_costs[changed]
        self._requantise(changed)
        self._changed = state.changed
        self._optimal_arcs = state.optimal_arcs if state.cost_exponent == self._cost_exponent else 0

    def _whole_masses(self) -> IntArray:
        masses = rounded(np.concatenate([self._supplies, self._demands]), -self._mass_exponent)
        demands = np.maximum(masses[self._sources :], 1, out=masses[self._sources :])
        short = int(demands.sum()) - int(masses[: self._sources].sum())
        if 0 < short < 1 << _BALANCE_BITS:
            demands[demands.argmax()] -= short
        return masses

    def _requantise(self, changed: NDArray[np.integer[Any]] | slice) -> None:
        """Round costs that changed to integers; all of them, more coarsely, where one is larger than any before."""
        largest = float(np.abs(self._real[changed]).max(initial=0.0))
        exponent = math.frexp(largest)[1] - (_PATH_BITS - self._tree.parent.size.bit_length())
        if largest > 0.0 and exponent > self._cost_exponent:
            self._cost_exponent, changed, self._optimal_arcs = exponent, slice(None), 0
        self._costs[changed] = rounded(self._real[changed], -self._cost_exponent)
        self._costs[self._sources : self._sources + self._sinks] = _LACK
        self._stale = True

    @property
    def arcs(self) -> int:
        """Number of arcs between sources and sinks."""
        return int(self._real.size) - self._sources - self._sinks

    @property
    def cost(self) -> float:
        """Cost of the present flow, Σ cost·flow + Σ slack_cost·kept; what is unmet costs nothing."""
        return math.ldexp(cost_of(self._tree, self._real), self._mass_exponent)

    @property
    def shipped(self) -> tuple[IntArray, FloatArray]:
        """Positions of the arcs that carry flow, int64, and how much, float64."""
        arcs = self._tree.arc[:-1].astype(np.int64) - self._sources - self._sinks
        carrying = (arcs >= 0) & (self._tree.flow[:-1] > 0)
        return arcs[carrying], self._amounts()[carrying]

    @property
    def kept(self) -> FloatArray:
        """What stays at each source, float64 (p,)."""
        return self._to_ground()[: self._sources]

    @property
    def lacking(self) -> FloatArray:
        """What each sink lacks, float64 (q,)."""
        return self._to_ground()[self._sources :]

    @property
    def unmet(self) -> float:
        """Demand that is not met, in all."""
        return float(self.lacking.sum())

    @property
    def source_prices(self) -> FloatArray:
        """Dual prices φ of the sources, float64 (p,).

        After ``solve``, up to ``resolution``: ``φ(v) ≤ slack_cost(v)``, ``φ(v) − φ(u) ≤ cost`` of every arc, and
        ``Σ supply·φ − Σ demand·φ`` is the cost. −∞ where a unit more would fill what a sink lacks.
        """
        return self._prices()[: self._sources]

    @property
    def sink_prices(self) -> FloatArray:
        """Dual prices φ of the sinks, float64 (q,): one unit more of demand costs −φ(u)."""
        return self._prices()[self._sources :]

    def bound(self) -> float:
        """Return a lower bound of the cost of any flow over these arcs that meets the demands; −∞ where none was found.

        The prices in float64, lowered at the sources by what they miss feasibility by, against the costs as given;
        less the rounding of the sums. It owes nothing to the solver.
        """
        source, sink = self.source_prices, self.sink_prices
        if not (np.isfinite(source).all() and np.isfinite(sink).all()):
            return -math.inf
        first = self._sources + self._sinks
        slack, costs = self._real[: self._sources], self._real[first:]
        excess = source[self._tails[first:]] - sink[self._heads[first:] - self._sources] - costs
        source -= max(float(excess.max(initial=0.0)), float((source - slack).max(initial=0.0)))
        terms = np.concatenate([self._supplies * source, -self._demands * sink])
        return math.fsum(terms) - 2.0**-50 * math.fsum(np.abs(terms))

    def _amounts(self) -> FloatArray:
        return np.ldexp(self._tree.flow[:-1].astype(np.float64), self._mass_exponent)

    def _to_ground(self) -> FloatArray:
        amounts = self._amounts()
        return np.where(self._tree.arc[:-1] == np.arange(amounts.size), amounts, 0.0)

    def _prices(self) -> FloatArray:
        self._refresh()
        price = self._tree.price[:-1]
        prices = np.ldexp(price.astype(np.float64), self._cost_exponent)
        prices[price < -_LACK // 2] = -np.inf
        return prices

    def _refresh(self) -> None:
        if self._stale:
            reprice(self._tree, self._sources, self._costs)
            self._stale = False
