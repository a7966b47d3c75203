"""Public rows drawn anew, whole: what one says of its columns together stays, only how many are like it changes.

Where public records are like the private ones, this alone brings their counts near, and a change of single values
would take from what no count has seen. Idea: public rows as the support (Liu, Vietri, Steinke, Ullman and Wu 2021),
here by exchange of one row at a time, with the exact change of the loss.
Post-processing; costs nothing.
"""

from collections.abc import Sequence

import numpy as np

from evomix.core.arrays import IntArray
from evomix.core.compiled import compiled
from evomix.marginals.targets import Layout, Loss, Target, cell_of, layout_of, loss_of


def redrawn(
    rows: IntArray, pool: IntArray, targets: Sequence[Target], *, proposals: int, seed: int, caution: float
) -> IntArray:
    """Return rows that agree better with the targets: some of ``rows``, and others out of ``pool``.

    Args:
        rows: int64 (n, columns), n ≥ 1; left as they are.
        pool: int64 (l, columns), l ≥ 1, what a row may be exchanged for.
        targets: at least one.
        proposals: exchanges that are tried.
        seed: of the draws.
        caution: what an exchange must gain to be kept, in standard deviations of what noise alone makes of its gain.
    """
    found = np.ascontiguousarray(rows, np.int64).copy()
    layout = layout_of(targets, found.shape[1])
    _redraw(found, np.ascontiguousarray(pool, np.int64), loss_of(found, targets, caution), layout, proposals, seed)
    return found


@compiled
def _redraw(
    rows: IntArray, pool: IntArray, loss: Loss, layout: Layout, proposals: int, seed: int
) -> None:  # pragma: no cover - compiled
    excess, blocks = loss.excess, len(loss.weights)
    np.random.seed(seed)  # noqa: NPY002  (compiled code has no other generator)
    for _ in range(proposals):
        row, other = np.random.randint(len(rows)), np.random.randint(len(pool))  # noqa: NPY002
        change = moved = 0.0
        for block in range(blocks):
            before, after = cell_of(rows, row, block, layout), cell_of(pool, other, block, layout)
            if before != after:
                moved += loss.weights[block]
                change += loss.weights[block] * (1.0 - excess[before] + excess[after])
        if change >= -loss.least_gain * np.sqrt(moved):
            continue
        for block in range(blocks):
            excess[cell_of(rows, row, block, layout)] -= 1.0
            excess[cell_of(pool, other, block, layout)] += 1.0
        rows[row] = pool[other]
