"""The 0/1 knapsack with a price on excess: solved exactly, or bracketed when that would take too long.

Kinds of equal items, each with a gain and a size; a filling takes some of each, never everything, and pays a price for
every unit of size above the room. Worst-case sets and donor sets are such fillings (docs/proofs/noise_design.md).
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.privacy.knapsack_core import CoreSearch

MOST_STATES: Final = 1 << 14
_FEW_STATES: Final = 256
_HALVES: Final = 24  # pieces around the break searched exhaustively: two halves of 2¹² sums each
_ROUNDING: Final = 1e-14  # a filling this near to everything is taken for everything


@dataclass(frozen=True, slots=True)
class Filling:
    """A filling and what no other exceeds.

    Attributes:
        counts: int64 (k,), how many items of each kind.
        value: gain less what the excess costs.
        upper: no filling (but for everything) is worth more.
    """

    counts: IntArray
    value: float
    upper: float


def fill(
    gain: FloatArray,
    size: FloatArray,
    count: IntArray,
    *,
    room: float,
    price: float = 1.0,
    tolerance: float = 0.0,
    most_states: int = MOST_STATES,
) -> Filling:
    """Return the best filling, to within ``tolerance`` unless the search outgrows ``most_states``.

    ``upper − value`` says how good it is, in any case. Nothing is taken where no filling is worth more than 0.
    A small dynamic program decides the easy cases; else the pieces around the break are searched exhaustively, and
    what that leaves open goes to a large dynamic program.

    Args:
        gain: (k,) gain of one item of a kind, at least 0.
        size: (k,) its size, above 0 and at most 1 in all; ``gain/size ≤ price``.
        count: int64 (k,) items of a kind, at least 1.
        room: size that costs nothing, at least 0.
        price: cost of a unit of excess; ``inf``: no excess.
        tolerance: stop where no filling can be better by more than this.
        most_states: states kept at once; beyond, the least promising are dropped and bounded.
    """
    sack = _Sack(gain, size, count, room, price)
    upper = sack.widen(tolerance, min(_FEW_STATES, most_states))
    if upper - sack.value > tolerance and most_states > _FEW_STATES:
        sack.search_halves()
        if upper - sack.value > tolerance:
            upper = min(upper, sack.widen(tolerance, most_states))
    return Filling(sack.counts(len(gain)), sack.value, max(sack.value, upper))


class _Sack:
    """Pieces by falling gain per size, where the room ends among them, and the best filling so far."""

    def __init__(self, gain: FloatArray, size: FloatArray, count: IntArray, room: float, price: float) -> None:
        self._kind, self._items = _bundles(gain / size, count)
        self._gain, self._size = gain[self._kind] * self._items, size[self._kind] * self._items
        filled = np.concatenate(([0.0], np.cumsum(self._size)))
        self._inside = int(np.searchsorted(filled, room, side="right")) - 1
        self._room, self._price = room - float(filled[self._inside]), price
        self._everything = float(filled[-1] - filled[self._inside]) - _ROUNDING
        self._base = float(self._gain[: self._inside].sum())
        self._taken = np.arange(self._gain.size) < self._inside
        self.value = self._base
        if self._everything <= 0.0:  # everything would fit and is not allowed
            self._taken, self.value = np.zeros(self._gain.size, dtype=np.bool_), 0.0

    def widen(self, tolerance: float, most_states: int) -> float:
        """Improve the filling by dynamic programming; return an upper bound for all fillings."""
        core = CoreSearch(
            self._gain,
            self._size,
            inside=self._inside,
            room=self._room,
            price=self._price,
            everything=self._everything,
            best=self.value - self._base,
            tolerance=tolerance,
            most_states=most_states,
        )
        core.search()
        if core.taken is not None:
            self._taken, self.value = core.taken, self._base + core.best
        return max(self.value, self._base + core.upper)

    def search_halves(self) -> None:
        """Improve the filling by the best of all subsets of the pieces around the break.

        The subsets of the left half are joined with those of the right: of the right ones that still fit the one
        of largest gain is best, of the others the one of largest gain less cost.
        """
        start = min(max(0, self._inside - _HALVES // 2), max(0, self._gain.size - _HALVES))
        core = slice(start, start + _HALVES)
        gain, size = self._gain[core], self._size[core]
        room = self._room + float(self._size[start : self._inside].sum())
        middle = gain.size // 2
        left, right = _subset_sums(gain[:middle], size[:middle]), _subset_sums(gain[middle:], size[middle:])
        if self._gain.size <= _HALVES:  # everything is not allowed
            left = left[:, :-1]
        value, one, other = _join(left, right, room, self._price)
        value += self._base - float(self._gain[start : self._inside].sum())
        if value > self.value:
            self.value = value
            self._taken = np.arange(self._gain.size) < start
            self._taken[core] = [one >> i & 1 for i in range(middle)] + [
                other >> i & 1 for i in range(gain.size - middle)
            ]

    def counts(self, kinds: int) -> IntArray:
        """Return how many items of each kind the filling takes, int64 (k,)."""
        return np.bincount(self._kind[self._taken], weights=self._items[self._taken], minlength=kinds).astype(np.int64)


def _bundles(ratio: FloatArray, count: IntArray) -> tuple[IntArray, IntArray]:
    """Return kinds by falling ratio, each in bundles of 1, 2, 4, … items and a rest: they make any number."""
    kinds, bundles = [np.arange(ratio.size)], [np.ones(ratio.size, dtype=np.int64)]
    left, bundle = count - 1, 2
    while left.any():
        more = np.flatnonzero(left > 0)
        items = np.minimum(bundle, left[more])
        kinds.append(more)
        bundles.append(items)
        left[more] -= items
        bundle *= 2
    kind, items = np.concatenate(kinds), np.concatenate(bundles)
    order = np.argsort(-ratio[kind], kind="stable")
    return kind[order], items[order]


def _subset_sums(gain: FloatArray, size: FloatArray) -> FloatArray:
    """Return gain and size of every subset, float64 (2, 2^u); bit i of the position says whether i is in."""
    sums = np.zeros((2, 1))
    for one in np.stack((gain, size)).T:
        sums = np.concatenate((sums, sums + one[:, None]), axis=1)
    return sums


def _join(left: FloatArray, right: FloatArray, room: float, price: float) -> tuple[float, int, int]:
    """Return the best value of a left subset joined with a right one, and the two positions."""
    order = np.argsort(right[1], kind="stable")
    gain, size = right[:, order]
    fits = np.searchsorted(size, room - left[1], side="right")
    within = np.append(-math.inf, np.maximum.accumulate(gain))[fits]
    if math.isinf(price):
        net, beyond = gain, np.full(fits.size, -math.inf)
    else:
        net = gain - price * size
        beyond = np.append(np.maximum.accumulate(net[::-1])[::-1], -math.inf)[fits] + price * (room - left[1])
    value = left[0] + np.maximum(within, beyond)
    one = int(np.argmax(value))
    k = int(fits[one])
    other = int(np.argmax(gain[:k])) if within[one] >= beyond[one] else k + int(np.argmax(net[k:]))
    return float(value[one]), one, int(order[other])
