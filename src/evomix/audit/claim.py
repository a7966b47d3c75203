"""A claim (ε, δ), events that would refute it, and the bound on ε that counted events give.

If a mechanism is (ε, δ)-DP then ``Pr[E | 0] ≤ e^ε·Pr[E | 1] + δ`` for every event E and both orders of the neighbours 0
and 1, so any E gives ``ε ≥ ln((Pr[E | 0] − δ)/Pr[E | 1])``.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.audit.clopper_pearson import at_least, at_most
from evomix.audit.release import Side
from evomix.core.arrays import FloatArray, IntArray

_ULP: Final = math.ulp(1.0)


@dataclass(frozen=True, slots=True)
class Claim:
    """That a mechanism is (ε, δ)-DP under replace-one; ``epsilon`` is the proven one."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class Event:
    """That the loss, as seen from the ``likely`` side, exceeds a ``threshold``."""

    likely: Side
    threshold: float

    def count(self, losses: FloatArray) -> int:
        """Return how often the event happened; ``losses`` is float64 (trials,)."""
        return int((seen_from(self.likely, losses) > self.threshold).sum())


def seen_from(side: Side, losses: FloatArray) -> FloatArray:
    """Return losses of side 0 against side 1 as losses of ``side`` against the other, float64 (trials,)."""
    return losses if side == 0 else -losses


def epsilon_bounds(
    likely: FloatArray | IntArray, other: FloatArray | IntArray, *, trials: int, delta: float, mistake: float
) -> FloatArray:
    """Return ``ln((p − δ)/q)``, or 0 where that is less, with p at its lower and q at its upper confidence bound.

    Args:
        likely: how often each event happened on its likely side, (events,).
        other: how often it happened on the other, (events,).
        trials: on each side.
        delta: δ.
        mistake: probability with which each p and each q may lie beyond its bound.
    """
    surplus = at_least(likely, trials, mistake=mistake) - delta
    ratio = np.maximum(surplus / at_most(other, trials, mistake=mistake), 1.0)
    # The ratio is off by two roundings, which near 1 is much of its logarithm.
    return np.maximum(np.log(ratio) * (1.0 - _ULP) - 2.0 * _ULP, 0.0)
