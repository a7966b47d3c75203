"""The exact noise design: floor and distribution of least worst-case distance β_min(t, t)·Ψ, with a certificate.

The floors are split into intervals. Where the bound of an interval is weakest, a floor inside is tried: cutting planes
find the best distribution there or prove that it cannot beat the best so far. The search ends when no interval can
hold anything better than the tolerance, or when its time is over; either way the bound returned holds.
Public arithmetic; costs no privacy. Source: PubMix, Theorem 4.2. Proofs: docs/proofs/noise_design.md.
"""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.privacy.cutting_planes import CuttingPlanes, Minimax
from evomix.privacy.floor_intervals import FloorIntervals, inner_floor
from evomix.privacy.floor_raising import proportional_fill, raise_floor, water_fill
from evomix.privacy.mass_classes import MassClasses
from evomix.privacy.minimax_bounds import BoundPool, explicit_bounds
from evomix.privacy.worst_case import psi_upper

_MOST_CLASSES: Final = 384  # as many different masses are treated one by one
_SIMILAR_CLASSES: Final = 160
_COARSE: Final = 1e-4  # relative gap at a floor that similar masses are worth
_FIRST_TOLERANCE: Final = 1e-2
_FINER: Final = 0.1
_NEGLIGIBLE: Final = 1e-12


@dataclass(frozen=True, slots=True)
class ExactDesign:
    """A distribution, its floor t and β_min(t, t), and how far that can be: β·Ψ, an upper bound."""

    distribution: FloatArray
    floor: float
    weight: float
    objective: float


class ExactSearch:
    """Searches the floors for a design better than a known one, and for the bound that none is below."""

    def __init__(
        self,
        public: FloatArray,
        *,
        proximity: float,
        weight: Callable[[float], float],
        known: Mapping[float, float],
        objective: float,
        tolerance: float,
        time_limit_s: float,
    ) -> None:
        """Prepare the search.

        Args:
            public: (d,) public distribution, d at least 2.
            proximity: γ in [0, 1].
            weight: gives β_min at a floor; above 0.
            known: what it gave already, by floor.
            objective: β·Ψ of the design to be beaten.
            tolerance: relative gap that ends the search.
            time_limit_s: seconds after which the search ends with the gap it has.
        """
        self.design: ExactDesign | None = None
        """The best design found; None: nothing beats the known one."""
        self.lower = 0.0
        """No distribution with any floor searched has a smaller objective."""
        self._public, self._proximity = public, proximity
        self._weight, self._weights = weight, dict(known)
        self._objective, self._tolerance = objective, tolerance
        self._deadline = time.monotonic() + time_limit_s
        self._classes = MassClasses.of(public, most=_MOST_CLASSES, similar=_SIMILAR_CLASSES)
        self._pool = BoundPool()
        ordered = np.sort(public)
        for floor in (0.0, *known):
            self._pool.add(explicit_bounds(ordered, floor=floor, proximity=proximity))
        self._planes = CuttingPlanes(self._classes, proximity=proximity, pool=self._pool)
        self._solved: dict[float, Minimax] = {}
        self._gaps: dict[float, float] = {}

    def among(self, floors: Sequence[float]) -> None:
        """Search the given floors only."""
        for floor in sorted(floors, key=lambda floor: self._weights[floor] * self._pool.at(floor)):
            self._try(floor)
        self.lower = self._least(floors)

    def everywhere(self, start: float) -> None:
        """Search all floors, beginning at ``start``: coarsely first, so that the gap is small early everywhere."""
        wanted, self._tolerance = self._tolerance, max(self._tolerance, _FIRST_TOLERANCE)
        self._try(start)
        intervals = FloorIntervals(self._weights, candidates=self._public.size, pool=self._pool)
        while True:
            self.lower, low, high = intervals.weakest()
            if self._close_enough():
                if self._tolerance == wanted:
                    break
                self._tolerance = max(self._tolerance * _FINER, wanted)
                self._try(start if self.design is None else self.design.floor)
                continue
            floor = inner_floor(low, high)
            if floor is None or time.monotonic() > self._deadline:
                break
            self._weights[floor] = self._weight(floor)
            self._try(floor)
            intervals.split(floor, self._weights[floor])

    def _close_enough(self) -> bool:
        """Return whether the bound meets the objective, or for similar masses what can be proved at single floors."""
        within = self.lower >= self._objective * (1.0 - self._tolerance)
        if within or self._objective - self.lower <= _NEGLIGIBLE:
            return True
        return not self._classes.exact and self.lower >= (1.0 - _COARSE / 2.0) * self._least(self._gaps)

    def _least(self, floors: Iterable[float]) -> float:
        return min((self._weights[floor] * self._pool.at(floor) for floor in floors), default=math.inf)

    def _try(self, floor: float) -> None:
        """Find better noise at a floor, or the proof that there is none worth having."""
        weight = self._weights[floor]
        enough = self._objective * (1.0 - self._tolerance / 2.0) / weight
        if self._pool.at(floor) >= enough:
            return
        start, expected = self._start(floor)
        tolerance = max(self._tolerance * self._objective / (4.0 * weight), expected)
        found = self._planes.solve(floor, start, enough=enough, tolerance=tolerance, deadline=self._deadline)
        self._solved[floor] = found
        lower = self._pool.at(floor)
        if lower < enough:
            self._gaps[floor] = found.upper - lower
        noise = self._classes.expand(found.noise, floor=floor)
        worst = found.upper
        if not self._classes.exact:
            worst = psi_upper(noise, public=self._public, proximity=self._proximity)
        if weight * worst < self._objective:
            self._objective = weight * worst
            self.design = ExactDesign(noise, floor, weight, self._objective)

    def _start(self, floor: float) -> tuple[Minimax, float]:
        """Return the best noise at hand for a floor, and the gap to expect there where masses are only similar.

        At hand are the floor raisings, and between two floors that were solved what lies between their noises.
        """
        noises = [rule(self._public, floor=floor) for rule in (proportional_fill, water_fill, raise_floor)]
        at_hand = [self._classes.means(noise) for noise in noises]
        above = min((t for t in self._solved if t >= floor), default=None)
        below = max((t for t in self._solved if t <= floor), default=None)
        expected = 0.0
        if above is not None and below is not None and above > below:
            part = (floor - below) / (above - below)
            between = (1.0 - part) * self._solved[below].noise + part * self._solved[above].noise
            at_hand.append(np.maximum(between, floor))
            if not self._classes.exact and {above, below} <= set(self._gaps):
                expected = (1.0 - part) * self._gaps[below] + part * self._gaps[above]
        if not self._classes.exact:
            expected = max(expected, _COARSE * self._pool.at(floor))
        cases = [Minimax(noise, self._planes.worst(noise, _NEGLIGIBLE).upper) for noise in at_hand]
        return min(cases, key=lambda case: case.upper), expected
