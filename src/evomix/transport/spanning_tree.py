"""The basis of a transport problem: a spanning tree with flows and prices, and the pivot that exchanges one arc.

Nodes are the sources 0…p−1, the sinks p…p+q−1 and the ground p+q, the root. Arcs lead from a source to a sink, from a
source to the ground (what it keeps) or from the ground to a sink (what it lacks). So the tree arc of a source leads up
to its parent and that of a sink comes down from its parent, whatever the parent is: no direction has to be stored.

All numbers are integers, so flows and prices are exact however many pivots are made. The tree is *strongly feasible*:
every sink's tree arc carries flow. The leaving arc is chosen to keep it so, hence no sequence of pivots repeats
(Cunningham 1976).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled

_FAR = 1 << 62


class Tree(NamedTuple):
    """A spanning tree by node, with −1 for none; every array has p + q + 1 entries.

    Attributes:
        parent: int32, the node above.
        arc: int32, the arc between node and parent.
        flow: int64, what flows on it, in units of mass.
        depth: int32, arcs up to the root.
        child: int32, a first child.
        after: int32, the next child of the same parent.
        before: int32, the child before.
        price: int64, in units of cost; 0 at the root. An arc of cost c has the reduced cost
            ``c − price[tail] + price[head]``, which is 0 on tree arcs.
    """

    parent: NDArray[np.int32]
    arc: NDArray[np.int32]
    flow: IntArray
    depth: NDArray[np.int32]
    child: NDArray[np.int32]
    after: NDArray[np.int32]
    before: NDArray[np.int32]
    price: IntArray

    def copy(self) -> "Tree":
        """Return a tree that shares no memory with this one."""
        return Tree(
            self.parent.copy(), self.arc.copy(), self.flow.copy(), self.depth.copy(),
            self.child.copy(), self.after.copy(), self.before.copy(), self.price.copy(),
        )  # fmt: skip


class Snapshot(NamedTuple):
    """A basis and the slack costs that it belongs to.

    Attributes:
        tree: the basis.
        slack_costs: float64 (p,).
        optimal_arcs: among how many arcs it was optimal, before the slack costs of ``changed`` sources did.
        changed: int32, sources.
        cost_exponent: how costs were rounded.
    """

    tree: Tree
    slack_costs: FloatArray
    optimal_arcs: int
    changed: NDArray[np.int32]
    cost_exponent: int


def star(masses: IntArray) -> Tree:
    """Return the tree in which every node hangs from the root by its arc of the same number, prices still 0.

    Args:
        masses: int64 (p + q,), supplies of at least 0, then demands of at least 1.
    """
    size = masses.size
    nodes = np.arange(size + 1, dtype=np.int32)
    parent, arc, after = np.full(size + 1, size, np.int32), nodes.copy(), nodes + np.int32(1)
    parent[size] = arc[size] = -1
    after[size - 1 :] = -1
    child = np.full(size + 1, -1, np.int32)
    child[size] = 0 if size else -1
    depth = np.ones(size + 1, np.int32)
    depth[size] = 0
    before = nodes - np.int32(1)
    before[size] = -1
    return Tree(parent, arc, np.append(masses, 0), depth, child, after, before, np.zeros(size + 1, np.int64))


@compiled
def reprice(tree: Tree, sources: int, costs: IntArray) -> None:
    """Set every price from the tree, top down, after costs of arcs have changed."""
    parent, child, after, price = tree.parent, tree.child, tree.after, tree.price
    root = parent.size - 1
    node = child[root]
    while node >= 0:
        cost = costs[tree.arc[node]]
        price[node] = price[parent[node]] + (cost if node < sources else -cost)
        if child[node] >= 0:
            node = child[node]
            continue
        while node != root and after[node] < 0:
            node = parent[node]
        node = -1 if node == root else after[node]


@compiled
def move_slack(tree: Tree, positions: NDArray[np.int32], changes: IntArray) -> None:
    """Set prices anew after the slack costs of sources, distinct, have changed by as much."""
    for k in range(positions.size):
        source = positions[k]
        if tree.arc[source] == source and changes[k] != 0:
            shift(tree, source, changes[k])


@compiled
def cost_of(tree: Tree, costs: FloatArray) -> float:
    """Return the sum of cost times flow over the tree's arcs, in units of mass, always in the same order."""
    cost = 0.0
    for node in range(tree.arc.size - 1):
        cost += costs[tree.arc[node]] * tree.flow[node]
    return cost


@compiled
def exchange(tree: Tree, sources: int, entering: int, tail: int, head: int, reduced: int) -> int:
    """Bring an arc of negative reduced cost into the tree, with as much flow as its cycle allows.

    Returns:
        The end of the arc below which all prices have changed: down if it is the tail, up if it is the head.
    """
    leaving, amount, join = _leaving(tree, sources, tail, head)
    low = tail if leaving >= 0 else head
    top = leaving if leaving >= 0 else -1 - leaving
    _push(tree, sources, tail, join, -amount)
    _push(tree, sources, head, join, amount)
    # The part below the leaving arc is turned upside down to hang from the entering one.
    _turn(tree, low, top, head if low == tail else tail, entering, amount)
    shift(tree, low, reduced if low == tail else -reduced)
    return low


@compiled
def _leaving(tree: Tree, sources: int, tail: int, head: int) -> tuple[int, int, int]:
    """Return the node whose tree arc leaves (−1 − node on the head's side), the flow moved and the cycle's top.

    Flow falls on arcs up from sources on the tail's side and on arcs down to sinks on the head's side. Among the
    arcs with the least flow it is the last of the cycle, read from its top down to the tail: that keeps the tree
    strongly feasible.
    """
    parent, flow, depth = tree.parent, tree.flow, tree.depth
    left, right = tail, head
    on_left, least_left = -1, _FAR
    on_right, least_right = -1, _FAR
    while left != right:
        if depth[left] >= depth[right]:
            if left < sources and flow[left] < least_left:
                on_left, least_left = left, flow[left]
            left = parent[left]
        else:
            if right >= sources and flow[right] <= least_right:
                on_right, least_right = right, flow[right]
            right = parent[right]
    if least_right <= least_left:
        return -1 - on_right, least_right, left
    return on_left, least_left, left


@compiled
def _push(tree: Tree, sources: int, start: int, join: int, amount: int) -> None:
    """Add ``amount`` to arcs up from sources and take it from arcs down to sinks, from ``start`` up to ``join``."""
    node = start
    while node != join:
        tree.flow[node] += amount if node < sources else -amount
        node = tree.parent[node]


@compiled
def _turn(tree: Tree, low: int, top: int, above: int, arc: int, flow: int) -> None:
    """Hang ``low`` from ``above``, and each node on the way up to ``top`` from the node that it had below it."""
    parent, child, after, before = tree.parent, tree.child, tree.after, tree.before
    node = low
    while True:
        old_parent, old_arc, old_flow = parent[node], tree.arc[node], tree.flow[node]
        if before[node] >= 0:
            after[before[node]] = after[node]
        else:
            child[old_parent] = after[node]
        if after[node] >= 0:
            before[after[node]] = before[node]
        parent[node], tree.arc[node], tree.flow[node] = above, arc, flow
        after[node], before[node] = child[above], -1
        if child[above] >= 0:
            before[child[above]] = node
        child[above] = node
        if node == top:
            return
        above, arc, flow, node = node, old_arc, old_flow, old_parent


@compiled
def shift(tree: Tree, top: int, change: int) -> None:
    """Add ``change`` to all prices from ``top`` down, and set their depths anew."""
    parent, child, after, depth = tree.parent, tree.child, tree.after, tree.depth
    node = top
    while True:
        tree.price[node] += change
        depth[node] = depth[parent[node]] + 1
        if child[node] >= 0:
            node = child[node]
            continue
        while node != top and after[node] < 0:
            node = parent[node]
        if node == top:
            return
        node = after[node]
