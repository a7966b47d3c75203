"""The search for rows: change one value of one row, keep what brings the counts nearer to their targets.

The loss is ``Σ_b w_b Σ_cells (C − T)²`` with the rows' counts C and targets T. A value that changes moves one row from
one cell to another in each block that has the column, so the loss changes by
``Σ_b 2·w_b·(1 − (C−T)[old] + (C−T)[new])``: a proposal costs as many look-ups as the column has blocks, however many
cells there are. Noise in the targets moves half of that by about ``√(2·Σ_b w_b²σ_b²)``, over the blocks where the two
cells differ; a cautious search keeps a change only if it gains more than a part of that. Idea: a genetic search over
statistics (Liu, Tang, Vietri and Wu 2023), here one value at a time with the exact change of the loss.
Post-processing; costs nothing.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.marginals.targets import Layout, Loss, Target, cell_of, layout_of, loss_of

SETTLED: Final = 0.002
"""Part of the changes tried in a pass that must be kept for another pass. In a column of rare values most proposals
are the value already there: they change nothing and are not counted, or a search would end before it found those."""


def search(
    rows: IntArray,
    targets: Sequence[Target],
    columns: Sequence[FloatArray],
    *,
    passes: float,
    seed: int,
    caution: float = 0.0,
) -> IntArray:
    """Return rows that agree better with the targets, int64 as ``rows``.

    Args:
        rows: int64 (n, columns), n ≥ 1; left as they are.
        targets: at least one.
        columns: for each column float64 (codes,), shares; half of all new values are drawn by their square roots, so
            that rare values are tried too, but none without a share. The other half are another row's value.
        passes: proposals, at most, for each value of the rows on average, columns of many codes having more of them;
            the search ends before where a pass changes little.
        seed: of the search.
        caution: what a change must gain to be kept, in standard deviations of what noise alone makes of its gain.
    """
    found = np.ascontiguousarray(rows, np.int64).copy()
    layout = layout_of(targets, len(columns))
    if not layout.tried[-1] > 0.0:
        return found
    starts = np.concatenate([[0], np.cumsum([len(shares) for shares in columns])])
    chosen = _Columns(starts, np.concatenate([_cumulated(shares) for shares in columns]), layout.tried)
    _search(found, loss_of(found, targets, caution), layout, chosen, math.ceil(passes * found.size), seed)
    return found


def _cumulated(shares: FloatArray) -> FloatArray:
    weights = np.sqrt(np.maximum(shares, 0.0))
    total = weights.sum()
    return np.asarray(np.cumsum(weights) / total if total > 0.0 else np.arange(1, len(shares) + 1) / len(shares))


class _Columns(NamedTuple):
    """What new values are drawn from: ``cumulated[starts[j]:starts[j + 1]]`` are the weights of column j, summed up."""

    starts: IntArray
    cumulated: FloatArray
    tried: FloatArray


@compiled
def _search(
    rows: IntArray, loss: Loss, layout: Layout, chosen: _Columns, proposals: int, seed: int
) -> None:  # pragma: no cover - compiled
    np.random.seed(seed)  # noqa: NPY002  (compiled code has no other generator)
    while proposals > 0:
        tried, kept = _changed(rows, loss, layout, chosen, min(rows.size, proposals))
        proposals -= rows.size
        if kept <= SETTLED * tried:
            break


@compiled
def _changed(
    rows: IntArray, loss: Loss, layout: Layout, chosen: _Columns, proposals: int
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Make that many proposals; return how many were changes, and how many of those were kept."""
    excess, weights, maps = loss.excess, loss.weights, layout.maps
    count = len(rows)
    tried = kept = 0
    for _ in range(proposals):
        row = np.random.randint(count)  # noqa: NPY002
        drawn = np.searchsorted(chosen.tried, np.random.random() * chosen.tried[-1], side="right")  # noqa: NPY002
        column = min(drawn, len(chosen.tried) - 1)  # the product may round up to the end
        if np.random.random() < 0.5:  # noqa: NPY002
            new = rows[np.random.randint(count), column]  # noqa: NPY002
        else:
            shares = chosen.cumulated[chosen.starts[column] : chosen.starts[column + 1]]
            new = min(np.searchsorted(shares, np.random.random(), side="right"), len(shares) - 1)  # noqa: NPY002
        old = rows[row, column]
        if new == old:
            continue
        tried += 1
        first, end = layout.first_place[column], layout.first_place[column + 1]
        change = moved = 0.0
        for place in range(first, end):
            table = layout.place_tables[place]
            step = maps[table + new] - maps[table + old]
            if step:
                block = layout.places[place]
                before = cell_of(rows, row, block, layout)
                moved += weights[block]  # w²σ², as w is 1/σ²
                change += weights[block] * (1.0 - excess[before] + excess[before + step * layout.place_strides[place]])
        if change >= -loss.least_gain * np.sqrt(moved):
            continue
        for place in range(first, end):
            table = layout.place_tables[place]
            step = maps[table + new] - maps[table + old]
            if step:
                before = cell_of(rows, row, layout.places[place], layout)
                excess[before] -= 1.0
                excess[before + step * layout.place_strides[place]] += 1.0
        rows[row, column] = new
        kept += 1
    return tried, kept
