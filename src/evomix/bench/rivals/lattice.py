"""The cheapest way, found greedily, from one large marginal to many of its own marginals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evomix.bench.rivals.junction_tree import Clique, cells


@dataclass(frozen=True, slots=True)
class Lattice:
    """Marginals of one marginal, each a sum of the one above it over neighbouring axes.

    Attributes:
        top: the columns of the largest.
        above: for each other marginal the one that it is a sum of.
    """

    top: Clique
    above: dict[Clique, Clique]

    @property
    def descending(self) -> tuple[Clique, ...]:
        """All but the top, each after the one above it."""
        return tuple(sorted(self.above, key=len, reverse=True))

    def path(self, node: Clique) -> list[Clique]:
        """Return the marginals from the top down to ``node``, both included."""
        found = [node]
        while found[-1] != self.top:
            found.append(self.above[found[-1]])
        return found[::-1]


def lattice(top: Clique, targets: Iterable[Clique], sizes: Sequence[int]) -> Lattice:
    """Return a lattice with all ``targets``: large axes are summed away first, and the sums are shared.

    Args:
        top: columns of the large marginal.
        targets: subsets of ``top``.
        sizes: number of cells of each column.
    """
    found = Lattice(top, {})
    _grow(found, top, set(targets) - {top}, sizes)
    return found


def _grow(into: Lattice, top: Clique, targets: set[Clique], sizes: Sequence[int]) -> None:
    while targets:
        lacking = [j for j in top if any(j not in target for target in targets)]
        axis = max(lacking, key=lambda j: sizes[j])
        group = {target for target in targets if axis not in target}
        child = tuple(sorted(set().union(*group)))
        _link(into, top, child, sizes)
        _grow(into, child, group - {child}, sizes)
        targets = targets - group


def _link(into: Lattice, top: Clique, child: Clique, sizes: Sequence[int]) -> None:
    current = top
    while current != child:
        run = max(_runs(current, child), key=lambda axes: cells(axes, sizes))
        following = tuple(j for j in current if j not in run)
        into.above.setdefault(following, current)
        current = following


def _runs(current: Clique, child: Clique) -> list[Clique]:
    """Return the axes of ``current`` that ``child`` lacks, those that are neighbours together."""
    runs: list[list[int]] = [[]]
    for j in current:
        if j in child:
            runs.append([])
        else:
            runs[-1].append(j)
    return [tuple(run) for run in runs if run]
