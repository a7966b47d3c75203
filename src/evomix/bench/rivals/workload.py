"""Which marginals a method is to get right, and which it may measure."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np

from evomix.bench.rivals.graphical_model import GraphicalModel
from evomix.bench.rivals.grid import marginal
from evomix.bench.rivals.junction_tree import Clique, cells, joined, size_mb
from evomix.core.arrays import FloatArray, IntArray

MAX_CELLS: Final = 10_000
"""Most cells of a marginal of the workload (McKenna et al. 2022)."""

NOISE_PER_CELL: Final = math.sqrt(2.0 / math.pi)
"""Expected absolute value of standard Gaussian noise."""


def workload(sizes: Sequence[int], degree: int, *, max_cells: int = MAX_CELLS) -> tuple[Clique, ...]:
    """Return all marginals of ``degree`` columns that are not too large; of all columns where there are fewer."""
    every = combinations(range(len(sizes)), min(degree, len(sizes)))
    return tuple(clique for clique in every if cells(clique, sizes) <= max_cells)


def with_target(cliques: Sequence[Clique], target: int, sizes: Sequence[int], degree: int) -> tuple[Clique, ...]:
    """Return a workload and all marginals of ``degree`` columns that contain the target."""
    return tuple(dict.fromkeys((*cliques, *(clique for clique in workload(sizes, degree) if target in clique))))


def candidate_weights(workload: Sequence[Clique], columns: int) -> dict[Clique, float]:
    """Return the non-empty subsets of the workload's marginals, and every column, with their weights.

    A subset weighs the more the more columns it shares with the workload (McKenna et al. 2022, section 4).
    """
    single = {(j,) for j in range(columns)}
    closure = {part for clique in workload for k in range(1, len(clique) + 1) for part in combinations(clique, k)}
    shared = _shared(sorted(single | closure), workload, columns)
    return {clique: float(weight) for clique, weight in shared.items()}


def _shared(cliques: Sequence[Clique], workload: Sequence[Clique], columns: int) -> dict[Clique, int]:
    counts = np.zeros(columns, np.int64)
    for clique in workload:
        counts[list(clique)] += 1
    return {clique: int(counts[list(clique)].sum()) for clique in cliques}


class Answers:
    """Exact marginals of a table, counted once.

    Args:
        codes: int64 (n, columns).
        sizes: number of cells of each column.
        scale: what counts are multiplied with.
    """

    def __init__(self, codes: IntArray, sizes: Sequence[int], *, scale: float = 1.0) -> None:
        self._codes, self._sizes, self._scale = codes, sizes, scale
        self._known: dict[Clique, FloatArray] = {}

    def __getitem__(self, clique: Clique) -> FloatArray:
        if clique not in self._known:
            self._known[clique] = self._scale * marginal(self._codes, self._sizes, clique)
        return self._known[clique]


def fitting(
    candidates: Sequence[Clique],
    measured: Sequence[Clique],
    sizes: Sequence[int],
    *,
    model: GraphicalModel | None,
    limit_mb: float,
) -> list[Clique]:
    """Return the candidates that the model holds already, or with which it would not exceed ``limit_mb``.

    The smallest candidate alone where there is none.
    """
    together = joined(measured, len(sizes))

    def fits(clique: Clique) -> bool:
        if model is not None and model.holds(clique):
            return True
        return size_mb(together | joined([clique], len(sizes)), sizes) <= limit_mb

    found = [clique for clique in candidates if fits(clique)]
    return found or [min(candidates, key=lambda clique: cells(clique, sizes))]
