"""Distance to the closest record: mean difference over mixed columns (Gower, Biometrics 27, 1971)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from evomix.core.arrays import FloatArray, IntArray
from evomix.evaluation.binning import bin_column
from evomix.evaluation.columns import ColumnLike, bounds, is_number_like

_BLOCK = 200


@dataclass(frozen=True, slots=True)
class Places:
    """Records as coordinates.

    Attributes:
        numbers: float64 (n, ·), each number on [0, 1] by its public bounds; -1 when missing, so that a
            missing number is at least one range away from any other.
        codes: float64 (n, ·), categories, which agree or differ by 1.
    """

    numbers: FloatArray
    codes: FloatArray


def place(population: FloatArray, columns: Sequence[ColumnLike]) -> Places:
    """Return the coordinates of a population, float64 (n, c)."""
    numbers, codes = np.empty((len(population), 0)), np.empty((len(population), 0))
    for j, column in enumerate(columns):
        values = population[:, j]
        if is_number_like(column):
            low, high = bounds(column)
            scaled = (values - low) / (high - low if high > low else 1.0)
            numbers = np.column_stack([numbers, np.where(np.isnan(values), -1.0, scaled)])
        else:
            codes = np.column_stack([codes, bin_column(values, column).astype(np.float64)])
    return Places(numbers, codes)


def distance_to_closest(queries: Places, references: Places, *, own: IntArray | None = None) -> FloatArray:
    """Return each query's mean difference from its closest reference, float64 (q,); 0 is a copy.

    Args:
        queries: q records.
        references: r records.
        own: int64 (q,), the position of each query among the references, which is then passed over; a single
            reference leaves nothing to compare and the result is empty.
    """
    if own is not None and len(references.numbers) < 2:
        return np.empty(0)
    columns = max(queries.numbers.shape[1] + queries.codes.shape[1], 1)
    nearest = np.empty(len(queries.numbers))
    for start in range(0, len(nearest), _BLOCK):
        rows = slice(start, start + _BLOCK)
        total = np.zeros((len(nearest[rows]), len(references.numbers)))
        if queries.numbers.shape[1]:
            total += cdist(queries.numbers[rows], references.numbers, "cityblock")
        if width := queries.codes.shape[1]:
            total += width * cdist(queries.codes[rows], references.codes, "hamming")
        if own is not None:
            total[np.arange(len(total)), own[rows]] = np.inf
        nearest[rows] = total.min(axis=1) / columns
    return nearest


def sample_positions(rows: int, limit: int, rng: np.random.Generator) -> IntArray:
    """Return all positions, or ``limit`` of them drawn without repeats, int64, sorted."""
    return np.sort(rng.choice(rows, size=limit, replace=False)) if rows > limit else np.arange(rows)
