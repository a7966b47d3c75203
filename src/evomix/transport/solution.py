"""What the basis of a transport problem says: flow, prices, cost, and a bound that owes nothing to the solver."""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.transport.spanning_tree import Tree, cost_of

LACK: Final = 1 << 61
"""Cost of a unit that a sink lacks: more than any path of arcs, whose costs sum to less than 2^59."""


class Solution:
    """The reading side of ``Transport``, which see."""

    _supplies: FloatArray
    _demands: FloatArray
    _sources: int
    _sinks: int
    _tails: NDArray[np.int32]
    _heads: NDArray[np.int32]
    _real: FloatArray
    _tree: Tree
    _mass_exponent: int
    _cost_exponent: int

    def _refresh(self) -> None:
        """Set prices anew where costs have changed since."""
        raise NotImplementedError

    @property
    def resolution(self) -> float:
        """The unit of cost: costs are rounded to its multiples."""
        return math.ldexp(1.0, self._cost_exponent)

    @property
    def sources(self) -> int:
        """Number of sources: the nodes from 0; sinks follow."""
        return self._sources

    @property
    def node_prices(self) -> IntArray:
        """Dual prices of sources and then sinks, int64 (p + q,), in units of ``resolution``: a view."""
        self._refresh()
        return self._tree.price[:-1]

    @property
    def slack_costs(self) -> FloatArray:
        """Present costs of keeping, float64 (p,): a view."""
        return self._real[: self._sources]

    def prices_of(self, nodes: NDArray[np.integer[Any]]) -> FloatArray:
        """Return the dual prices of some nodes, float64 (k,), as :attr:`source_prices` and :attr:`sink_prices` are."""
        price = self.node_prices[nodes]
        prices: FloatArray = np.ldexp(price.astype(np.float64), self._cost_exponent)
        prices[price < -LACK // 2] = -np.inf
        return prices

    @property
    def spent(self) -> float:
        """By how much the cost has changed since the first of the marks.

        Up to ``resolution``·(total supply) and the rounding of sums, without a look at all arcs.
        """
        return math.ldexp(float(self._tree.spent[0]), self._mass_exponent + self._cost_exponent)

    @property
    def touched(self) -> NDArray[np.int32]:
        """Nodes that may have changed since the first of the marks, int32, with repeats.

        All others have the same flow and price (unless ``resolution`` has changed).
        """
        return self._tree.journal.places[: self._tree.journal.state[0], 0]

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
        return self.prices_of(np.arange(self._sources))

    @property
    def sink_prices(self) -> FloatArray:
        """Dual prices φ of the sinks, float64 (q,): one unit more of demand costs −φ(u)."""
        return self.prices_of(np.arange(self._sources, self._sources + self._sinks))

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
