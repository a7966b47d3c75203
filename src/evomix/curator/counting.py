"""Counts of column sets: every private unit has one vote in each of several histograms."""

from collections.abc import Iterator, Sequence

import numpy as np

from evomix.core.arrays import IntArray, Population
from evomix.core.protocols import Panel
from evomix.curator.guard import withheld
from evomix.curator.records import PrivateRecords
from evomix.curator.voting import spread


def tally_panel(panel: Panel, sizes: Sequence[int], records: PrivateRecords, *, mass: int) -> IntArray:
    """Return the counts of all partitions, one after the other, int64 (sum of sizes,), in micro-votes.

    In each partition every unit has ``mass`` micro-votes, spread over its rows' cells as in
    :func:`evomix.curator.voting.tally_units`: a vote vector of ℓ2 norm at most ``mass``, whatever cells the panel
    names, since what lies outside a partition is counted in its outermost cell.

    Args:
        panel: public.
        sizes: cells of each of its partitions, as many as the noise is for.
        records: the private records.
        mass: micro-votes of a unit in one partition.
    """
    counts = [np.zeros(size, np.int64) for size in sizes]
    if records.one_row_each:
        for _, rows in records.scan():
            for place, cells in _inside(panel, sizes, rows):
                counts[place] += np.bincount(cells, minlength=sizes[place]) * mass
        return np.concatenate(counts)
    batches = list(records.scan())
    if batches:
        # A unit's rows may lie anywhere, so all are held at once, as records: cells of many partitions would be more.
        units, rows = (np.concatenate(parts) for parts in zip(*batches, strict=True))
        for place, cells in _inside(panel, sizes, rows):
            counts[place] += spread(units, cells, sizes[place], mass=mass)
    return np.concatenate(counts)


def _inside(panel: Panel, sizes: Sequence[int], rows: Population) -> Iterator[tuple[int, IntArray]]:
    """Yield the number of each partition and the cell of every row, moved into it."""
    with withheld("counting"):
        for place, (cells, size) in enumerate(zip(panel.cells(rows), sizes, strict=True)):
            yield place, np.clip(cells, 0, size - 1)
