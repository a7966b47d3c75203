"""Array types by what they mean."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
"""Real numbers; the shape is given where it is used."""

IntArray = NDArray[np.int64]
"""Counts, weights or row positions."""

Population = NDArray[np.generic]
"""Public records, one along the first axis: table rows (float64 matrix), texts (object), images (uint8)."""


def distinct(population: Population) -> Population:
    """Return ``population`` without repeats, first occurrences in order."""
    if not population.size:
        return population[:1]  # none, or records without a single cell, which are all the same
    if population.dtype == object:
        return population[sorted(np.unique(population, return_index=True)[1])]
    flat = np.ascontiguousarray(population).reshape(len(population), -1)
    if flat.dtype.kind == "f":
        flat = np.where(np.isnan(flat), np.nan, flat) + 0.0  # one bit pattern for missing and for zero
    rows = flat.view(np.dtype((np.void, flat.dtype.itemsize * flat.shape[1]))).ravel()
    return population[np.sort(np.unique(rows, return_index=True)[1])]
