"""Moving any number to the nearest value that a column may hold."""

from decimal import Decimal

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import SchemaError
from evomix.modalities.tabular.column import Column


def snap(column: Column, cells: FloatArray) -> FloatArray:
    """Return the nearest values inside the column, float64 of the same shape; a new array.

    Infinite cells go to the bounds, NaN becomes the column's ``fallback`` (missing where the column allows
    it), ``-0.0`` becomes ``0.0``. Idempotent. Each cell's answer depends on that cell and the schema alone.
    """
    if not (column.coded or column.ordered):
        raise SchemaError(f"column {column.name!r}: type {column.type!r} has no place in a population")
    cells = np.where(np.isnan(cells), column.fallback, cells)
    if column.coded:
        return np.clip(np.rint(cells), 0.0, len(column.values) - 1.0) + 0.0
    assert column.min is not None
    assert column.max is not None
    step = column.step
    clamped = np.clip(cells, column.min, column.max)
    if step is None:
        return np.asarray(clamped + 0.0)
    # 1 / 0.01 is taken as exactly 100: k / 100 is the float that a decimal text is read as, k * 0.01 is not.
    inverse = round(1.0 / step) if step < 1.0 and abs(round(1.0 / step) * step - 1.0) < 1e-12 else None
    if inverse is not None:
        multiples = _rounded(clamped * inverse, column.min * inverse, column.max * inverse)
        return np.asarray(multiples / inverse + 0.0)
    multiples = _rounded(clamped / step, column.min / step, column.max / step)
    exponent = Decimal(repr(step)).normalize().as_tuple().exponent  # 1.0 has no decimal places
    places = max(0, -exponent) if isinstance(exponent, int) else 0
    return np.asarray(np.round(multiples * step, places) + 0.0)


def _rounded(multiples: FloatArray, low: float, high: float) -> FloatArray:
    """Round to whole multiples inside the bounds; the tolerance covers the rounding of the bounds."""
    return np.clip(np.rint(multiples), np.ceil(low - 1e-9), np.floor(high + 1e-9))
