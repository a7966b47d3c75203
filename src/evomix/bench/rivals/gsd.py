"""Private-GSD: a genetic search for a table that has the private table's noisy two-way marginals.

Source: Liu, Tang, Vietri and Wu, "Generating private synthetic data with genetic algorithms" (2023).

Restated for marginals of a fixed grid: all pairs of columns are measured once and alike; numbers are cut into the equal
bins of the grid, the finest level of the paper's binary tree, as its coarser levels would be sums of the same counts at
more cost. Each noisy marginal is projected on what counts can be, where the authors clip. The search changes one table
in place (:mod:`~evomix.bench.rivals.gsd_search`). All noise is Gaussian, accounted exactly.
"""

from typing import Final

import numpy as np
import pyarrow as pa

from evomix.bench.rivals.gaussian_budget import gaussian_spending
from evomix.bench.rivals.grid import Grid, marginal
from evomix.bench.rivals.gsd_search import PairTables, pair_tables, search
from evomix.bench.rivals.resizing import resized
from evomix.bench.rivals.simplex import nearest_counts
from evomix.bench.rivals.spending import Spending
from evomix.bench.rivals.task import TableTask
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError

MOST_ROWS: Final = 10_000
"""Rows that are searched for; where more are wanted they repeat. The cap of the method's published benchmark runs."""
MOST_CELLS: Final = 50_000_000
"""Cells of all pairs that fit in about a gigabyte."""


def gsd(task: TableTask) -> pa.Table:
    """Return synthetic rows by Private-GSD on all two-way marginals.

    Raises:
        SpecError: the task has no private row, ε, δ or the number of rows is out of range, or the pairs of columns
            have too many cells.
    """
    spending, rng = gaussian_spending(task), np.random.default_rng([task.seed, 0])
    grid = Grid(task.schema)
    codes = fit(grid.codes(task.private), grid.sizes, rows=min(task.rows, MOST_ROWS), spending=spending, rng=rng)
    return grid.table(codes[resized(len(codes), task.rows, rng)], rng)


def fit(
    codes: IntArray, sizes: tuple[int, ...], *, rows: int, spending: Spending, rng: np.random.Generator
) -> IntArray:
    """Return rows with nearly the noisy pair counts of ``codes``, int64 (rows, columns); spends all of ``spending``.

    Args:
        codes: int64 (n, columns), n ≥ 1.
        sizes: number of cells of each column.
        rows: how many to return.
        spending: pays for the counts.
        rng: of the search.

    Raises:
        SpecError: the pairs have more than MOST_CELLS cells.
    """
    columns = len(sizes)
    if columns == 1:  # its pair with a column of one value is its own marginal
        codes, sizes = np.pad(codes, ((0, 0), (0, 1))), (*sizes, 1)
    tables = pair_tables(np.asarray(sizes, np.int64))
    if tables.total > MOST_CELLS:
        raise SpecError(
            f"expected at most {MOST_CELLS:,} cells in all pairs of columns; found cells={tables.total:,}; "
            "leave out columns, or join rare categories"
        )
    targets = _measured(codes, tables, spending) * (rows / len(codes))
    found = np.stack([rng.integers(size, size=rows) for size in sizes], axis=1)
    search(found, targets, tables, rng)
    return found[:, :columns]


def _measured(codes: IntArray, tables: PairTables, spending: Spending) -> FloatArray:
    """Return noisy counts of every pair of columns, float64 (tables.total,), each pair summing to the rows."""
    share = spending.left / len(tables.pairs)
    parts = [
        nearest_counts(
            spending.measure(marginal(codes, tuple(tables.sizes), pair), min(share, spending.left)), len(codes)
        )
        for pair in tables.pairs
    ]
    return np.concatenate(parts)
