"""Which arc enters the basis next, and how it is known that none has to.

From far off: the cheapest arc of a block, blocks in turn (Kiraly and Kovacs 2012 compare the rules). From a basis that
was optimal before a few prices changed: only arcs at nodes whose price changed can have become negative.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import IntArray
from evomix.core.compiled import compiled
from evomix.transport.spanning_tree import Tree, exchange


class Neighbours(NamedTuple):
    """Arcs between sources 0…p−1 and sinks p…p+q−1 by node, each twice: what is read together lies together.

    Attributes:
        starts: int64 (p + q + 1,); a node's are the entries ``starts[node]`` to ``starts[node + 1]`` of the rest.
        nodes: int32, the other end.
        arcs: int32, the number of the arc.
        costs: int64, in units of cost.
    """

    starts: IntArray
    nodes: NDArray[np.int32]
    arcs: NDArray[np.int32]
    costs: IntArray


class Queue(NamedTuple):
    """Nodes whose arcs have to be priced.

    Attributes:
        nodes: int32 (p + q,), a ring.
        waiting: bool (p + q,), whether a node is in it; all false between repairs.
    """

    nodes: NDArray[np.int32]
    waiting: NDArray[np.bool_]

    @classmethod
    def empty(cls, nodes: int) -> "Queue":
        """Return a queue with space for all nodes."""
        return cls(np.empty(nodes, np.int32), np.zeros(nodes, np.bool_))


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
def neighbours(nodes: int, tails: NDArray[np.int32], heads: NDArray[np.int32], costs: IntArray) -> Neighbours:
    """Return the arcs from number ``nodes`` = p + q on, by node, ascending at each; those before lead to the ground."""
    starts = np.zeros(nodes + 1, np.int64)
    for arc in range(nodes, tails.size):
        starts[tails[arc] + 1] += 1
        starts[heads[arc] + 1] += 1
    for node in range(nodes):
        starts[node + 1] += starts[node]
    place, total = starts[:-1].copy(), starts[nodes]
    others, arcs, prices = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.int64)
    for arc in range(nodes, tails.size):
        for node, other in ((tails[arc], heads[arc]), (heads[arc], tails[arc])):
            entry = place[node]
            others[entry], arcs[entry], prices[entry] = other, arc, costs[arc]
            place[node] += 1
    return Neighbours(starts, others, arcs, prices)


@compiled
def repair(
    tree: Tree, sources: int, near: Neighbours, costs: IntArray, changed: NDArray[np.int32], queue: Queue
) -> bool:
    """Pivot until no arc has a negative reduced cost, after the slack costs of ``changed`` sources have changed.

    A node waits to be looked at from when its price changes for the worse until its arcs are found not negative. So
    an arc is negative only while an end of it waits, and the basis is optimal when none does.

    Args:
        tree: the basis, changed in place.
        sources: p.
        near: the arcs by node.
        costs: int64 (a,); the first p + q are those between a node and the ground.
        changed: int32, sources.
        queue: empty; it is left so.

    Returns:
        Whether the basis is optimal; false when as many arcs were priced as there are, and pricing all is no slower.
    """
    size = near.starts.size - 1
    first, count, priced = 0, 0, 0
    for source in changed:
        if tree.arc[source] == source:
            count = _wait(tree, source, True, True, sources, queue, first, count)
        else:
            count = _enqueue(source, queue, first, count)
    while count:
        node = queue.nodes[first]
        first = first + 1 if first + 1 < size else 0
        count -= 1
        queue.waiting[node] = False
        entering, least = _cheapest(node, sources, near, costs, tree.price)
        priced += near.starts[node + 1] - near.starts[node] + 1
        if least < 0:
            arc, tail, head = _arc(entering, node, sources, near)
            low = exchange(tree, sources, arc, tail, head, least)
            up = low == head
            count = _wait(tree, low, up, not up, sources, queue, first, count)
            count = _enqueue(node, queue, first, count)
        if priced > costs.size:
            queue.waiting[:] = False
            return False
    return True


@compiled
def _cheapest(node: int, sources: int, near: Neighbours, costs: IntArray, price: IntArray) -> tuple[int, int]:
    """Return the entry of the arc of least reduced cost at a node, −1 for the one to the ground, and that cost."""
    sign = 1 if node >= sources else -1
    own = sign * price[node]
    entering, least = -1, costs[node] + own
    for entry in range(near.starts[node], near.starts[node + 1]):
        reduced = near.costs[entry] + own - sign * price[near.nodes[entry]]
        if reduced < least:
            entering, least = entry, reduced
    return entering, least


@compiled
def _arc(entry: int, node: int, sources: int, near: Neighbours) -> tuple[int, int, int]:
    """Return number, tail and head of an arc that ``_cheapest`` has named."""
    ground = near.starts.size - 1
    arc, other = (node, ground) if entry < 0 else (near.arcs[entry], near.nodes[entry])
    return (arc, node, other) if node < sources else (arc, other, node)


@compiled
def _wait(
    tree: Tree, top: int, with_sources: bool, with_sinks: bool, sources: int, queue: Queue, first: int, count: int
) -> int:
    """Enqueue the nodes from ``top`` down that do not wait yet; return the length of the queue."""
    node = top
    while True:
        if with_sources if node < sources else with_sinks:
            count = _enqueue(node, queue, first, count)
        if tree.child[node] >= 0:
            node = tree.child[node]
            continue
        while node != top and tree.after[node] < 0:
            node = tree.parent[node]
        if node == top:
            return count
        node = tree.after[node]


@compiled
def _enqueue(node: int, queue: Queue, first: int, count: int) -> int:
    if queue.waiting[node]:
        return count
    queue.waiting[node] = True
    place = first + count
    queue.nodes[place if place < queue.nodes.size else place - queue.nodes.size] = node
    return count + 1
