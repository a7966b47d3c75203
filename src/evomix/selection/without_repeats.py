"""Rows in proportion to their shares, each candidate once at most as far as there are enough.

A text that stands in a table twice teaches a model nothing new, and a variation in its place is another text than the
one that was voted for. So large shares are cut at one row and the others scaled up: chances ``q_i = min(1, c·p_i)``
with the c at which they sum to the number of rows (sampling proportional to size without replacement; Brewer and Hanif
1983). It is unique where more candidates have a share than rows are wanted, because the sum grows with c, strictly
until all are at 1. The cut ones are the largest: with shares in falling order and ``T_k`` the sum from k on, the first
k at which ``(m − k)·p_k ≤ T_k`` leaves m − k rows to the others at ``c = (m − k)/T_k``, of which none exceeds 1, and
all before exceed it. Once the inequality holds it holds for all later k.
Post-processing; costs no privacy.
"""

from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.selection.subsample import draw_systematic

_CERTAIN: Final = 1.0 - 1e-9
"""Chances above are 1: rounding must not bring a candidate up twice."""


def inclusion_chances(shares: FloatArray, size: int) -> FloatArray:
    """Return the chance of each candidate to be one of ``size`` distinct ones, float64 (d,), in the order of shares.

    ``min(1, c·share)``, summing to ``size``; where no more candidates than ``size`` have a share, 1 for each of these.

    Args:
        shares: float64 (d,), at least 0, one above 0.
        size: rows wanted, at least 0.

    >>> inclusion_chances(np.array([0.7, 0.2, 0.1, 0.0]), 2).round(6).tolist()
    [1.0, 0.666667, 0.333333, 0.0]
    """
    if np.count_nonzero(shares) <= size:
        return np.asarray(shares > 0.0, np.float64)
    order = np.argsort(-shares, kind="stable")
    falling = shares[order]
    sums = np.cumsum(falling[::-1])[::-1]
    left = size - np.arange(size)
    fitting = np.flatnonzero(left * falling[:size] <= _CERTAIN * sums[:size])
    certain = int(fitting[0]) if fitting.size else size
    chances = np.ones(shares.size)
    chances[order[certain:]] = (size - certain) / sums[certain] * falling[certain:]
    return chances


def draw_without_repeats(
    shares: FloatArray, size: int, rng: np.random.Generator, *, groups: IntArray | None = None
) -> IntArray:
    """Draw ``size`` positions in proportion to ``shares``, each once at most where enough have a share; random order.

    Where fewer have one, each comes up once, and the rest of the rows goes to those whose share is more than one row,
    as in :func:`~evomix.selection.subsample.draw_systematic`. Each group has its share of the rows, rounded up or down
    at random: what is cut off a candidate goes to others of its group, and a small group repeats before others grow.

    Args:
        shares: float64 (d,), at least 0, one above 0.
        size: rows wanted.
        rng: public randomness.
        groups: int64 (d,), at least 0; ``None``: one group.
    """
    if groups is None:
        return rng.permutation(_drawn(shares, size, rng))
    masses = np.asarray(np.bincount(groups, shares), np.float64)
    counts = np.bincount(draw_systematic(masses, size, rng), minlength=masses.size)
    parts = []
    for group in np.flatnonzero(counts):
        members = np.flatnonzero(groups == group)
        parts.append(members[_drawn(shares[members], int(counts[group]), rng)])
    return rng.permutation(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


def _drawn(shares: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    chances = inclusion_chances(shares, size)
    certain = np.flatnonzero(chances == 1.0)
    missing = size - certain.size
    if missing == 0:
        return certain
    if np.count_nonzero(chances) == certain.size:  # each with a share stands there once already
        chances = np.maximum(size * shares / shares.sum() - 1.0, 0.0)
    else:
        chances[certain] = 0.0
    return np.concatenate([certain, draw_systematic(chances, missing, rng)])
