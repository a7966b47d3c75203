"""PrivSyn: marginals chosen by how much pairs depend on each other, made consistent, then fitted by moving rows.

Source: Zhang, Wang, Li, Honorio, Backes, He, Chen and Zhang, "PrivSyn: differentially private data synthesis" (USENIX
Security 2021). All of its answers have Gaussian noise, accounted exactly. The paper is about add-remove neighbours;
under replace-one every sensitivity is the one of that relation.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np
import pyarrow as pa

from evomix.bench.rivals.gaussian_budget import gaussian_spending
from evomix.bench.rivals.grid import Grid, marginal
from evomix.bench.rivals.privsyn_consistency import Measured, make_consistent
from evomix.bench.rivals.privsyn_gum import synthesise
from evomix.bench.rivals.privsyn_selection import (
    Attributes,
    choose_pairs,
    connect,
    dependence_sensitivity,
    dependences,
    join_cliques,
)
from evomix.bench.rivals.spending import Spending
from evomix.bench.rivals.task import TableTask
from evomix.core.arrays import IntArray
from evomix.privacy.adjacency import Adjacency

SCORES_SHARE: Final = 0.1
"""Share of the budget for the dependences (2021)."""
ONES_SHARE: Final = 0.1
"""Share of the budget for the marginals of single columns (2021); the chosen marginals get the rest."""


def privsyn(task: TableTask) -> pa.Table:
    """Return synthetic rows by PrivSyn.

    Raises:
        SpecError: the task has no private row, or ε, δ or the number of rows is out of range.
    """
    spending, rng = gaussian_spending(task), np.random.default_rng([task.seed, 0])
    grid = Grid(task.schema)
    codes = grid.codes(task.private)
    found = fit(codes, grid.sizes, rows=task.rows, spending=spending, adjacency=task.adjacency, rng=rng)
    return grid.table(found, rng)


def fit(
    codes: IntArray,
    sizes: tuple[int, ...],
    *,
    rows: int,
    spending: Spending,
    adjacency: Adjacency,
    rng: np.random.Generator,
) -> IntArray:
    """Return rows with nearly the chosen noisy marginals of ``codes``, int64 (rows, columns); spends all there is.

    Args:
        codes: int64 (n, columns), n ≥ 1.
        sizes: number of cells of each column.
        rows: how many to return.
        spending: pays for the counts.
        adjacency: the neighbour relation of ``spending``.
        rng: of the synthesis.
    """
    columns = len(sizes)
    if columns == 1:
        only = measure(codes, sizes, [(0,)], spending.left, spending)
        make_consistent(only, len(codes))
        return synthesise(only, [only[0].counts], rows=rows, rng=rng)
    chosen = choose(codes, sizes, spending, adjacency)
    ones = measure(codes, sizes, [(j,) for j in range(columns)], ONES_SHARE * spending.total, spending)
    joint = measure(codes, sizes, chosen, spending.left, spending)
    make_consistent([*ones, *joint], len(codes))
    return synthesise(joint, [item.counts for item in ones], rows=rows, rng=rng)


def choose(codes: IntArray, sizes: Sequence[int], spending: Spending, adjacency: Adjacency) -> list[Attributes]:
    """Return the columns of the marginals to measure, every column in one at least; costs SCORES_SHARE."""
    pairs = list(combinations(range(len(sizes)), 2))
    exact = dependences(codes, sizes)
    reach = dependence_sensitivity(adjacency) * math.sqrt(len(pairs))
    scores = spending.measure(exact, SCORES_SHARE * spending.total, sensitivity=reach)
    left = (1.0 - SCORES_SHARE - ONES_SHARE) * spending.total
    noise = spending.stddev(left) * math.sqrt(2.0 / math.pi)  # mean size of a Gaussian
    cells = np.array([float(sizes[i] * sizes[j]) for i, j in pairs])
    taken = [pairs[position] for position in choose_pairs(scores, cells, noise=noise)]
    return connect(join_cliques(taken, sizes), scores, len(sizes))


def measure(
    codes: IntArray, sizes: Sequence[int], marginals: Sequence[Attributes], rho: float, spending: Spending
) -> list[Measured]:
    """Return noisy counts for ``rho`` together, split so that the whole ℓ1 error is least: ρ ∝ cells^⅔."""
    weights = np.array([math.prod(sizes[j] for j in attributes) for attributes in marginals]) ** (2.0 / 3.0)
    found = []
    for attributes, weight in zip(marginals, weights, strict=True):
        share = float(rho * weight / weights.sum())
        noisy = spending.measure(marginal(codes, sizes, attributes), share)
        shape = tuple(sizes[j] for j in attributes)
        found.append(Measured(attributes, noisy.reshape(shape), spending.stddev(share) ** 2))
    return found
