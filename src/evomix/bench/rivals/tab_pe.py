"""Tab-PE: Private Evolution on tables with noisy votes, first drawn by share, then ranked.

Source: Tran, Backurs, Lin, Reis, Xiong and Yekhanin, "Differentially private synthetic data via APIs 4: tabular data"
(2026), and the settings of the authors' program, which are the constants below.

Two things that the authors read off the private table for nothing are not free here. Bounds and categories come from
the public schema. How many rows each class gets is measured first, for :data:`CLASS_SHARE` of the budget. All noise is
Gaussian, accounted exactly. A target that is a number makes one class of all rows.
"""

from typing import Final

import numpy as np
import pyarrow as pa

from evomix.bench.rivals.gaussian_budget import gaussian_spending
from evomix.bench.rivals.resizing import resized
from evomix.bench.rivals.spending import Spending
from evomix.bench.rivals.tab_pe_space import Space
from evomix.bench.rivals.task import TableTask
from evomix.core.arrays import FloatArray, IntArray

SLOTS: Final = 15
"""Populations, the random one included; each but the last is voted on."""
SAMPLING_SLOTS: Final = 5
"""Populations, the random one included, whose parents are drawn in proportion to their votes; later ones are ranked."""
CHILDREN: Final = 3
"""Variations of each ranked parent, which stays beside them; a drawn parent has one and leaves."""
FIRST_RATE: Final = 0.5
LAST_RATE: Final = 0.01
DECAY: Final = 0.2
"""The rate of variation after a share t of the slots is FIRST_RATE − (FIRST_RATE − LAST_RATE)·t^DECAY."""
PARENTS: Final = 5_000
"""Parents in a population, or the rows wanted if they are fewer."""
CLASS_SHARE: Final = 0.02
"""Share of the budget for the number of rows of each class; ours, as the authors take them for free."""


def tab_pe(task: TableTask) -> pa.Table:
    """Return synthetic rows by Tab-PE: :data:`SLOTS` populations, every private row voting within its class.

    Where more rows are wanted than a population has, rows repeat.

    Raises:
        SpecError: the task has no private row, its target is no modelled column, or ε, δ or the number of rows is out
            of range.
    """
    spending, rng = gaussian_spending(task), np.random.default_rng([task.seed, 0])
    space = Space(task.schema, task.target)
    private = space.encode(task.private)
    rows = evolve(private, space, size=min(task.rows, PARENTS), spending=spending, rng=rng)
    return space.decode(rows[resized(len(rows), task.rows, rng)])


def evolve(private: FloatArray, space: Space, *, size: int, spending: Spending, rng: np.random.Generator) -> FloatArray:
    """Return the last parents, float64 (size, columns); spends all of ``spending``.

    Args:
        private: float64 (n, columns), as ``space`` encodes them.
        space: the records.
        size: parents in a population.
        spending: pays for Gaussian answers.
        rng: of draws and variations.
    """
    shares = _class_sizes(private, space, size, spending)
    population = space.random(np.repeat(np.arange(space.classes), shares), rng)
    cost = spending.left / (SLOTS - 1)
    for slot in range(1, SLOTS):
        noisy = spending.measure(_votes(private, population, space), min(cost, spending.left))
        sampling = slot < SAMPLING_SLOTS
        parents = population[_selected(noisy, space.labels(population), shares, rng if sampling else None)]
        if slot == SLOTS - 1:
            return parents
        children = [space.vary(parents, _rate(slot - 1), rng) for _ in range(1 if sampling else CHILDREN)]
        population = np.concatenate(children if sampling else [*children, parents])
    return population


def _class_sizes(private: FloatArray, space: Space, size: int, spending: Spending) -> IntArray:
    """Return how many rows of a population each class gets, by noisy counts and largest remainders."""
    if space.classes == 1:
        return np.array([size])
    counts = np.bincount(space.labels(private), minlength=space.classes).astype(np.float64)
    noisy = np.maximum(spending.measure(counts, CLASS_SHARE * spending.total), 0.0)
    if not noisy.sum() > 0.0:
        noisy[:] = 1.0
    exact = size * noisy / noisy.sum()
    sizes: IntArray = np.floor(exact).astype(np.int64)
    sizes[np.argsort(sizes - exact, kind="stable")[: size - sizes.sum()]] += 1
    return sizes


def _votes(private: FloatArray, population: FloatArray, space: Space) -> FloatArray:
    """Return how many private rows of the candidate's class have it as their nearest, float64 (candidates,)."""
    votes = np.zeros(len(population))
    voters, candidates = space.labels(private), space.labels(population)
    for label in range(space.classes):
        own = np.flatnonzero(candidates == label)
        if own.size:
            nearest = space.nearest(private[voters == label], population[own])
            votes[own] = np.bincount(nearest, minlength=own.size)
    return votes


def _selected(noisy: FloatArray, labels: IntArray, shares: IntArray, rng: np.random.Generator | None) -> IntArray:
    """Return the positions of each class's parents: drawn by positive votes with ``rng``, else the most voted for."""
    picked = [np.empty(0, np.int64)]
    for label, wanted in enumerate(shares):
        own = np.flatnonzero(labels == label)
        if rng is None:
            picked.append(own[np.argsort(-noisy[own], kind="stable")[:wanted]])
            continue
        weights = np.maximum(noisy[own], 0.0)
        total = weights.sum()
        picked.append(rng.choice(own, wanted, p=weights / total if total > 0.0 else None) if wanted else own[:0])
    return np.concatenate(picked)


def _rate(slot: int) -> float:
    return float(FIRST_RATE - (FIRST_RATE - LAST_RATE) * (slot / SLOTS) ** DECAY)
