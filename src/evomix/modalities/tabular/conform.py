"""Moving any population into its schema."""

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import SchemaError
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.tabular.snapping import snap

__all__ = ["conform", "snap"]


def conform(schema: Schema, population: FloatArray) -> FloatArray:
    """Return the population with every cell inside the schema, float64 (n, modelled columns); a new array.

    Raises:
        SchemaError: the number of columns is not that of ``schema.modelled``.
    """
    columns = schema.modelled
    if population.ndim != 2 or population.shape[1] != len(columns):
        raise SchemaError(f"population: expected (rows, {len(columns)}) as in the schema, found {population.shape}")
    inside = np.empty(population.shape, dtype=np.float64)
    for position, column in enumerate(columns):
        inside[:, position] = snap(column, population[:, position])
    return inside
