"""PMW^Pub: public rows, reweighted by multiplicative weights until they answer private queries.

Source: Liu, Vietri, Steinke, Ullman and Wu, "Leveraging public data for practical private query release" (2021).

A query is the share of rows in one cell of a three-way marginal. Cells that no public row falls into are left out: no
weights could answer them, which the public rows alone tell. The number of private rows is taken as known. Values that
no public row has never come out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evomix.bench.rivals.grid import Grid
from evomix.bench.rivals.spending import Spending, zcdp_spending
from evomix.bench.rivals.task import TableTask
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.core.errors import SpecError
from evomix.evaluation.marginals import column_sets

ROUNDS: Final = 100
"""The paper tries 5 to 200 on Adult and 100 to 300 on ACS and keeps what the true error likes best, which is not
private; 100 lies in both ranges."""

WAY: Final = 3
"""Columns of a marginal of the workload (2021, section 6)."""

MOST_SETS: Final = 512
"""Marginals of the workload; wider tables get so many at random. The paper's Adult has 286."""

MOST_ENTRIES: Final = 1 << 26
"""Public rows times marginals, which bounds memory (256 MB) and time."""

_CELL: Final = 1.0
"""One private row more, less or exchanged moves the count of one cell by at most 1."""


def pmw_pub(task: TableTask) -> pa.Table:
    """Return rows by PMW^Pub.

    Raises:
        SpecError: there are no public rows, no private rows, or ε, δ or the number of rows is out of range.
    """
    if task.public is None or not task.public.num_rows:
        raise SpecError("PMW^Pub expects public rows; found public=None or empty. Choose aim, which needs none.")
    spending, rng = zcdp_spending(task), np.random.default_rng([task.seed, 0])
    grid = Grid(task.schema)
    support, counts = np.unique(grid.codes(task.public), axis=0, return_counts=True)
    limit = max(1, min(MOST_SETS, MOST_ENTRIES // len(support)))
    sets = column_sets(len(grid.sizes), min(WAY, len(grid.sizes)), limit, rng)
    queries = cell_queries(support, grid.sizes, sets)
    private = grid.codes(task.private)
    truth, start = queries.counts(private), counts / counts.sum()
    weights = reweight(queries, start, truth, spending, total=len(private), rng=rng, rounds=ROUNDS)
    return grid.table(support[rng.choice(len(support), size=task.rows, p=weights)], rng)


@dataclass(frozen=True, slots=True, eq=False)
class CellQueries:
    """The cells of several marginals that public rows fall into, numbered through.

    Attributes:
        sets: the columns of each marginal.
        sizes: number of cells of each column.
        cells: int32 (sets, rows of the support), the cell of each row in each marginal.
        keys: for each marginal the places of its occupied cells among all of its cells, ascending.
        starts: int64 (sets + 1,), the number of the first cell of each marginal, and of all cells.
    """

    sets: Sequence[tuple[int, ...]]
    sizes: Sequence[int]
    cells: NDArray[np.int32]
    keys: Sequence[IntArray]
    starts: IntArray

    def counts(self, codes: IntArray) -> FloatArray:
        """Return how many rows fall into each cell, float64 (cells,); rows in other cells are not counted.

        Args:
            codes: int64 (n, columns).
        """
        parts = []
        for chosen, own in zip(self.sets, self.keys, strict=True):
            found, often = np.unique(_keys(codes, self.sizes, chosen), return_counts=True)
            place = np.minimum(np.searchsorted(own, found), len(own) - 1)
            hit = own[place] == found
            parts.append(np.bincount(place[hit], often[hit], minlength=len(own)))
        return np.concatenate(parts)

    def answers(self, weights: FloatArray) -> FloatArray:
        """Return the weight in each cell, float64 (cells,)."""
        return _answers(self.cells, weights, int(self.starts[-1]))

    def rows(self, cell: int) -> IntArray:
        """Return the rows of the support in a cell."""
        number = int(np.searchsorted(self.starts, cell, side="right")) - 1
        return np.flatnonzero(self.cells[number] == cell)


def cell_queries(support: IntArray, sizes: Sequence[int], sets: Sequence[tuple[int, ...]]) -> CellQueries:
    """Return the occupied cells of marginals.

    Args:
        support: int64 (rows, columns), at least one row.
        sizes: number of cells of each column.
        sets: columns of each marginal, at least one.
    """
    cells = np.empty((len(sets), len(support)), np.int32)
    keys, starts = list[IntArray](), [0]
    for number, chosen in enumerate(sets):
        own, place = np.unique(_keys(support, sizes, chosen), return_inverse=True)
        cells[number] = starts[-1] + place
        keys.append(own)
        starts.append(starts[-1] + len(own))
    return CellQueries(sets, sizes, cells, keys, np.array(starts, np.int64))


def _keys(codes: IntArray, sizes: Sequence[int], chosen: Sequence[int]) -> IntArray:
    return np.asarray(np.ravel_multi_index([codes[:, j] for j in chosen], [sizes[j] for j in chosen]), np.int64)


def reweight(
    queries: CellQueries,
    start: FloatArray,
    truth: FloatArray,
    spending: Spending,
    *,
    total: int,
    rng: np.random.Generator,
    rounds: int,
) -> FloatArray:
    """Return weights of the support, the mean over the rounds, having spent everything.

    Each round picks a cell by the exponential mechanism, measures it for as much again, and moves the weights towards
    it and then, in random order, towards every cell measured before that is at least half as wrong.

    Args:
        queries: the cells.
        start: float64 (rows,), weights to begin with, summing to 1: the public frequencies.
        truth: float64 (cells,), private counts.
        spending: pays for all rounds alike.
        total: private rows.
        rng: of the order.
        rounds: at least 1.
    """
    share = spending.left / (2 * rounds)
    weights, mean = start.copy(), np.zeros(len(start))
    measured: list[tuple[IntArray, float]] = []
    for _ in range(rounds):
        scores = np.abs(truth - total * queries.answers(weights))
        cell = spending.choose(scores, share, sensitivity=_CELL)
        noisy = spending.measure(truth[cell : cell + 1], share, sensitivity=_CELL)
        rows, answer = queries.rows(cell), float(np.clip(noisy[0] / total, 0.0, 1.0))
        threshold = abs(answer - weights[rows].sum()) / 2.0
        wrong = [old for old in measured if abs(old[1] - weights[old[0]].sum()) >= threshold]
        measured.append((rows, answer))
        for old in (measured[-1], *(wrong[place] for place in rng.permutation(len(wrong)))):
            weights = _moved(weights, *old)
        mean += weights
    return np.asarray(mean / mean.sum())


def _moved(weights: FloatArray, rows: IntArray, answer: float) -> FloatArray:
    """Return the weights after one multiplicative step towards an answer."""
    moved = weights.copy()
    moved[rows] *= np.exp((answer - weights[rows].sum()) / 2.0)
    return np.asarray(moved / moved.sum())


@compiled
def _answers(cells: NDArray[np.int32], weights: FloatArray, count: int) -> FloatArray:
    answers = np.zeros(count)
    for number in range(cells.shape[0]):
        for row in range(cells.shape[1]):
            answers[cells[number, row]] += weights[row]
    return answers
