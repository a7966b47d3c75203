"""MST: a tree of noisy two-way marginals, chosen one private edge after another.

Source: McKenna, Miklau and Sheldon (2021), Winning the NIST contest: a scalable and general approach to differentially
private synthetic data.
"""

from itertools import combinations
from typing import Final

import numpy as np
import pyarrow as pa
from scipy.cluster.hierarchy import DisjointSet

from evomix.bench.rivals.compression import Compression, compress
from evomix.bench.rivals.estimation import Measurement, estimate
from evomix.bench.rivals.graphical_model import GraphicalModel
from evomix.bench.rivals.grid import Grid, marginal
from evomix.bench.rivals.junction_tree import Clique
from evomix.bench.rivals.row_sampling import sample_rows
from evomix.bench.rivals.spending import Spending, rho_of
from evomix.bench.rivals.task import TableTask
from evomix.core.arrays import IntArray

PARTS: Final = 3
"""Single columns, the choice of edges, and edges get a third of ρ each (2021)."""


def mst(task: TableTask) -> pa.Table:
    """Return rows from a tree of two-way marginals. The number of private rows is taken as known."""
    rng, grid = np.random.default_rng(task.seed), Grid(task.schema)
    spending = Spending(rho_of(task.epsilon, task.delta), adjacency=task.adjacency, rng=rng)
    model, compression = fit_tree(grid.codes(task.private), grid.sizes, spending)
    return grid.table(compression.expand(sample_rows(model, task.rows, rng), rng), rng)


def fit_tree(codes: IntArray, sizes: tuple[int, ...], spending: Spending) -> tuple[GraphicalModel, Compression]:
    """Return the model of the compressed columns and the compression, having spent everything.

    Args:
        codes: private rows, int64 (n, columns).
        sizes: number of cells of each column.
        spending: the budget.
    """
    columns, total = len(sizes), spending.left
    rho = total / PARTS if columns > 1 else total
    stddev = spending.stddev(rho / columns)
    noisy = [spending.measure(marginal(codes, sizes, [j]), rho / columns) for j in range(columns)]
    compression, measured = compress(noisy, stddev)
    if columns == 1:
        return estimate(measured, compression.sizes, total=len(codes)), compression
    few = compression.reduce(codes)
    edges = choose_edges(few, compression.sizes, measured, spending, rho=rho)
    share = spending.left / len(edges)
    weight = 1.0 / spending.stddev(share) ** 2
    for edge in edges:
        counts = marginal(few, compression.sizes, edge)
        measured.append(Measurement(edge, spending.measure(counts, share), weight))
    return estimate(measured, compression.sizes, total=len(codes)), compression


def choose_edges(
    codes: IntArray, sizes: tuple[int, ...], measured: list[Measurement], spending: Spending, *, rho: float
) -> list[Clique]:
    """Return the edges of a tree over all columns, each chosen among those that join two parts, for ``rho`` in all.

    The likelier, the further the pair's counts are from those of independent columns.
    """
    model = estimate(measured, sizes, total=len(codes))
    errors: dict[Clique, float] = {
        edge: float(np.abs(marginal(codes, sizes, edge) - model.marginal(edge)).sum())
        for edge in combinations(range(len(sizes)), 2)
    }
    parts = DisjointSet(range(len(sizes)))
    chosen: list[Clique] = []
    for _ in range(len(sizes) - 1):
        open_edges = [edge for edge in errors if not parts.connected(*edge)]
        scores = np.array([errors[edge] for edge in open_edges])
        share = rho / (len(sizes) - 1)
        edge = open_edges[spending.choose(scores, share, sensitivity=spending.distance_sensitivity)]
        parts.merge(*edge)
        chosen.append(edge)
    return chosen
