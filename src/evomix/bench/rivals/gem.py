"""GEM: a generator network, fitted round by round to the private marginals that it gets most wrong.

Source: Liu, Vietri and Wu, "Iterative methods for private synthetic data: unifying framework and new methods" (2021),
algorithm 3 and section 4. GEM^Pub first fits the network to public rows, for nothing (section 4.3).

Restated with two-way marginals as the workload, each measured as a whole, and with a number of rounds that does not
depend on the true error. The number of private rows is taken as known. Needs torch; runs on the CPU. To be affordable
there, the network is that of the authors' later small settings (64 columns of noise, blocks of 256 units), a fit takes
at most 100 steps as in the paper, and there are at most 100 rounds. The running mean of weights starts unbiased.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa

from evomix.bench.rivals.gem_network import ProductMixture
from evomix.bench.rivals.grid import Grid
from evomix.bench.rivals.pair_counts import Pair, PairCounts, Shares
from evomix.bench.rivals.spending import Spending, zcdp_spending
from evomix.bench.rivals.task import TableTask
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError

COMPONENTS: Final = 1_024
NOISE: Final = 64
HIDDEN: Final = (256, 256)
STEPS: Final = 100
MOST_QUERIES: Final = 10_000
"""Product distributions, network, steps of a fit and cells that it looks at (2021 and the authors' later settings)."""

CHOICE_SHARE: Final = 0.5
"""Part of a round's ρ that pays for the choice: the paper's α of one half."""

ROUNDS_A_COLUMN: Final = 5
MOST_ROUNDS: Final = 100
"""Rounds, public rows or not. The paper picks 30 to 200, or 2 to 100 with them, by the true error: not private."""

MOST_CELLS: Final = 10_000
"""Largest marginal of the workload; a column all of whose pairs are larger is measured alone."""

PUBLIC_STEPS: Final = 1_000
PUBLIC_PAIRS: Final = 64
"""Steps of the fit to public rows, and pairs of columns in each, at random."""

_ERROR_MEMORY: Final = 0.5
_ERROR_PART: Final = 0.5
_WEIGHT_MEMORY: Final = 0.9
"""Running mean of the largest errors, the part of it below which cells are left alone, running mean of weights."""

_CELL: Final = 1.0
"""One private row more, less or exchanged moves the largest error of a marginal by at most 1, in rows."""


def gem(task: TableTask) -> pa.Table:
    """Return rows by GEM, which uses no public rows.

    Raises:
        SpecError: the task has no private row, or ε, δ or the number of rows is out of range.
        EnvironmentFailure: torch is not installed.
    """
    return _run(task, public=None)


def gem_pub(task: TableTask) -> pa.Table:
    """Return rows by GEM^Pub.

    Raises:
        SpecError: there are no public rows; or as :func:`gem`.
        EnvironmentFailure: torch is not installed.
    """
    if task.public is None or not task.public.num_rows:
        raise SpecError("GEM^Pub expects public rows; found public=None or empty. Choose gem, which needs none.")
    return _run(task, public=task.public)


def _run(task: TableTask, *, public: pa.Table | None) -> pa.Table:
    spending, rng = zcdp_spending(task), np.random.default_rng([task.seed, 0])
    grid = Grid(task.schema)
    # A last column of one value: a column's pair with it is the column alone.
    sizes = (*grid.sizes, 1)
    model = ProductMixture(sizes, seed=task.seed, components=COMPONENTS, noise=NOISE, hidden=HIDDEN)
    if public is not None:
        pretrain(model, PairCounts(_padded(grid.codes(public)), sizes), workload(sizes), rng, steps=PUBLIC_STEPS)
    rounds = min(ROUNDS_A_COLUMN * len(grid.sizes), MOST_ROUNDS)
    fit(
        model,
        PairCounts(_padded(grid.codes(task.private)), sizes),
        workload(sizes),
        spending,
        rounds=rounds,
        steps=STEPS,
    )
    return grid.table(sample(model.shares(), grid.sizes, task.rows, rng), rng)


def workload(sizes: Sequence[int], *, most_cells: int = MOST_CELLS) -> list[Pair]:
    """Return the pairs of columns that are not too large, and for each column without one its pair with the last.

    Args:
        sizes: number of cells of each column; that of the last is 1.
        most_cells: cells of the largest pair.
    """
    last = len(sizes) - 1
    pairs = [(i, j) for i in range(last) for j in range(i + 1, last) if sizes[i] * sizes[j] <= most_cells]
    covered = {column for pair in pairs for column in pair}
    return pairs + [(i, last) for i in range(last) if i not in covered]


def pretrain(
    model: ProductMixture, public: PairCounts, pairs: Sequence[Pair], rng: np.random.Generator, *, steps: int
) -> None:
    """Fit the network to public rows. Costs nothing."""

    def targets() -> tuple[list[Pair], Shares]:
        chosen = rng.choice(len(pairs), min(PUBLIC_PAIRS, len(pairs)), replace=False)
        picked = [pairs[number] for number in chosen]
        return picked, _joined([public.pair(pair) / public.rows for pair in picked])

    model.fit(targets, steps=steps)


def fit(
    model: ProductMixture,
    private: PairCounts,
    pairs: Sequence[Pair],
    spending: Spending,
    *,
    rounds: int,
    steps: int,
) -> None:
    """Measure in each round the pair with the largest error and fit the network to all so far; spends everything.

    Args:
        model: changed; ends with the running mean of its weights over the second half of the rounds.
        private: exact counts.
        pairs: the workload.
        spending: pays for all rounds alike.
        rounds: at least 1; no pair is measured twice, so at most as many as there are.
        steps: of a fit, at most.
    """
    rounds = min(rounds, len(pairs))
    share = spending.left / rounds
    measured: list[Pair] = []
    answers: list[FloatArray] = []
    usual = 0.0
    for turn in range(rounds):
        shares = model.shares()
        worst = private.worst(shares)
        scores = np.array([-np.inf if pair in measured else worst[pair[0]][pair[1] - pair[0] - 1] for pair in pairs])
        pair = pairs[spending.choose(scores, CHOICE_SHARE * share, sensitivity=_CELL)]
        noisy = spending.measure(private.pair(pair), (1.0 - CHOICE_SHARE) * share) / private.rows
        measured.append(pair)
        answers.append(np.clip(noisy, 0.0, 1.0))
        found = float(np.abs(answers[-1] - _modelled(shares, private.offsets, pair)).max())
        usual = found if turn == 0 else _ERROR_MEMORY * usual + (1.0 - _ERROR_MEMORY) * found
        goal = list(measured), _joined(answers)
        model.fit(partial(_same, goal), steps=steps, threshold=_ERROR_PART * usual, most=MOST_QUERIES)
        if turn >= rounds // 2:
            model.remember(_WEIGHT_MEMORY)
    model.recall()


def sample(shares: Shares, sizes: Sequence[int], rows: int, rng: np.random.Generator) -> IntArray:
    """Return rows of the mixture, int64 (rows, columns), each component as often as every other.

    Args:
        shares: float32 (components, cells), of which the first ``sum(sizes)`` are used.
        sizes: number of cells of each column.
        rows: how many.
        rng: of the draws.
    """
    component = rng.permutation(len(shares))[np.arange(rows) % len(shares)]
    codes = np.empty((rows, len(sizes)), np.int64)
    start = 0
    for j, size in enumerate(sizes):
        reached = np.cumsum(shares[:, start : start + size], axis=1, dtype=np.float64)
        drawn = rng.random(rows) * reached[component, -1]
        codes[:, j] = _drawn(reached, component, drawn)
        start += size
    return codes


def _drawn(reached: FloatArray, component: IntArray, drawn: FloatArray) -> IntArray:
    """Return the first cell of each row's component that the draw does not pass."""
    cells = np.empty(len(drawn), np.int64)
    order = np.argsort(component, kind="stable")
    bounds = np.searchsorted(component[order], np.arange(len(reached) + 1))
    for number, (first, last) in enumerate(pairwise(bounds)):
        own = order[first:last]
        cells[own] = np.searchsorted(reached[number], drawn[own], side="right")
    return np.asarray(np.minimum(cells, reached.shape[1] - 1))


def _same(goal: tuple[list[Pair], Shares]) -> tuple[list[Pair], Shares]:
    return goal


def _joined(parts: Sequence[FloatArray]) -> Shares:
    return np.concatenate(parts).astype(np.float32)


def _modelled(shares: Shares, offsets: IntArray, pair: Pair) -> FloatArray:
    first, second = (shares[:, offsets[j] : offsets[j + 1]] for j in pair)
    return np.asarray(first.T @ second / len(shares), np.float64).ravel()


def _padded(codes: IntArray) -> IntArray:
    return np.pad(codes, ((0, 0), (0, 1)))
