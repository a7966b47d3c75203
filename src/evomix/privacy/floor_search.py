"""The search over floors: where the least worst-case distance β_min(t, t)·Ψ lies.

β is the expensive part and is computed once per floor. Public arithmetic; costs no privacy.
Source: PubMix, Remark 4.5; proof of the lower bound: docs/proofs/noise_design.md.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.privacy.calibration import GRID
from evomix.privacy.floor_intervals import ACCOUNTED, FloorIntervals, inner_floor
from evomix.privacy.floor_raising import proportional_fill, raise_floor, water_fill
from evomix.privacy.minimax_bounds import BoundPool, explicit_bounds
from evomix.privacy.worst_case import psi_upper

# In order of preference where the worst case is equal: a like share of every large mass distorts none much.
RULES: Final[dict[str, Callable[..., FloatArray]]] = {
    "proportional_fill": proportional_fill,
    "water_fill": water_fill,
    "raise_floor": raise_floor,
}
"""Floor raisings by name, called as ``rule(p, floor=t)``."""

_SCAN: Final = 14
_REFINE: Final = 9
_SPLITS: Final = 24  # more floors, of which only β is computed, for the lower bound
_GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0
_ROUNDING: Final = 1e-12
_NEGLIGIBLE: Final = 1e-3  # raising everything to max(γ, _NEGLIGIBLE)·_NEGLIGIBLE/d moves at most that part


def best_raising(public: FloatArray, *, floor: float, proximity: float) -> tuple[str, FloatArray, float]:
    """Return the floor raising of least worst case at ``floor``: its name, the distribution, and Ψ's upper bound."""
    raised = {name: rule(public, floor=floor) for name, rule in RULES.items()}
    worst = {name: psi_upper(noise, public=public, proximity=proximity) for name, noise in raised.items()}
    least = min(worst.values())
    name = next(name for name in RULES if worst[name] <= least + _ROUNDING)
    return name, raised[name], worst[name]


@dataclass(frozen=True, slots=True)
class Trial:
    """One floor t, its β, the best rule there and their worst-case distance β·Ψ."""

    floor: float
    weight: float
    objective: float
    rule: str

    def raised(self, public: FloatArray) -> FloatArray:
        """Return the noise distribution of this trial."""
        if self.rule == "uniform":
            return np.full(public.size, 1.0 / public.size)
        return RULES[self.rule](public, floor=self.floor)


class FloorSearch:
    """Tries floors for a public distribution; ``weight`` gives β_min at a floor and must not rise with it."""

    def __init__(self, public: FloatArray, *, proximity: float, weight: Callable[[float], float]) -> None:
        self._public = np.sort(public)  # sorted once, every later sort is cheap
        self._proximity = proximity
        self._weight = weight
        # The largest floor that integer weights can give (½ for a single candidate, whose release says nothing).
        self._highest = (GRID // max(public.size, 2)) / GRID
        self._trials: dict[float, Trial] = {}

    def among(self, floors: Sequence[float]) -> Trial:
        """Return the best trial among ``floors``, each rounded down to a multiple of 2⁻⁵³.

        Raises:
            SpecError: there is none, or one lies outside (0, 1/d].
        """
        size = self._public.size
        wrong = [floor for floor in floors if not 0.0 < floor <= (1.0 + 1e-12) / size]
        if wrong or not len(floors):
            raise SpecError(f"floors must lie in (0, 1/d] for d={size}, found floors={list(floors)}")
        return self._best_of([self._on_grid(floor) for floor in floors])

    def best(self) -> Trial:
        """Scan the floors on a logarithmic grid up to 1/d, then refine around the best of them."""
        negligible = _NEGLIGIBLE * max(self._proximity, _NEGLIGIBLE) / self._public.size
        lowest = min(max(float(self._public[0]), negligible), self._highest)  # raising to p's own minimum is free
        grid = sorted({self._on_grid(floor) for floor in np.geomspace(lowest, self._highest, _SCAN)})
        place = grid.index(self._best_of(grid).floor)
        self._refine(math.log(grid[max(place - 1, 0)]), math.log(grid[min(place + 1, len(grid) - 1)]))
        return self._best_of(list(self._trials))

    @property
    def weights(self) -> dict[float, float]:
        """Return the mixing weights found so far, by floor."""
        return {floor: trial.weight for floor, trial in self._trials.items()}

    def lower_bound(self, *, continuous: bool) -> float:
        """Return a value that no distribution with a floor among those tried (continuous: with any floor) beats.

        For any floor, intervals between the floors tried are split a few times more, where the bound is weakest.
        """
        trials = self._trials
        objective = min(trial.objective for trial in trials.values())
        if objective == 0.0:
            return 0.0
        pool = BoundPool()
        for floor in [*trials, 0.0] if continuous else trials:
            pool.add(explicit_bounds(self._public, floor=floor, proximity=self._proximity))
        if continuous:
            lower = self._over_all_floors(objective, pool)
        else:
            lower = min(trial.weight * pool.at(floor) for floor, trial in trials.items())
        return min(lower * ACCOUNTED, objective)  # the latter only cuts rounding

    def _over_all_floors(self, objective: float, pool: BoundPool) -> float:
        intervals = FloorIntervals(self.weights, candidates=self._public.size, pool=pool)
        for _ in range(_SPLITS):
            lower, low, high = intervals.weakest()
            floor = inner_floor(low, high)
            if floor is None or lower >= objective:
                break
            intervals.split(floor, self._weight(floor))
        return intervals.weakest()[0]

    def _best_of(self, floors: list[float]) -> Trial:
        """Return the trial of least objective, of equal ones the one with the highest floor."""
        return min((self._trial(floor) for floor in floors), key=lambda trial: (trial.objective, -trial.floor))

    def _on_grid(self, floor: float) -> float:
        return min(max(math.floor(floor * GRID), 1) / GRID, self._highest)

    def _refine(self, low: float, high: float) -> None:
        """Golden section over the logarithm of the floor."""
        if low >= high:
            return
        inner = [high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)]
        values = [self._objective(x) for x in inner]
        for _ in range(_REFINE - 2):
            if values[0] <= values[1]:
                high, inner[1], values[1] = inner[1], inner[0], values[0]
                inner[0] = high - _GOLDEN * (high - low)
                values[0] = self._objective(inner[0])
            else:
                low, inner[0], values[0] = inner[0], inner[1], values[1]
                inner[1] = low + _GOLDEN * (high - low)
                values[1] = self._objective(inner[1])

    def _objective(self, log_floor: float) -> float:
        return self._trial(self._on_grid(math.exp(log_floor))).objective

    def _trial(self, floor: float) -> Trial:
        if floor not in self._trials:
            if floor == self._highest:
                rule, noise = "uniform", np.full(self._public.size, 1.0 / self._public.size)
                worst = psi_upper(noise, public=self._public, proximity=self._proximity)
            else:
                rule, _, worst = best_raising(self._public, floor=floor, proximity=self._proximity)
            weight = self._weight(floor)
            self._trials[floor] = Trial(floor, weight, weight * worst, rule)
        return self._trials[floor]
