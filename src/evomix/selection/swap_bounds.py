"""Bounds of what every candidate would cost in the place of one that was taken away, kept up as prices move.

Equation (4) of docs/proofs/ls_cost.md: with the sources' prices φ, a candidate x lowers the bound by
``Σ_v supply_v·(φ(v) − min(φ(v), c(v, x)))``. A swap moves few prices, so few sources have to be added anew.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.neighbors.near_lists import ByColumn, NearLists
from evomix.selection.filling import Filling


class SwapBounds:
    """What every candidate adds to the bound, at most 0, at the prices of a flow.

    Args:
        filling: the votes, solved.
        chosen: int64 (m,), those selected.

    Attributes:
        lists: the candidates near each source.
        columns: the same by candidate.
        resolution: the unit of cost of the flow; if that changes, make bounds anew.
    """

    def __init__(self, filling: Filling, chosen: IntArray) -> None:
        self._flow, self._supplies = filling.transport.flow, filling.supplies
        self.lists: NearLists = filling.serving.lists
        self.columns: ByColumn = self.lists.by_column()
        self.resolution = self._flow.resolution
        self._prices = self._flow.node_prices.copy()
        self._marks = np.zeros(self._prices.size + 1, np.int64)
        self._values = np.zeros(self.lists.shape[1])
        self._add(np.arange(self._supplies.size), self._prices, 1.0, self._values)
        self._values[chosen] = np.inf

    def hold(self) -> bool:
        """Return whether the flow has the prices that the bounds are kept for."""
        return bool(np.array_equal(self._prices, self._flow.node_prices))

    def moved(self) -> NDArray[np.int32]:
        """Return the nodes whose prices are others than those that the bounds are kept for, each once."""
        return _moved(self._flow.touched, self._flow.node_prices, self._prices, self._marks)

    def at(self, moved: NDArray[np.int32]) -> FloatArray:
        """Return what every candidate adds at the present prices, float64 (c,); infinity for those selected.

        Args:
            moved: the nodes with other prices.
        """
        values = self._values.copy()
        self._move(moved, values)
        return values

    def follow(self, moved: NDArray[np.int32], old: int, new: int) -> None:
        """Keep the bounds for the present prices from now on, with ``new`` selected in the place of ``old``."""
        self._values[old] = _value(self.columns, old, self._supplies, self._prices, self.resolution)
        self._move(moved, self._values)
        self._prices[moved] = self._flow.node_prices[moved]
        self._values[new] = np.inf

    def _move(self, moved: NDArray[np.int32], values: FloatArray) -> None:
        rows = moved[moved < self._supplies.size]
        self._add(rows, self._prices, -1.0, values)
        self._add(rows, self._flow.node_prices, 1.0, values)

    def _add(self, rows: NDArray[np.integer[Any]], prices: IntArray, sign: float, values: FloatArray) -> None:
        lists = self.lists
        add_gains(
            lists.starts, lists.columns, lists.distances, rows, self._supplies, prices, self.resolution, sign, values
        )


@compiled
def add_gains(
    starts: IntArray,
    columns: NDArray[np.int32],
    distances: FloatArray,
    rows: NDArray[np.integer[Any]],
    supplies: FloatArray,
    prices: IntArray,
    unit: float,
    sign: float,
    values: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Add ``sign·supply_v·(min(φ_v, c(v, x)) − φ_v)``, over the sources ``rows``, to every candidate x.

    Args:
        starts: int64 (p + 1,), of the lists.
        columns: int32, candidates, nearest first.
        distances: float64.
        rows: integers, sources.
        supplies: float64 (p,).
        prices: int64, in multiples of ``unit``.
        unit: of prices.
        sign: 1 or −1.
        values: float64 (c,), changed.
    """
    for row in rows:
        price = prices[row] * unit
        for entry in range(starts[row], starts[row + 1]):
            if distances[entry] >= price:
                break
            values[columns[entry]] += sign * supplies[row] * (distances[entry] - price)


@compiled
def _value(
    columns: ByColumn, candidate: int, supplies: FloatArray, prices: IntArray, unit: float
) -> float:  # pragma: no cover - compiled
    value = 0.0
    for entry in range(columns.starts[candidate], columns.starts[candidate + 1]):
        row = columns.rows[entry]
        value += supplies[row] * min(0.0, columns.distances[entry] - prices[row] * unit)
    return value


@compiled
def _moved(
    touched: NDArray[np.int32], prices: IntArray, before: IntArray, marks: IntArray
) -> NDArray[np.int32]:  # pragma: no cover - compiled
    """Return nodes of other prices than before; the last of ``marks`` is the number of the call."""
    nodes, count = np.empty(touched.size, np.int32), 0
    marks[-1] += 1
    for node in touched:
        if node < prices.size and marks[node] != marks[-1]:
            marks[node] = marks[-1]
            if prices[node] != before[node]:
                nodes[count] = node
                count += 1
    return nodes[:count]
