"""How far the mass of one table's columns must be moved to lie like another's: W1 over sets of columns.

Every column is put on one scale: a number on its public bounds, from 0 to 1; two different categories are 1 apart,
a missing cell being one more. Few columns at a time, because W1 of whole records is dominated by their number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
from scipy.stats import wasserstein_distance

from evomix.core.arrays import FloatArray
from evomix.evaluation.columns import ColumnLike, bounds, is_number_like, labels
from evomix.evaluation.marginals import column_sets
from evomix.metrics import wasserstein

MOST_SETS: Final = 20
"""Sets of columns that are looked at, the same for all tables."""
POINTS: Final = 300
"""Rows of a side, the same test rows for all; fewer or more would give another figure."""


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """A table's columns as coordinates.

    Attributes:
        blocks: for each column float64 (n, k): one coordinate of a number, one more where it may be missing, one a
            value of a category.
        numbers: whether each column is a number.
    """

    blocks: tuple[FloatArray, ...]
    numbers: tuple[bool, ...]

    def of(self, chosen: Sequence[int]) -> FloatArray:
        """Return the coordinates of some columns, float64 (n, sum of their k)."""
        return np.concatenate([self.blocks[j] for j in chosen], axis=1)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.blocks[0])


def coordinates(population: FloatArray, columns: Sequence[ColumnLike]) -> Coordinates:
    """Return the coordinates of a population, float64 (n, c), missing as NaN."""
    blocks = tuple(_block(population[:, j], column) for j, column in enumerate(columns))
    return Coordinates(blocks, tuple(map(is_number_like, columns)))


def _block(values: FloatArray, column: ColumnLike) -> FloatArray:
    absent = np.isnan(values)
    if is_number_like(column):
        low, high = bounds(column)
        scaled = np.where(absent, 0.5, (values - low) / (high - low) if high > low else 0.0)
        return np.stack([scaled, absent], axis=1) if column.missing else scaled[:, None]
    count = max(len(labels(column)), 1)
    cells = np.where(absent, count, values).astype(np.int64)
    return np.eye(count + 1)[cells] / sqrt(2.0)  # so that two values are 1 apart


def one_way_transport(real: Coordinates, made: Coordinates) -> float:
    """Return the mean over columns of W1, exact over all rows: of categories, which are 1 apart, total variation."""
    both = zip(real.blocks, made.blocks, real.numbers, strict=True)
    return float(np.mean([_alone(a, b, number=number) for a, b, number in both]))


def _alone(real: FloatArray, made: FloatArray, *, number: bool) -> float:
    if not number:
        return float(np.abs(real.mean(axis=0) - made.mean(axis=0)).sum() / sqrt(2.0))
    if real.shape[1] == 1:
        return float(wasserstein_distance(real[:, 0], made[:, 0]))
    present, other = (block[block[:, 1] == 0.0, 0] for block in (real, made))
    missing = abs(float(real[:, 1].mean() - made[:, 1].mean()))
    return missing + (float(wasserstein_distance(present, other)) if len(present) and len(other) else 0.0)


def joint_transport(real: Coordinates, made: Coordinates, way: int, *, seed: int) -> float:
    """Return the mean over sets of ``way`` columns of W1 between rows drawn from either table.

    Biased upward as any subsampled W1 is: compare it with a ceiling's, taken over as many rows.

    Args:
        real: rows to be like; the same are drawn whatever the seed.
        made: rows that are measured.
        way: columns of a set, at most those that there are.
        seed: of the rows of ``made`` that are drawn.
    """
    count = len(real.blocks)
    sets = column_sets(count, way, MOST_SETS, np.random.default_rng(0))
    ours = np.random.default_rng(0).permutation(real.rows)[:POINTS]
    theirs = np.random.default_rng(seed).permutation(made.rows)[:POINTS]
    return float(np.mean([wasserstein(real.of(chosen)[ours], made.of(chosen)[theirs]).value for chosen in sets]))
