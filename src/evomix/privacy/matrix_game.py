"""Zero-sum matrix games whose rows arrive over time: a simplex method that starts where it ended.

The row player maximises. With all payoffs positive, his best mixture is the solution x of ``min Σx`` over ``xM ≥ 1``,
scaled to sum 1, and the column player's is its dual (Dantzig). New rows are new columns of that program, so its last
basis remains feasible and a few pivots suffice. What comes out is only ever used through bounds that are computed
anew from it, so its rounding cannot make them wrong.
"""

import math
import time
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger

from evomix.core.arrays import FloatArray, IntArray

_SHIFT: Final = 2.0  # makes payoffs in (−1, 1] positive; changes no mixture
_PERTURBATION: Final = 1e-8  # of the right-hand side, against cycling
_OPTIMAL: Final = 1e-11
_INFEASIBLE: Final = 1e-9
_PIVOT: Final = 1e-9
_TIE: Final = 1e-11
_REFRESH: Final = 300  # pivots between fresh inverses
_MOST_PIVOTS: Final = 20_000


class MatrixGame:
    """A game with a fixed number of columns; remembers the basis of the last solution."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._basis: IntArray = -1 - np.arange(columns)  # rows of the game, or −1−j for the surplus of column j
        self._inverse, self._real, self._solution = np.zeros((0, 0)), np.zeros(0), np.zeros(0)
        self._pivots = 0  # since the inverse was first computed for these payoffs
        self._right = 1.0 + _PERTURBATION * np.random.default_rng(0).random(columns)

    def solve(self, payoffs: FloatArray, *, again: bool, deadline: float = math.inf) -> tuple[FloatArray, FloatArray]:
        """Return the mixtures of the row and of the column player.

        Args:
            payoffs: (r, c) payoffs in (−1, 1]. Rows of the last call stand first.
            again: the rows of the last call have the payoffs they had.
            deadline: when to stop with mixtures that are not yet the best, as ``time.monotonic`` tells it.
        """
        shifted = payoffs + _SHIFT
        if not (again and self._pivots < _REFRESH):
            self._start(shifted)
        for _ in range(_MOST_PIVOTS):
            prices = self._real @ self._inverse
            gains = shifted @ prices - 1.0
            row, column = int(np.argmax(gains)), int(np.argmin(prices))
            if max(gains[row], -prices[column]) < _OPTIMAL or time.monotonic() > deadline:
                break
            if gains[row] >= -prices[column]:
                entering, change = row, self._inverse @ shifted[row]
            else:
                entering, change = -1 - column, -self._inverse[:, column]
            if not self._pivot(entering, change):
                break
            if self._pivots % _REFRESH == 0:
                self._start(shifted)
        mixture = np.zeros(len(shifted))
        real = self._basis >= 0
        mixture[self._basis[real]] = self._inverse.sum(axis=1)[real]
        return _normalised(mixture), _normalised(self._real @ self._inverse)

    def forget(self, kept: NDArray[np.bool_]) -> None:
        """Renumber the rows after only those of ``kept``, bool (r,), remain; basic rows must."""
        place = np.cumsum(kept) - 1
        real = self._basis >= 0
        self._basis[real] = place[self._basis[real]]

    def basic(self, rows: int) -> NDArray[np.bool_]:
        """Return which of the rows stand in the basis, bool (r,)."""
        inside = np.zeros(rows, dtype=np.bool_)
        inside[self._basis[self._basis >= 0]] = True
        return inside

    def _start(self, shifted: FloatArray) -> None:
        """Keep the last basis if it is feasible, else one row and the surplus of all columns but its least."""
        self._pivots = 0
        if self._set_inverse(shifted) and (self._inverse @ self._right).min() >= -_INFEASIBLE:
            return
        row = int(np.argmax(shifted.min(axis=1)))
        self._basis = -1 - np.arange(self._columns)
        self._basis[int(np.argmax(self._right / shifted[row]))] = row
        self._set_inverse(shifted)

    def _pivot(self, entering: int, change: FloatArray) -> bool:
        """Let a member enter the basis, ``change`` being what it does to the others; return whether one could leave."""
        usable = change > _PIVOT
        ratios = np.where(usable, self._solution / np.where(usable, change, 1.0), np.inf)
        step = float(ratios.min())
        if not np.isfinite(step):
            return False
        leaving = int(np.argmax(np.where(ratios <= step + _TIE, change, 0.0)))  # of ties the steadiest pivot
        self._basis[leaving], self._real[leaving] = entering, float(entering >= 0)
        row = self._inverse[leaving] / change[leaving]
        self._inverse = dger(-1.0, row, change, a=self._inverse.T, overwrite_a=1).T
        self._inverse[leaving] = row
        self._solution -= step * change
        self._solution[leaving] = step
        self._pivots += 1
        return True

    def _set_inverse(self, shifted: FloatArray) -> bool:
        """Compute the basis inverse anew; return whether there is one."""
        try:
            self._inverse = np.ascontiguousarray(np.linalg.inv(_matrix(shifted, self._basis)))
        except np.linalg.LinAlgError:
            return False
        self._real = (self._basis >= 0).astype(np.float64)
        self._solution = np.maximum(self._inverse @ self._right, 0.0)
        return True


def _matrix(shifted: FloatArray, basis: IntArray) -> FloatArray:
    matrix = np.zeros((basis.size, basis.size))
    for place, member in enumerate(basis):
        if member >= 0:
            matrix[:, place] = shifted[member]
        else:
            matrix[-1 - member, place] = -1.0
    return matrix


def _normalised(mixture: FloatArray) -> FloatArray:
    mixture = np.maximum(mixture, 0.0)
    if not mixture.any():  # a basis lost to rounding; any mixture will do, see above
        mixture = np.ones(mixture.size)
    scaled: FloatArray = mixture / mixture.sum()
    return scaled
