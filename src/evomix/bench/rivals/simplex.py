"""Noisy counts made possible ones."""

import numpy as np

from evomix.core.arrays import FloatArray


def nearest_counts(noisy: FloatArray, total: float) -> FloatArray:
    """Return the nearest counts that are at least 0 and sum to ``total``, in squared distance.

    Source: Duchi, Shalev-Shwartz, Singer and Chandra (2008), figure 1.

    Args:
        noisy: float64 (cells,), at least one.
        total: positive.
    """
    falling = np.sort(noisy)[::-1]
    surplus = (np.cumsum(falling) - total) / np.arange(1, len(noisy) + 1)
    kept = np.flatnonzero(falling > surplus)[-1]
    return np.asarray(np.maximum(noisy - surplus[kept], 0.0))
