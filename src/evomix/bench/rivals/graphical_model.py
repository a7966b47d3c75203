"""A distribution over all columns that is a Markov random field on a junction tree."""

from collections.abc import Sequence

import numpy as np

from evomix.bench.rivals.factor import Factor, contract
from evomix.bench.rivals.junction_tree import Clique, JunctionTree
from evomix.core.arrays import FloatArray


class GraphicalModel:
    """Answers any marginal, exactly, from consistent marginals of the cliques of a junction tree.

    Args:
        tree: its cliques hold every column.
        beliefs: marginal of each clique, one axis a column; neighbours agree on what they share.
    """

    def __init__(self, tree: JunctionTree, beliefs: Sequence[FloatArray]) -> None:
        self.tree = tree
        self.beliefs = tuple(Factor(c, belief) for c, belief in zip(tree.cliques, beliefs, strict=True))
        self.total = float(self.beliefs[0].values.sum())
        self.sizes = tuple(self._size(j) for j in range(max(max(clique) for clique in tree.cliques) + 1))
        self._beyond = {
            (k, neighbor): self._columns_beyond(k, neighbor)
            for k in range(len(tree.cliques))
            for neighbor in tree.neighbors[k]
        }
        self._known: dict[tuple[int, int, Clique], Factor] = {}

    def holds(self, clique: Clique) -> bool:
        """Return whether one clique of the tree has all these columns."""
        return self.tree.holder(clique, self.sizes) is not None

    def marginal(self, clique: Clique) -> FloatArray:
        """Return the expected counts of a marginal, float64 (cells,), the last column running fastest.

        Outside the tree's cliques by variable elimination over the part of the tree between the columns; its messages
        are kept, so that marginals that share columns share most of the work.

        Args:
            clique: columns, ascending; () for the total alone.
        """
        holder = self.tree.holder(clique, self.sizes)
        if holder is not None:
            return self.beliefs[holder].sum_to(clique).values.reshape(-1)
        root = max(range(len(self.tree.cliques)), key=lambda k: len(set(self.tree.cliques[k]) & set(clique)))
        return self._gather(root, -1, clique).values.reshape(-1)

    def _gather(self, k: int, towards: int, wanted: Clique) -> Factor:
        """Return the marginal of ``wanted`` as seen from clique ``k``: given the separator to ``towards``, if any."""
        found = self._known.get((k, towards, wanted))
        if found is not None:
            return found
        condition = self.tree.separator(k, towards) if towards >= 0 else ()
        own = set(self.tree.cliques[k])
        messages = []
        for neighbor in self.tree.neighbors[k]:
            theirs = tuple(j for j in wanted if j not in own and j in self._beyond[k, neighbor])
            if neighbor != towards and theirs:
                messages.append(self._gather(neighbor, k, theirs))
        needed = set(condition) | set(wanted)
        result = self.beliefs[k].sum_to(tuple(needed.union(*(message.columns for message in messages))))
        result = result.given(condition) if towards >= 0 else result
        for position, message in enumerate(messages):
            later = (later.columns for later in messages[position + 1 :])
            result = contract(result, message, tuple(needed.union(*later)))
        result = result.sum_to(tuple(needed))
        if towards >= 0:
            self._known[k, towards, wanted] = result
        return result

    def _columns_beyond(self, k: int, neighbor: int) -> frozenset[int]:
        """Return the columns of the part of the tree that begins with ``neighbor``, seen from ``k``."""
        found, waiting = set(self.tree.cliques[neighbor]), [(neighbor, k)]
        while waiting:
            current, before = waiting.pop()
            for following in self.tree.neighbors[current]:
                if following != before:
                    found |= set(self.tree.cliques[following])
                    waiting.append((following, current))
        return frozenset(found)

    def _size(self, column: int) -> int:
        belief = next(belief for belief in self.beliefs if column in belief.columns)
        return int(belief.values.shape[belief.columns.index(column)])


def independent_model(marginals: Sequence[FloatArray]) -> GraphicalModel:
    """Return the model in which columns are independent.

    Args:
        marginals: expected counts of each column, of one total.
    """
    cliques = tuple((j,) for j in range(len(marginals)))
    parents = tuple(range(-1, len(marginals) - 1))
    return GraphicalModel(JunctionTree(cliques, parents, ((),) * len(cliques)), [np.asarray(m) for m in marginals])
