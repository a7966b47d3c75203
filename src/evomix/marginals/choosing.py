"""Which sets of columns are worth counting, by what earlier releases say of them."""

from collections.abc import Mapping
from typing import Final

from evomix.marginals.stages import Shape

OF_TARGET: Final = 0.02
"""What dependence on the target counts for beside dependence of two columns on one another."""


def chosen_sets(shape: Shape, dependence: Mapping[tuple[int, int], float], most: int) -> tuple[tuple[int, int], ...]:
    """Return at most ``most`` pairs of columns, the target left out; all of them where there are no more.

    Every column is in one at least, with the partner that promises most; the others follow in the order of what they
    promise.

    Args:
        shape: the table.
        dependence: of pairs of columns on one another; ``(j, j)`` is the dependence of column j on the target. What is
            not there counts as 0.
        most: at least 1.
    """
    pairs = shape.pairs
    if len(pairs) <= most:
        return pairs
    order = sorted(
        pairs,
        key=lambda pair: -(dependence.get(pair, 0.0) + OF_TARGET * sum(dependence.get((j, j), 0.0) ** 2 for j in pair)),
    )
    best: dict[int, tuple[int, int]] = {}
    for pair in order:
        for column in pair:
            best.setdefault(column, pair)
    wanted = set(best.values())
    first = [pair for pair in order if pair in wanted]
    rest = [pair for pair in order if pair not in wanted]
    return tuple(sorted([*first, *rest][:most]))
