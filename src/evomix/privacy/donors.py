"""Who gives the mass when MIFR raises a floor: the donor set, greedy or of least mass.

Every donor may give down to the floor. The donors must be able to give what the raised entries need, and the mass they
hold together should be least, so that as much as possible stays as it was: a covering knapsack (PubMix, Definition
4.4). Its complement is a packing: keep as much mass as possible whose capacity the others can spare.
Positions and masses are public; nothing here costs privacy. Proofs: docs/proofs/noise_design.md.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.privacy.knapsack import fill

Donors = Literal["greedy", "exact"]

_PROVEN: Final = 1e-9  # masses nearer than this count as equal


@dataclass(frozen=True, slots=True)
class DonorComparison:
    """The mass that the two donor sets hold.

    Attributes:
        greedy: mass of the greedy set.
        exact: least mass of any set that can give what is needed.
    """

    greedy: float
    exact: float

    @property
    def excess(self) -> float:
        """Return the mass that the greedy set touches in vain, at least 0."""
        return max(self.greedy - self.exact, 0.0)

    @property
    def differ(self) -> bool:
        """Return whether the greedy set is not of least mass."""
        return self.excess > _PROVEN


def greedy_donors(masses: FloatArray, floor: float, need: float) -> NDArray[np.intp]:
    """Return positions of the largest entries until one more would do, and for that one the smallest that suffices."""
    above = np.flatnonzero(masses > floor)
    order = above[np.argsort(-masses[above], kind="stable")]
    capacity = masses[order] - floor
    given = np.cumsum(capacity)
    last = min(int(np.searchsorted(given, need)), order.size - 1)
    rest = need - (given[last - 1] if last else 0.0)
    sufficient = int(np.searchsorted(-capacity[last:], -rest, side="right"))
    chosen = last + max(sufficient - 1, 0)
    return np.append(order[:last], order[chosen])


def least_donors(masses: FloatArray, floor: float, need: float) -> NDArray[np.intp]:
    """Return positions of a donor set of least mass; of equal masses the lowest positions give.

    Raises:
        SpecError: the set found is not proven to be of least mass to 1e-9.
    """
    above = np.flatnonzero(masses > floor)
    kinds, kind, count = np.unique(masses[above], return_inverse=True, return_counts=True)
    capacity = kinds - floor
    spare = max(float(capacity @ count) - need, 0.0)
    kept = fill(kinds, capacity, count, room=spare, price=np.inf, tolerance=0.1 * _PROVEN)
    if kept.upper - kept.value > _PROVEN:
        raise SpecError(
            f"donors='exact' must be proven of least mass to {_PROVEN}, found one proven to "
            f"{kept.upper - kept.value:.1e} among {above.size} candidates at floor={floor!r}; use donors='greedy'"
        )
    gives = count - kept.counts
    rank = np.empty(kind.size, dtype=np.int64)
    order = np.argsort(kind, kind="stable")
    rank[order] = np.arange(kind.size) - np.repeat(np.cumsum(count) - count, count)
    return above[rank < gives[kind]]
