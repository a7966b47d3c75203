"""Which sets of columns are worth counting, by what earlier releases say of them."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from evomix.core.release import NoisyVotes
from evomix.marginals.stages import Shape

OF_TARGET: Final = 0.02
"""What dependence on the target counts for beside dependence of two columns on one another."""

CLEAR: Final = 3.0
"""Standard deviations by which counts must differ from those of independent columns to be more than noise."""


def shows_dependence(release: NoisyVotes, sizes: tuple[int, ...]) -> bool:
    """Return whether two columns depend on one another by more than noise explains.

    The squared distance from the product of the columns' own shares, less what noise adds to it on average, is 0 on
    average for independent columns, however fine the cells; a total variation grows with the cells by noise alone.

    Args:
        release: counts of the joint cells.
        sizes: cells of each of the two columns.
    """
    table = release.shares().reshape(sizes)
    apart = np.outer(table.sum(axis=1), table.sum(axis=0))
    noise = release.spread**2
    free = (sizes[0] - 1) * (sizes[1] - 1)
    return bool(((table - apart) ** 2).sum() > noise * (free + CLEAR * math.sqrt(2.0 * free)))


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
