"""Quantiles and intervals that infinite values cannot spoil."""

from collections.abc import Callable
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray

RESAMPLES: Final = 400
COVERAGE: Final = 0.95
_NORMAL: Final = 1.959964
"""The normal law has 95 % of its mass nearer to its mean than so many standard deviations."""

Statistic = Callable[[FloatArray], FloatArray]
"""Takes (resamples, n, …) and gives one value for each resample, or one for each of the axes that follow."""


def quantile(values: FloatArray, share: float) -> float:
    """Return a value of the sample, without arithmetic between values; NaN ones are left out, NaN if there are none."""
    held = values[~np.isnan(values)]
    return float(np.quantile(held, share, method="inverted_cdf")) if held.size else np.nan


def medians(values: FloatArray) -> FloatArray:
    """Return the lower median along axis 1, one that occurs."""
    return np.asarray(np.sort(values, axis=1)[:, (values.shape[1] - 1) // 2])


def interval(values: FloatArray, statistic: Statistic, rng: np.random.Generator) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a statistic of independent rows.

    Args:
        values: float64 (n, …); rows are resampled. One-dimensional ones are taken without their NaN.
        statistic: of (resamples, n, …), one number for each resample.
        rng: public randomness.
    """
    held = values[~np.isnan(values)] if values.ndim == 1 else values
    if not len(held):
        return np.nan, np.nan
    found = statistic(held[rng.integers(len(held), size=(RESAMPLES, len(held)))])
    tail = (1.0 - COVERAGE) / 2.0
    return quantile(found, tail), quantile(found, 1.0 - tail)


def share_interval(count: int, total: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share, which is not a point even where none or all were counted.

    >>> [round(end, 3) for end in share_interval(0, 200)]
    [0.0, 0.019]
    """
    if total == 0:
        return 0.0, 1.0
    share, weight = count / total, _NORMAL**2 / total
    middle = (share + weight / 2.0) / (1.0 + weight)
    half = _NORMAL / (1.0 + weight) * np.sqrt(share * (1.0 - share) / total + weight / (4.0 * total))
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    # Rounding must not shut out a share of exactly 0 or 1.
    return 0.0 if count == 0 else float(low), 1.0 if count == total else float(high)
