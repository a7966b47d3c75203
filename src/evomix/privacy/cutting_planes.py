"""The least worst case at one floor, f(t) = min Ψ(P) over P ≥ t, by cutting planes.

The worst case is a game: we choose P, an opponent the set R from which the private distribution withdraws. The master
plays it with the sets found so far; its mixture of sets certifies a lower bound of f at every floor, and the worst set
against its P (and against points between that P and the best so far) is the next cut, until the bounds meet.
Sets stay valid at all floors, so they are kept from one floor to the next. Public arithmetic; costs no privacy.
Source: PubMix, Theorem 4.2 (the linear program over all sets). Proofs: docs/proofs/noise_design.md.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.privacy.mass_classes import MassClasses
from evomix.privacy.matrix_game import MatrixGame
from evomix.privacy.minimax_bounds import BoundPool, MinimaxBound, bound_of_mixture
from evomix.privacy.worst_case import WorstCase, worst_counts

_STEPS: Final = (0.02, 0.1, 0.5, 1.0)  # from the best noise towards the master's, where sets are sought
_STATES: Final = 2048
_PATIENCE: Final = 40  # rounds of cuts, after which the gap must have shrunk
_SHRUNK: Final = 0.98


@dataclass(frozen=True, slots=True)
class Minimax:
    """Noise at a floor, by classes, and an upper bound of its worst case there."""

    noise: FloatArray
    upper: float


class CuttingPlanes:
    """Cuts found so far, and the bounds they proved."""

    def __init__(self, classes: MassClasses, *, proximity: float, pool: BoundPool) -> None:
        self._classes, self._proximity, self._pool = classes, proximity, pool
        self._candidates = int(classes.count.sum())
        self._above = np.cumsum(classes.count[::-1])[::-1]  # candidates in a class and all of larger mass
        self._game = MatrixGame(classes.count.size)
        columns = classes.count.size
        self._sets: list[IntArray] = []
        self._known: set[bytes] = set()
        self._covered, self._sizes, self._overflow = np.zeros((0, columns)), np.zeros(0), np.zeros(0)
        self._useful = np.zeros(0, dtype=np.bool_)

    def add(self, sets: Iterable[IntArray]) -> int:
        """Take sets, given by counts, into the master; return how many were new."""
        new = []
        for counts in sets:
            key = counts.tobytes()
            if key not in self._known and 0 < counts.sum() < self._candidates:
                self._known.add(key)
                new.append(counts)
        if new:
            rows = np.stack(new)
            self._covered = np.vstack((self._covered, np.cumsum(rows[:, ::-1], axis=1)[:, ::-1] / self._above))
            self._sizes = np.append(self._sizes, rows.sum(axis=1))
            overflow = [self._classes.overflow(counts, proximity=self._proximity) for counts in new]
            self._overflow = np.append(self._overflow, overflow)
            self._useful = np.append(self._useful, np.zeros(len(new), dtype=np.bool_))
            self._sets += new
        return len(new)

    def solve(self, floor: float, start: Minimax, *, enough: float, tolerance: float, deadline: float) -> Minimax:
        """Return better noise than ``start`` and leave the bounds that prove how good it is in the pool.

        Ends when the best is within ``tolerance`` of the bound, when the bound exceeds ``enough``, when nothing new
        is found, or at the ``deadline`` (as ``time.monotonic`` tells it).

        Args:
            floor: t.
            start: noise with all masses at least t.
            enough: a bound that makes this floor uninteresting.
            tolerance: absolute.
            deadline: seconds.
        """
        best, lower = start, self._pool.at(floor)
        gaps: list[float] = []
        proved: list[MinimaxBound] = []
        self.add([self.worst(start.noise, tolerance).counts])
        if not self._useful.any():
            floored = start.noise <= floor
            self.add(self._classes.arcs(floored, proximity=self._proximity, number=floored.size))
        while True:
            gaps.append(best.upper - lower)
            stalled = len(gaps) > _PATIENCE and gaps[-1] > _SHRUNK * gaps[-_PATIENCE]
            if gaps[-1] <= tolerance or lower >= enough or stalled or time.monotonic() > deadline:
                break
            noise, bound = self._master(floor, again=len(gaps) > 1, deadline=deadline)
            if bound.at(floor) > lower:
                proved, lower = [bound], bound.at(floor)
            best, found = self._separated(best, noise, 0.05 * tolerance)
            if not self.add(found):
                break
        self._pool.add(proved)
        self._tidy()
        return best

    def worst(self, noise: FloatArray, tolerance: float) -> WorstCase:
        """Return the worst case of noise by classes."""
        classes = self._classes
        return worst_counts(
            noise,
            classes.mass,
            classes.count,
            proximity=self._proximity,
            tolerance=tolerance,
            most_states=_STATES,
        )

    def _master(self, floor: float, *, again: bool, deadline: float) -> tuple[FloatArray, MinimaxBound]:
        """Play the game with the sets at hand; return our noise and the bound that the opponent's mixture proves."""
        spare = 1.0 - self._candidates * floor
        payoffs = spare * self._covered + (floor * self._sizes - self._overflow)[:, None]
        sets, tops = self._game.solve(payoffs, again=again, deadline=deadline)
        self._useful |= sets > 0.0
        bound = bound_of_mixture(sets, self._covered, self._sizes, self._overflow, self._candidates)
        return floor + spare * np.cumsum(tops / self._above), bound

    def _separated(self, best: Minimax, noise: FloatArray, tolerance: float) -> tuple[Minimax, list[IntArray]]:
        """Return the best of the noises on the way to ``noise``, and a worst set against each."""
        found, center = [], best.noise
        for step in _STEPS:
            between = center + step * (noise - center)
            case = self.worst(between, tolerance)
            found.append(case.counts)
            if case.upper < best.upper:
                best = Minimax(between, case.upper)
        return best, found

    def _tidy(self) -> None:
        """Forget sets that no mixture has used, so that the master stays small from floor to floor."""
        kept = self._useful | self._game.basic(self._useful.size)
        self._game.forget(kept)
        self._covered, self._sizes, self._overflow = self._covered[kept], self._sizes[kept], self._overflow[kept]
        self._useful = self._useful[kept]
        self._sets = [counts for counts, stays in zip(self._sets, kept, strict=True) if stays]
        self._known = {counts.tobytes() for counts in self._sets}
