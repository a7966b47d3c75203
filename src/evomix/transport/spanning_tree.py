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


class Journal(NamedTuple):
    """Records of nodes as they were before their first change after a mark, oldest first.

    Attributes:
        state: int64 (2,), how many records there are, and the number of the present mark; 0: nothing is recorded.
        marks: int64 (p + q + 1,), the mark after which a node was recorded last.
        places: int32 (r, 7), node, parent, arc, depth, child, after and before.
        amounts: int64 (r, 2), flow and price.
    """

    state: IntArray
    marks: IntArray
    places: NDArray[np.int32]
    amounts: IntArray

    @classmethod
    def empty(cls, nodes: int) -> "Journal":
        """Return a journal that records nothing yet."""
        zeros = np.zeros(2, np.int64), np.zeros(nodes, np.int64)
        return cls(*zeros, np.zeros((0, 7), np.int32), np.zeros((0, 2), np.int64))

    def with_space(self, records: int) -> "Journal":
        """Return the journal with space for so many records more."""
        used, wanted = int(self.state[0]), int(self.state[0]) + records
        if wanted <= len(self.amounts):
            return self
        places, amounts = np.zeros((2 * wanted, 7), np.int32), np.zeros((2 * wanted, 2), np.int64)
        places[:used], amounts[:used] = self.places[:used], self.amounts[:used]
        return self._replace(places=places, amounts=amounts)


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
        spent: float64 (1,), what changes of slack costs and pivots have added to the cost since it was set to 0, in
            units of cost times mass.
        journal: what the nodes were before they changed, where that is to be undone.
    """

    parent: NDArray[np.int32]
    arc: NDArray[np.int32]
    flow: IntArray
    depth: NDArray[np.int32]
    child: NDArray[np.int32]
    after: NDArray[np.int32]
    before: NDArray[np.int32]
    price: IntArray
    spent: FloatArray
    journal: Journal


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
    flow, price = np.append(masses, 0), np.zeros(size + 1, np.int64)
    return Tree(parent, arc, flow, depth, child, after, before, price, np.zeros(1), Journal.empty(size + 1))


@compiled
def record(tree: Tree, node: int) -> None:
    """Keep what a node is, once after each mark: to be called before it changes."""
    journal = tree.journal
    mark = journal.state[1]
    if mark == 0 or journal.marks[node] == mark:
        return
    journal.marks[node] = mark
    number = journal.state[0]
    journal.state[0] = number + 1
    places, amounts = journal.places[number], journal.amounts[number]
    places[0], places[1], places[2], places[3] = node, tree.parent[node], tree.arc[node], tree.depth[node]
    places[4], places[5], places[6] = tree.child[node], tree.after[node], tree.before[node]
    amounts[0], amounts[1] = tree.flow[node], tree.price[node]


@compiled
def unwind(tree: Tree, records: int) -> None:
    """Undo all changes but for the oldest ``records``."""
    journal = tree.journal
    for number in range(journal.state[0] - 1, records - 1, -1):
        places, amounts = journal.places[number], journal.amounts[number]
        node = places[0]
        tree.parent[node], tree.arc[node], tree.depth[node] = places[1], places[2], places[3]
        tree.child[node], tree.after[node], tree.before[node] = places[4], places[5], places[6]
        tree.flow[node], tree.price[node] = amounts[0], amounts[1]
    journal.state[0] = records


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
            tree.spent[0] += float(changes[k]) * float(tree.flow[source])
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
    tree.spent[0] += float(reduced) * float(amount)
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
        record(tree, node)
        tree.flow[node] += amount if node < sources else -amount
        node = tree.parent[node]


@compiled
def _turn(tree: Tree, low: int, top: int, above: int, arc: int, flow: int) -> None:
    """Hang ``low`` from ``above``, and each node on the way up to ``top`` from the node that it had below it."""
    parent, child, after, before = tree.parent, tree.child, tree.after, tree.before
    node = low
    record(tree, above)
    while True:
        record(tree, node)
        record(tree, parent[node])
        old_parent, old_arc, old_flow = parent[node], tree.arc[node], tree.flow[node]
        if before[node] >= 0:
            record(tree, before[node])
            after[before[node]] = after[node]
        else:
            child[old_parent] = after[node]
        if after[node] >= 0:
            record(tree, after[node])
            before[after[node]] = before[node]
        parent[node], tree.arc[node], tree.flow[node] = above, arc, flow
        after[node], before[node] = child[above], -1
        if child[above] >= 0:
            record(tree, child[above])
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
        record(tree, node)
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
