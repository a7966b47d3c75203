"""Exponents fitted to points of a power law."""

from collections.abc import Sequence

import numpy as np


def exponent(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Return the slope of ln y on ln x by least squares, and its standard error.

    Args:
        x: k ≥ 3 positive numbers, not all equal.
        y: k positive numbers.

    >>> round(exponent([1.0, 2.0, 4.0], [3.0, 12.0, 48.0])[0], 6)
    2.0
    """
    across, along = np.log(np.asarray(x, dtype=np.float64)), np.log(np.asarray(y, dtype=np.float64))
    gaps = across - across.mean()
    slope = float(gaps @ along / (gaps @ gaps))
    rest = along - along.mean() - slope * gaps
    return slope, float((rest @ rest / (len(gaps) - 2) / (gaps @ gaps)) ** 0.5)
