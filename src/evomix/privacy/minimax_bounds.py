"""Certified lower bounds of the least worst case, f(t) = min Ψ(P) over all P with every mass at least t.

A distribution y over sets R bounds f from below at *every* floor: Ψ(P) is at least the mean of ``P(R) − max(A(R) − γ,
0)``, and the mean of P(R) is least where P puts what lies above the floor on the candidates that y covers least. That
is a linear function of t (docs/proofs/noise_design.md), so one y serves all floors, and it is computed by plain sums,
whatever found y. Utility only: no privacy guarantee rests on this file.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evomix.core.arrays import FloatArray
from evomix.privacy.floor_raising import as_distribution, proportional_fill
from evomix.privacy.worst_case import check_proximity

_ULP: Final = 2.0**-53


@dataclass(frozen=True, slots=True)
class MinimaxBound:
    """``f(t) ≥ at_zero + slope·t`` for every floor t in [0, 1/d]."""

    at_zero: float
    slope: float

    def at(self, floor: float) -> float:
        """Return the bound at one floor."""
        return self.at_zero + self.slope * floor


def bound_of_mixture(
    mixture: FloatArray, covered: FloatArray, sizes: FloatArray, overflow: FloatArray, candidates: int
) -> MinimaxBound:
    """Return the bound that a distribution over sets (or symmetric families of sets) proves.

    Equal public masses may be assumed to get equal noise, and larger ones no less than smaller ones, so only the
    mean coverage of the j largest candidates counts, for each j.

    Args:
        mixture: (r,) probabilities of the sets.
        covered: (r, c) share of the candidates of class j and all classes of larger masses that a set holds.
        sizes: (r,) candidates in a set.
        overflow: (r,) ``max(A(R) − γ, 0)``, for a family its mean.
        candidates: d.
    """
    least = float((mixture @ covered).min())
    rounding = (4 * mixture.size + candidates + 16) * _ULP  # more than all sums lose, none above 1 per candidate
    at_zero = least - float(mixture @ overflow) - rounding
    return MinimaxBound(at_zero, max(float(mixture @ sizes) - candidates * least, 0.0))


def explicit_bounds(rising: FloatArray, *, floor: float, proximity: float) -> list[MinimaxBound]:
    """Return bounds that need no solver, good near ``floor``, from the public masses in rising order: O(d log d).

    Sets that leave out one candidate each; the candidates that ``floor`` raises; the smallest ones that γ has room
    for; and, when the floored ones do not hold γ, arcs of the others laid on a circle.
    """
    a, size = rising, rising.size
    if size == 1:
        return [MinimaxBound(0.0, 0.0)]
    rounding = (size + 16) * _ULP
    left_out = 1.0 - (1.0 + float(np.maximum(1.0 - a - proximity, 0.0).sum())) / size
    found = [MinimaxBound(left_out - rounding, 0.0)]
    smallest = int(np.searchsorted(np.cumsum(a), proximity, side="right"))
    found.append(MinimaxBound(-rounding, float(min(smallest, size - 1))))
    raised = a <= floor
    if not raised.all():
        overflow = max(float(a[raised].sum()) - proximity, 0.0)
        found.append(MinimaxBound(-overflow - rounding, float(np.count_nonzero(raised))))
    floored = proportional_fill(a, floor=floor) <= floor
    held = float(a[floored].sum())
    rest = a[~floored]
    if held <= proximity and rest.size and rest.max() <= 1.0 - proximity:  # else an arc might be everything
        share = (proximity - held) / (1.0 - held)
        lost = float(np.square(rest).sum()) / (4.0 * (1.0 - held))
        found.append(MinimaxBound(share - lost - rounding, float(np.count_nonzero(floored)) * (1.0 - share)))
    return found


def minimax_lower(public: ArrayLike, *, floor: float, proximity: float) -> float:
    """Return a lower bound of min Ψ(P) over all P with every mass at least ``floor``, in one sort.

    Public arithmetic; costs no privacy. Proof: docs/proofs/noise_design.md.

    Args:
        public: (d,) public distribution A.
        floor: t in [0, 1/d].
        proximity: γ in [0, 1].

    Raises:
        SpecError: an argument is no distribution or out of range.
    """
    a = as_distribution(public, name="public")
    check_proximity(proximity)
    return max(0.0, *(bound.at(floor) for bound in explicit_bounds(np.sort(a), floor=floor, proximity=proximity)))


class BoundPool:
    """Bounds found so far; all of them hold at every floor."""

    def __init__(self, bounds: Iterable[MinimaxBound] = ()) -> None:
        self._at_zero, self._slope = np.zeros(1), np.zeros(1)
        self.add(bounds)

    def add(self, bounds: Iterable[MinimaxBound]) -> None:
        """Take more bounds into the pool."""
        more = list(bounds)
        self._at_zero = np.append(self._at_zero, [bound.at_zero for bound in more])
        self._slope = np.append(self._slope, [bound.slope for bound in more])

    def at(self, floor: float) -> float:
        """Return the best lower bound of f at a floor."""
        return float((self._at_zero + self._slope * floor).max())

    def between(self, low: float, high: float, *, low_weight: float, high_weight: float) -> float:
        """Return ``max over bounds of min(low_weight·bound(low), high_weight·bound(high))``."""
        lows = low_weight * (self._at_zero + self._slope * low)
        highs = high_weight * (self._at_zero + self._slope * high)
        return float(np.minimum(lows, highs).max())
