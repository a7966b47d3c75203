"""Array types by what they mean."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
"""Real numbers; the shape is given where it is used."""

IntArray = NDArray[np.int64]
"""Counts, weights or row positions."""

Population = NDArray[np.generic]
"""Public records, one along the first axis: table rows (float64 matrix), texts (object), images (uint8)."""
