"""LSCost of one selection after another: what is missing is filled at least cost, the rest goes to those selected.

The transport problem (1) of docs/proofs/ls_cost.md. From one selection to the next only the distances to the nearest
selected candidate change, so each solve starts from the basis of the last.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.selection.serving import Served, Serving
from evomix.transport.points import PointTransport


class Filling:
    """Votes on points, some of them negative, and which candidates may be selected.

    Args:
        points: floats (n, k).
        votes: float64 (n,), some negative, their sum not.
        eligible: int64 (c,), positions of the candidates that may be selected.
        cap: distances count as at most this.
        size: how many will be selected, from 1 to c.

    Attributes:
        supplies: float64 (p,), the positive votes.
        demands: float64 (q,), the sizes of the negative ones.
        serving: who serves the positive votes.
        transport: the flow that fills negative votes; its slack costs are the distances to the nearest selected.
    """

    def __init__(self, points: NDArray[Any], votes: FloatArray, eligible: IntArray, *, cap: float, size: int) -> None:
        sources, sinks = np.flatnonzero(votes > 0.0), np.flatnonzero(votes < 0.0)
        self.supplies, self.demands = votes[sources], -votes[sinks]
        self.demands *= min(1.0, self.supplies.sum() / self.demands.sum())  # equal sums may differ in their last digits
        self.serving = Serving(points, sources=sources, eligible=eligible, cap=cap, size=size)
        self.transport = PointTransport(
            points[sources], points[sinks], self.supplies, self.demands, slack_costs=np.zeros(sources.size), cap=cap,
            repeated=True,
        )  # fmt: skip

    def fill(self, served: Served) -> float:
        """Return LSCost or somewhat more, solved among the arcs there are."""
        self.transport.flow.set_slack_costs(np.arange(self.supplies.size), served.first)
        self.transport.flow.solve()
        return self.transport.flow.cost

    def cost_of(self, served: Served) -> float:
        """Return LSCost, solved among all pairs of points."""
        self.transport.flow.set_slack_costs(np.arange(self.supplies.size), served.first)
        self.transport.solve()
        return self.transport.flow.cost
