"""JAM-PGM: each round picks a marginal and whether to measure it privately or to take the public data's for nothing.

Source: Fuentes, Mullins, McKenna, Miklau and Sheldon (2024), Joint selection: adaptively incorporating public
information for private synthetic data, AISTATS, algorithm 1.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from evomix.bench.rivals.estimation import STEPS, Measurement, estimate
from evomix.bench.rivals.graphical_model import GraphicalModel
from evomix.bench.rivals.grid import Grid
from evomix.bench.rivals.junction_tree import Clique
from evomix.bench.rivals.row_sampling import sample_rows
from evomix.bench.rivals.spending import Spending, rho_of
from evomix.bench.rivals.task import TableTask
from evomix.bench.rivals.workload import NOISE_PER_CELL, Answers, candidate_weights, fitting, workload
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError

ROUNDS: Final = 30
SELECT_SHARE: Final = 0.2
DEGREE: Final = 3
"""Rounds, the part of a round's ρ that goes to its choice, and columns of the workload's marginals (2024)."""

PUBLISHED_MODEL_MB: Final = 80.0
MODEL_MB: Final = 4.0
"""Largest model here, in MiB; the paper takes 80."""


def jam(task: TableTask) -> pa.Table:
    """Return rows by JAM-PGM. The number of private rows is taken as known.

    Raises:
        SpecError: there are no public rows.
    """
    if task.public is None or not task.public.num_rows:
        raise SpecError("JAM-PGM expects public rows; found public=None or empty. Choose aim, which needs none.")
    rng, grid = np.random.default_rng(task.seed), Grid(task.schema)
    spending = Spending(rho_of(task.epsilon, task.delta), adjacency=task.adjacency, rng=rng)
    codes, public = grid.codes(task.private), grid.codes(task.public)
    wanted = workload(grid.sizes, DEGREE)
    model = fit_jointly(codes, public, grid.sizes, spending, wanted=wanted, max_model_mb=MODEL_MB)
    return grid.table(sample_rows(model, task.rows, rng), rng)


def fit_jointly(
    codes: IntArray,
    public: IntArray,
    sizes: tuple[int, ...],
    spending: Spending,
    *,
    wanted: Sequence[Clique],
    max_model_mb: float,
    rounds: int = ROUNDS,
    steps: int = STEPS,
) -> GraphicalModel:
    """Return the model; what is left where the last rounds chose public marginals stays unspent.

    Args:
        codes: private rows, int64 (n, columns).
        public: public rows, int64 (m, columns), m ≥ 1; their counts are scaled to n rows.
        sizes: number of cells of each column.
        spending: the budget.
        wanted: the workload's marginals; their subsets are candidates.
        max_model_mb: largest junction tree, in MiB; each round may use as much of it as is spent of ρ by then.
        rounds: number of rounds.
        steps: most steps of each fit.
    """
    exact = Answers(codes, sizes)
    free = Answers(public, sizes, scale=len(codes) / len(public))
    candidates = list(candidate_weights(wanted, len(sizes)))
    measured: list[Measurement] = []
    model: GraphicalModel | None = None
    for t in range(rounds):
        rho = spending.left / (rounds - t)
        measure_rho = (1.0 - SELECT_SHARE) * rho
        limit = max_model_mb * max(spending.spent / spending.total, 1.0 / rounds)
        known = [one.clique for one in measured]
        allowed = fitting(candidates, known, sizes, model=model, limit_mb=limit)
        noise = NOISE_PER_CELL * spending.stddev(measure_rho)
        scores = np.concatenate(_scores(allowed, exact, free, model=model, noise=noise))
        # Each of two distances may move: model to private data, and public to private data.
        reach = 2.0 * spending.distance_sensitivity
        chosen = spending.choose(scores, SELECT_SHARE * rho, sensitivity=reach)
        clique = allowed[chosen % len(allowed)]
        private = chosen < len(allowed)
        values = spending.measure(exact[clique], measure_rho) if private else free[clique]
        measured.append(Measurement(clique, values, 1.0))
        model = estimate(measured, sizes, total=len(codes), steps=steps)
    assert model is not None
    return model


def _scores(
    allowed: list[Clique], exact: Answers, free: Answers, *, model: GraphicalModel | None, noise: float
) -> tuple[FloatArray, FloatArray]:
    """Return the expected gain of each candidate when measured, and when taken from public data."""
    gains = np.array([_distance(exact[c], model.marginal(c)) if model else 0.0 for c in allowed])
    private = gains - noise * np.array([len(exact[c]) for c in allowed])
    public = gains - np.array([_distance(exact[c], free[c]) for c in allowed])
    return private, public


def _distance(one: FloatArray, other: FloatArray) -> float:
    return float(np.abs(one - other).sum())
