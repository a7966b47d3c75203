"""How fast the mean distance falls, and how many rounds that makes."""

import math
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray

WITHIN: Final = 0.1
"""A mean distance this much above the ceiling counts as there."""
STANDSTILL: Final = 0.999
"""A factor a round from which no end is in sight."""
MOST_ROUNDS: Final = 1000


def contraction(curves: FloatArray, goal: FloatArray | float) -> FloatArray:
    """Return the factor a round by which a curve falls until it is at the goal, or to its end.

    Beyond the goal other things hold it back than the generator, so those rounds do not count, unless all are.

    Args:
        curves: float64 (…, T + 1), mean distances by round, T ≥ 1.
        goal: a distance, for each curve.

    Returns:
        float64 (…), in [0, 1]; NaN where the start is at distance 0.
    """
    rounds = curves.shape[-1] - 1
    there = curves <= np.asarray(goal)[..., None]
    first = np.where(there.any(axis=-1), there.argmax(axis=-1), rounds)
    until = np.where(first == 0, rounds, first)
    last = np.take_along_axis(curves, until[..., None], axis=-1)[..., 0]
    share = np.divide(last, curves[..., 0], out=np.full(last.shape, np.nan), where=curves[..., 0] > 0.0)
    return np.asarray(np.minimum(share, 1.0) ** (1.0 / until))


def rounds_needed(curve: FloatArray, ceiling: float) -> int | None:
    """Return the rounds after which the mean distance is within 10 % of the ceiling; ``None`` if none are in sight.

    Those that the curve shows, or more: then its last half is taken to go on.

    Args:
        curve: float64 (T + 1,).
        ceiling: the mean distance of a public sample.
    """
    goal = (1.0 + WITHIN) * ceiling
    there = np.flatnonzero(curve <= goal)
    if there.size:
        return int(there[0])
    rounds = len(curve) - 1
    half = rounds // 2
    factor = float(curve[-1] / curve[half]) ** (1.0 / (rounds - half))
    if factor >= STANDSTILL or goal <= 0.0:
        return None
    needed = rounds + math.ceil(math.log(goal / curve[-1]) / math.log(factor))
    return needed if needed <= MOST_ROUNDS else None
