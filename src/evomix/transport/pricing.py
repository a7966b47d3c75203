"""Which arc enters the basis next, and how it is known that none has to.

From far off: the cheapest arc of a block, blocks in turn (Kiraly and Kovacs 2012 compare the rules). From a basis that
was optimal before a few prices changed: only arcs at nodes whose price changed can have become negative.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.transport.spanning_tree import Tree, exchange


class Arcs(NamedTuple):
    """Arcs by node. Sources are the nodes 0…p−1, sinks p…p+q−1, the ground p+q.

    Attributes:
        starts: int64 (p + q + 1,); the arcs at a node are ``incident[starts[node]:starts[node + 1]]``.
        incident: int32, arcs.
        tails: int32 (a,), nodes.
        heads: int32 (a,), nodes.
        costs: float64 (a,), as given; those of the first p arcs are slack costs, to the ground.
    """

    starts: IntArray
    incident: NDArray[np.int32]
    tails: NDArray[np.int32]
    heads: NDArray[np.int32]
    costs: FloatArray


@compiled
def improve(
    tree: Tree,
    sources: int,
    tails: NDArray[np.int32],
    heads: NDArray[np.int32],
    costs: IntArray,
    start: int,
    block: int,
    most: int,
) -> tuple[int, bool]:
    """Pivot until no arc has a negative reduced cost, at most ``most`` times.

    Args:
        tree: the basis, changed in place.
        sources: p.
        tails: int32 (a,), nodes.
        heads: int32 (a,), nodes.
        costs: int64 (a,).
        start: arc to price first.
        block: arcs priced between pivots, at least 1.
        most: pivots, at least 1.

    Returns:
        The arc to price first in the next call, and whether the basis is optimal: all arcs were priced in turn
        since the last pivot and none was negative.
    """
    price = tree.price
    count = costs.size
    arc = start if start < count else 0
    pivots, priced = 0, 0
    while priced < count:
        entering, least = -1, 0
        for _ in range(min(block, count - priced)):
            reduced = costs[arc] - price[tails[arc]] + price[heads[arc]]
            if reduced < least:
                entering, least = arc, reduced
            arc += 1
            if arc == count:
                arc = 0
        priced += block
        if entering >= 0:
            exchange(tree, sources, entering, tails[entering], heads[entering], least)
            priced = 0
            pivots += 1
            if pivots == most:
                return arc, False
    return arc, True


@compiled
def incidence(nodes: int, tails: NDArray[np.int32], heads: NDArray[np.int32]) -> tuple[IntArray, NDArray[np.int32]]:
    """Return the arcs at each node but the root: starts int64 (nodes + 1,) and arcs int32, ascending at each node."""
    starts = np.zeros(nodes + 1, np.int64)
    for arc in range(tails.size):
        for node in (tails[arc], heads[arc]):
            if node < nodes:
                starts[node + 1] += 1
    for node in range(nodes):
        starts[node + 1] += starts[node]
    place, arcs = starts[:-1].copy(), np.empty(starts[nodes], np.int32)
    for arc in range(tails.size):
        for node in (tails[arc], heads[arc]):
            if node < nodes:
                arcs[place[node]] = arc
                place[node] += 1
    return starts, arcs


@compiled
def repair(
    tree: Tree,
    sources: int,
    tails: NDArray[np.int32],
    heads: NDArray[np.int32],
    costs: IntArray,
    starts: IntArray,
    incident: NDArray[np.int32],
    changed: NDArray[np.int32],
) -> bool:
    """Pivot until no arc has a negative reduced cost, after the slack costs of ``changed`` sources have changed.

    A node waits to be looked at from when its price changes for the worse until its arcs are found not negative. So
    an arc is negative only while an end of it waits, and the basis is optimal when none does.

    Returns:
        Whether the basis is optimal; false when as many arcs were priced as there are, and pricing all is no slower.
    """
    price, size = tree.price, starts.size - 1
    queue, waiting = np.empty(size, np.int32), np.zeros(size, np.bool_)
    first, count, priced = 0, 0, 0
    for source in changed:
        if tree.arc[source] == source:
            count = _wait(tree, source, True, True, sources, queue, waiting, first, count)
        else:
            count = _enqueue(source, queue, waiting, first, count)
    while count:
        node = queue[first]
        first = first + 1 if first + 1 < size else 0
        count -= 1
        waiting[node] = False
        entering, least = -1, 0
        for arc in incident[starts[node] : starts[node + 1]]:
            reduced = costs[arc] - price[tails[arc]] + price[heads[arc]]
            if reduced < least:
                entering, least = arc, reduced
        priced += starts[node + 1] - starts[node]
        if entering >= 0:
            low = exchange(tree, sources, entering, tails[entering], heads[entering], least)
            up = low == heads[entering]
            count = _wait(tree, low, up, not up, sources, queue, waiting, first, count)
            count = _enqueue(node, queue, waiting, first, count)
        if priced > costs.size:
            return False
    return True


@compiled
def _wait(
    tree: Tree,
    top: int,
    with_sources: bool,
    with_sinks: bool,
    sources: int,
    queue: NDArray[np.int32],
    waiting: NDArray[np.bool_],
    first: int,
    count: int,
) -> int:
    """Enqueue the nodes from ``top`` down that do not wait yet; return the length of the queue."""
    node = top
    while True:
        if with_sources if node < sources else with_sinks:
            count = _enqueue(node, queue, waiting, first, count)
        if tree.child[node] >= 0:
            node = tree.child[node]
            continue
        while node != top and tree.after[node] < 0:
            node = tree.parent[node]
        if node == top:
            return count
        node = tree.after[node]


@compiled
def _enqueue(node: int, queue: NDArray[np.int32], waiting: NDArray[np.bool_], first: int, count: int) -> int:
    if waiting[node]:
        return count
    waiting[node] = True
    place = first + count
    queue[place if place < queue.size else place - queue.size] = node
    return count + 1
