"""Independent columns: a noisy histogram of each. What any method must beat."""

import numpy as np
import pyarrow as pa

from evomix.bench.rivals.graphical_model import GraphicalModel, independent_model
from evomix.bench.rivals.grid import Grid, marginal
from evomix.bench.rivals.row_sampling import sample_rows
from evomix.bench.rivals.simplex import nearest_counts
from evomix.bench.rivals.spending import Spending, rho_of
from evomix.bench.rivals.task import TableTask
from evomix.core.arrays import IntArray


def independent(task: TableTask) -> pa.Table:
    """Return rows whose columns are independent, each from its noisy histogram; columns share ρ equally.

    The number of private rows is taken as known.
    """
    rng, grid = np.random.default_rng(task.seed), Grid(task.schema)
    spending = Spending(rho_of(task.epsilon, task.delta), adjacency=task.adjacency, rng=rng)
    model = fit_independent(grid.codes(task.private), grid.sizes, spending)
    return grid.table(sample_rows(model, task.rows, rng), rng)


def fit_independent(codes: IntArray, sizes: tuple[int, ...], spending: Spending) -> GraphicalModel:
    """Return the model, having spent everything.

    Args:
        codes: private rows, int64 (n, columns).
        sizes: number of cells of each column.
        spending: the budget.
    """
    rho = spending.left / len(sizes)
    noisy = [spending.measure(marginal(codes, sizes, [j]), rho) for j in range(len(sizes))]
    return independent_model([nearest_counts(values, len(codes)) for values in noisy])
