"""The states of a knapsack's core: a dynamic program that widens around the break item.

Items stand by falling gain per size; those before the break are in, those after are out. Widening the core by a piece
lets it change sides. A state is the pair (size, gain) of what changed so far. Of two states the one that is larger and
gains no more is dropped, and so is a state whose fractional completion cannot beat the best filling found.
Source of the scheme: Pisinger, "A minimal algorithm for the 0-1 knapsack problem" (1997).
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.core.compiled import compiled

_WORK: Final = 64  # full sets of states that are widened before the search ends with a bracket


class CoreSearch:
    """States of the pieces around the break; sizes and gains are relative to taking exactly the pieces before it."""

    def __init__(
        self,
        gain: FloatArray,
        size: FloatArray,
        *,
        inside: int,
        room: float,
        price: float,
        everything: float,
        best: float,
        tolerance: float,
        most_states: int,
    ) -> None:
        """Start from exactly the first ``inside`` pieces; ``room``, ``everything`` and ``best`` count from there.

        Args:
            gain: (p,) gains of the pieces, by falling gain per size.
            size: (p,) their sizes.
            inside: pieces before the break.
            room: room left over; more size costs ``price`` a unit.
            price: cost of a unit of excess; ``inf``: no excess.
            everything: a state of this size or more takes everything, which is not allowed.
            best: value known to be reached.
            tolerance: what cannot beat ``best`` by more than this is dropped.
            most_states: states kept at once.
        """
        self._gain, self._size, self._inside = gain, size, inside
        self._room, self._price, self._everything = room, price, everything
        self._tolerance, self._most_states = tolerance, most_states
        self._sizes, self._gains, self._bounds = np.zeros(1), np.zeros(1), np.full(1, math.inf)
        self._history: list[tuple[int, NDArray[np.int64], NDArray[np.bool_]]] = []
        self.taken: NDArray[np.bool_] | None = None
        """(p,) the pieces of the best filling found; None: none beat what was known."""
        self.best = best
        self.upper = -math.inf
        """No filling that was dropped is worth more than this."""

    def search(self) -> None:
        """Widen the core piece by piece, right and left in turn, until no state is left that could be better."""
        left, right, end = self._inside, self._inside, self._size.size
        work = 0
        while self._sizes.size and (left > 0 or right < end):
            if work > _WORK * self._most_states:
                self.upper = max(self.upper, float(self._bounds.max()))
                return
            work += self._sizes.size
            if right < end:
                right += 1
                self._widen(right - 1, +1.0, left, right)
            if left > 0 and self._sizes.size:
                left -= 1
                self._widen(left, -1.0, left, right)

    def _widen(self, piece: int, sign: float, left: int, right: int) -> None:
        beyond = self._gain[right] / self._size[right] if right < self._size.size else 0.0
        within = self._gain[left - 1] / self._size[left - 1] if left > 0 else self._price
        self._sizes, self._gains, self._bounds, parents, changed, pruned, found = _step(
            self._sizes,
            self._gains,
            (sign * self._size[piece], sign * self._gain[piece]),
            (self._room, self._everything),
            (within, beyond, self._price),
            self.best,
            self._tolerance,
        )
        self.upper = max(self.upper, pruned)
        best, parent, differs = found
        if parent >= 0:
            self.best = best
            self.taken = self._path(parent)
            self.taken[piece] ^= differs
        keep = self._promising()
        self._history.append((piece, parents[keep], changed[keep]))

    def _promising(self) -> NDArray[np.int64] | slice:
        """Drop the states of least bound beyond the number allowed; return which stay."""
        spare = self._sizes.size - self._most_states
        if spare <= 0:
            return slice(None)
        order = np.argpartition(self._bounds, spare - 1)
        self.upper = max(self.upper, float(self._bounds[order[spare - 1]]))
        keep = np.sort(order[spare:])
        self._sizes, self._gains, self._bounds = self._sizes[keep], self._gains[keep], self._bounds[keep]
        return keep

    def _path(self, state: int) -> NDArray[np.bool_]:
        """Return which pieces a state takes."""
        taken = np.arange(self._size.size) < self._inside
        for piece, parents, changed in reversed(self._history):
            taken[piece] ^= bool(changed[state])
            state = int(parents[state])
        return taken


_Step = tuple[FloatArray, FloatArray, FloatArray, NDArray[np.int64], NDArray[np.bool_], float, tuple[float, int, bool]]


@compiled
def _step(
    sizes: FloatArray,
    gains: FloatArray,
    piece: tuple[float, float],
    limits: tuple[float, float],
    ratios: tuple[float, float, float],
    least: float,
    tolerance: float,
) -> _Step:  # pragma: no cover - compiled
    """Merge the states with themselves shifted by one piece; drop what is dominated or cannot be better.

    Returns sizes, gains, bounds, parents and changes of the states left, the largest bound dropped, and the best
    value found (with the state it came from, -1: none above ``least``).
    """
    size, gain = piece
    room, everything = limits
    within, beyond, price = ratios
    n = sizes.size
    new_sizes, new_gains, bounds = np.empty(2 * n), np.empty(2 * n), np.empty(2 * n)
    parents, changed = np.empty(2 * n, np.int64), np.empty(2 * n, np.bool_)
    kept, stay, shift = 0, 0, 0
    top = pruned = -math.inf
    best, best_parent, best_changed = least, -1, False
    while stay < n or shift < n:
        if shift >= n or (stay < n and sizes[stay] <= sizes[shift] + size):
            s, g, parent, change = sizes[stay], gains[stay], stay, False
            stay += 1
        else:
            s, g, parent, change = sizes[shift] + size, gains[shift] + gain, shift, True
            shift += 1
        if g <= top:
            continue
        top = g
        excess = s - room
        value = g - price * excess if excess > 0.0 else g
        if value > best and s < everything:
            best, best_parent, best_changed = value, parent, change
        bound = g - within * excess if excess > 0.0 else g - beyond * excess
        if bound <= best + tolerance:
            pruned = max(pruned, bound)
            continue
        new_sizes[kept], new_gains[kept], bounds[kept] = s, g, bound
        parents[kept], changed[kept] = parent, change
        kept += 1
    return (
        new_sizes[:kept].copy(),
        new_gains[:kept].copy(),
        bounds[:kept].copy(),
        parents[:kept].copy(),
        changed[:kept].copy(),
        pruned,
        (best, best_parent, best_changed),
    )
