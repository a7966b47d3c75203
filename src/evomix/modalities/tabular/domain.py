"""The set of all possible records, where it is small enough to list."""

import math

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema


def column_size(column: Column) -> float:
    """Return the number of different cells of a column (``inf`` for a continuous number, a text or an image)."""
    if column.type in ("text", "image"):
        return math.inf
    if column.coded:
        distinct: float = len(column.values)
    else:
        assert column.min is not None
        assert column.max is not None
        if column.min == column.max:
            distinct = 1
        elif column.step is None:
            return math.inf
        else:
            distinct = math.floor(column.max / column.step) - math.ceil(column.min / column.step) + 1
    return distinct + column.missing


def domain_size(schema: Schema) -> float:
    """Return the number of different records of a schema (``inf`` if it is not finite)."""
    return math.prod(column_size(column) for column in schema.modelled)


def enumerate_domain(schema: Schema) -> FloatArray:
    """Return every possible record, float64 (domain size, columns); only for small finite domains."""
    axes = [_cells(column) for column in schema.modelled]
    grids = np.meshgrid(*axes, indexing="ij")
    return np.column_stack([grid.ravel() for grid in grids])


def _cells(column: Column) -> FloatArray:
    if column.coded:
        cells = np.arange(len(column.values), dtype=np.float64)
    elif column.min == column.max:
        cells = np.array([column.min], dtype=np.float64)
    else:
        assert column.step is not None
        assert column.min is not None
        first = math.ceil(column.min / column.step)
        cells = (first + np.arange(int(column_size(column)) - column.missing, dtype=np.float64)) * column.step
    return np.append(cells, np.nan) if column.missing else np.asarray(cells, np.float64)
