"""As many rows as wanted of those there are."""

import numpy as np

from evomix.core.arrays import IntArray


def resized(count: int, rows: int, rng: np.random.Generator) -> IntArray:
    """Return ``rows`` positions below ``count``, int64: each as often as any other, give or take one, in random order.

    >>> sorted(resized(2, 5, np.random.default_rng(0)).tolist()) in ([0, 0, 0, 1, 1], [0, 0, 1, 1, 1])
    True
    """
    whole, rest = divmod(rows, count)
    picked = np.concatenate([np.tile(np.arange(count), whole), rng.permutation(count)[:rest]])
    return rng.permutation(picked)
