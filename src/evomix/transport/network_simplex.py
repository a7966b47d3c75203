"""Least-cost flow from sources to sinks over given arcs, by the primal network simplex, warm-startable.

    min Σ cost·flow + Σ slack_cost·kept   over flow, kept ≥ 0 with
        kept(v) + Σ flow out of v = supply(v)  at each source,      Σ flow into u = demand(u)  at each sink.

    flow = Transport(supplies, demands, tails, heads, costs, slack_costs)
    flow.solve()
    flow.cost, flow.kept, flow.shipped, flow.unmet, flow.source_prices, flow.sink_prices

    flow.mark()                                  # a trial solve …
    flow.set_slack_costs([3, 7], [0.5, 0.1])     # the basis stays feasible
    flow.solve()                                 # so this takes a few pivots
    flow.undo()                                  # … undone, slack costs included, in time of what it changed

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
from evomix.transport.marks import Mark
from evomix.transport.pricing import Neighbours, Queue, improve, neighbours, repair
from evomix.transport.solution import LACK, Solution
from evomix.transport.spanning_tree import move_slack, reprice, star, unwind

_MASS_BITS = 60
"""Sums of masses stay below 2^61."""
_BALANCE_BITS = 20
"""Totals that differ by less than 2^-40 of them are equal but for rounding: demand gives way."""
_PATH_BITS = 59
_PIVOTS = 1 << 14
"""Pivots in one call of compiled code: between two calls Ctrl-C gets through."""


class Transport(Solution):
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
        self._optimal_arcs = 0
        self._changed: list[NDArray[np.int32]] = []  # sources whose slack costs have, since the basis was optimal
        self._neighbours: Neighbours | None = None
        self._queue = Queue.empty(self._sources + self._sinks)
        self._marks: list[Mark] = []
        self._serial = 0
        self._costs = np.zeros(self._real.size, np.int64)
        self._requantise(slice(None))
        self.add_arcs(tails, heads, costs)

    def solve(self) -> None:
        """Go from the present basis to an optimal one."""
        self._refresh()
        if self._optimal_arcs == self._real.size and self._repaired():
            return
        block, optimal = max(32, math.isqrt(self._costs.size)), False
        arcs = (self._tails, self._heads, self._costs)
        while not optimal:
            self._make_space()
            self._start, optimal = improve(self._tree, self._sources, *arcs, self._start, block, _PIVOTS)
        self._optimal_arcs, self._changed = self._real.size, []

    def _repaired(self) -> bool:
        """Price the arcs near what changed since the basis was optimal; return whether it is optimal again."""
        if not self._changed:
            return True
        changed, self._changed, self._optimal_arcs = np.concatenate(self._changed), [], 0
        self._make_space()
        if repair(self._tree, self._sources, self.neighbours, self._costs, changed, self._queue):
            self._optimal_arcs = self._real.size
        return self._optimal_arcs > 0

    @property
    def neighbours(self) -> Neighbours:
        """The arcs as they are now, by node, their costs in units of ``resolution``."""
        if self._neighbours is None:
            self._neighbours = neighbours(self._sources + self._sinks, self._tails, self._heads, self._costs)
        return self._neighbours

    def mark(self) -> None:
        """Remember the present basis, which has to be optimal, and slack costs; marks may be set one after another."""
        self.solve()
        if not self._marks:
            self._tree.spent[0] = 0.0
        state = self._tree.journal.state
        self._marks.append(Mark(int(state[0]), int(state[1]), self.spent, self._optimal_arcs, self._cost_exponent, []))
        self._serial += 1
        state[1] = self._serial

    def undo(self) -> None:
        """Go back to the last mark, and take it away; arcs added since stay, without flow."""
        mark = self._marks.pop()
        unwind(self._tree, mark.records)
        self._tree.journal.state[1] = mark.number
        for where, real in reversed(mark.slack_costs):
            self._real[where] = real
            self._costs[where] = rounded(real, -self._cost_exponent)
        self._changed, self._optimal_arcs = [], mark.optimal_arcs
        self._tree.spent[0] = math.ldexp(mark.spent, -self._mass_exponent - self._cost_exponent)
        if mark.cost_exponent != self._cost_exponent:  # then prices are in another unit
            self._stale, self._optimal_arcs = True, 0

    def keep(self) -> None:
        """Take all marks away: what was done since stays."""
        self._marks.clear()
        self._tree.journal.state[:] = 0

    def _make_space(self) -> None:
        """Make space in the journal for a record of every node, which no one call exceeds."""
        if self._marks:
            self._tree = self._tree._replace(journal=self._tree.journal.with_space(self._tree.parent.size))

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
        self.move_slack_costs(where, finite_numbers("values", values, where.size))

    def move_slack_costs(self, where: NDArray[np.int32], values: FloatArray) -> None:
        """:meth:`set_slack_costs` without its checks: ``where`` int32 (k,), ``values`` float64 (k,)."""
        real = self._real[where]
        if self._marks:
            self._marks[-1].slack_costs.append((where, real))
        self._real[where] = values
        stale, exponent, before = self._stale, self._cost_exponent, self._costs[where]
        self._requantise(where)
        if not stale and exponent == self._cost_exponent:
            self._make_space()
            move_slack(self._tree, where, self._costs[where] - before)
            self._stale = False
        else:  # prices are set anew as a whole
            held = np.where(self._tree.arc[where] == where, self._tree.flow[where], 0)
            self._tree.spent[0] += math.ldexp(float((values - real) @ held), -self._cost_exponent)
        self._changed.append(where)

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
        self._neighbours = None
        self._start = first if first < self._real.size else 0
        self._requantise(slice(first, None))

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
            self._tree.spent[0] = math.ldexp(self._tree.spent[0], self._cost_exponent - exponent)
            self._cost_exponent, changed, self._optimal_arcs = exponent, slice(None), 0
            self._neighbours = None
        self._costs[changed] = rounded(self._real[changed], -self._cost_exponent)
        if isinstance(changed, slice):
            self._costs[self._sources : self._sources + self._sinks] = LACK
        self._stale = True

    def _refresh(self) -> None:
        if self._stale:
            reprice(self._tree, self._sources, self._costs)
            self._stale = False
