"""A sharper bound of what a swap costs: sources near the new candidate pull the prices of sinks down with them.

Equation (5) of docs/proofs/ls_cost.md. It takes a tenth of the solve that it saves.
"""

from typing import NamedTuple

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.neighbors.near_lists import ByColumn
from evomix.transport.pricing import Neighbours


class Prices(NamedTuple):
    """Optimal prices of a transport with one selected candidate taken away, and its arcs.

    Attributes:
        nodes: int64 (p + q,), of sources and sinks, in units of ``unit``.
        unit: of prices and of the arcs' costs.
        arcs: by node.
        demands: float64 (q,).
        lowest: float64 (q,), how low pairs without an arc let the sinks' prices fall.
        capped: float64 (p,), infinity; holds what sources near a candidate fall to, while it is looked at.
        seen: int64 (q + 1,), in whose turn a sink was looked at last; the last entry is the present turn.
    """

    nodes: IntArray
    unit: float
    arcs: Neighbours
    demands: FloatArray
    lowest: FloatArray
    capped: FloatArray
    seen: IntArray


@compiled
def sharper(
    candidates: IntArray, enough: FloatArray, columns: ByColumn, prices: Prices
) -> FloatArray:  # pragma: no cover - compiled
    """Return by how much the bound (4) of each candidate may be raised, float64 (k,).

    ``Σ_u demand_u·(φ(u) − φ″(u))`` with ``φ″(u) = max over arcs (v, u) of min(φ(v), c(v, x)) − c(v, u)``, but not below
    ``lowest_u``. Terms are left out once the sum is ``enough``.

    Args:
        candidates: int64 (k,), columns x.
        enough: float64 (k,), a raise that rules the candidate out.
        columns: sources near each candidate.
        prices: what they are measured against.
    """
    raised = np.zeros(candidates.size)
    for k in range(candidates.size):
        first, last = columns.starts[candidates[k]], columns.starts[candidates[k] + 1]
        prices.seen[-1] += 1
        for e in range(first, last):
            prices.capped[columns.rows[e]] = columns.distances[e]
        for e in range(first, last):
            v = columns.rows[e]
            price = prices.nodes[v] * prices.unit
            if columns.distances[e] < price:
                raised[k] += _raised(v, price - columns.distances[e], prices)
                if raised[k] >= enough[k]:
                    break
        for e in range(first, last):
            prices.capped[columns.rows[e]] = np.inf
    return raised


@compiled
def _raised(source: int, fall: float, prices: Prices) -> float:  # pragma: no cover - compiled
    """Return what the sinks add whose price may hang on a source that falls, those not seen before."""
    arcs, unit, count = prices.arcs, prices.unit, prices.capped.size
    raised, limit = 0.0, prices.nodes[source] + np.int64(fall / unit)
    for e in range(arcs.starts[source], arcs.starts[source + 1]):
        sink = arcs.nodes[e]
        if arcs.costs[e] + prices.nodes[sink] > limit:
            continue
        u = sink - count
        if prices.seen[u] != prices.seen[-1]:
            prices.seen[u] = prices.seen[-1]
            raised += prices.demands[u] * max(0.0, prices.nodes[sink] * unit - _price(sink, prices, prices.lowest[u]))
    return raised


@compiled
def _price(sink: int, prices: Prices, lowest: float) -> float:  # pragma: no cover - compiled
    """Return the least price of a sink that its arcs allow."""
    arcs, price = prices.arcs, lowest
    for e in range(arcs.starts[sink], arcs.starts[sink + 1]):
        v = arcs.nodes[e]
        if v < prices.capped.size:
            price = max(price, min(prices.nodes[v] * prices.unit, prices.capped[v]) - arcs.costs[e] * prices.unit)
    return price
