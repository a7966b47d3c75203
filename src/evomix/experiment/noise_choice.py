"""The noise distribution of a planned mixture: of least worst case, or of least error after denoising.

Public arithmetic; costs no privacy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.experiment.forecast import MixtureRelease, forecast, uniform_noise
from evomix.experiment.stand_ins import MOST_STAND_INS, PublicVotes, StandIn
from evomix.privacy.calibration import mixing_weight
from evomix.privacy.floor_raising import proportional_fill, raise_floor, water_fill
from evomix.privacy.mechanisms.linmix import uniform_mass
from evomix.privacy.noise_design import conform, design_noise
from evomix.privacy.worst_case import psi_upper

OBJECTIVES: Final = ("draws", "estimate")
"""What a plan may ask of the noise: draws that are near the votes, or a denoised estimate that is."""
_PARTS: Final = (0.03, 0.1, 0.3, 0.6)
"""Floors that are tried for the estimate, as parts of 1/d; 1 is the uniform distribution, which is tried too."""
WORTH: Final = 0.05
"""Gain on stand-ins, as a part of the least forecast, from which noise for the estimate leaves a higher floor. Smaller
ones did not last on private votes (benchmarks/planner.py)."""
_ROUGH_PARTS: Final = (0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0)
_SIMULATIONS: Final = 16
_RULES: Final = {"proportional_fill": proportional_fill, "water_fill": water_fill, "raise_floor": raise_floor}


@dataclass(frozen=True, slots=True)
class MixtureBudget:
    """What fixes β at a floor.

    Attributes:
        n: private units.
        epsilon, delta: the budget (replace-one).
        draws: draws over all rounds.
        rounds: T.
    """

    n: int
    epsilon: float
    delta: float
    draws: int
    rounds: int

    @property
    def units(self) -> int:
        """n, as the account wants it: at least 1."""
        return max(self.n, 1)

    @property
    def round_draws(self) -> int:
        """Draws of one round, at least 1."""
        return max(self.draws // self.rounds, 1)

    def weight(self, floor: float) -> float:
        """Return β_min at a floor."""
        return mixing_weight(self.epsilon, self.delta, n=self.units, draws=self.draws, floor=floor)


@dataclass(frozen=True, slots=True)
class ChosenNoise:
    """A noise distribution for d candidates.

    Attributes:
        floor, mixing_weight: t and β.
        worst_case_tv: β·Ψ over the votes within γ of the public ones (over all votes, without public data).
        noise: gives the distribution, float64 (d,), for a stand-in's public votes.
    """

    floor: float
    mixing_weight: float
    worst_case_tv: float
    noise: Callable[[StandIn], FloatArray]

    def release(self, budget: MixtureBudget) -> MixtureRelease:
        """Return what one round releases."""
        return MixtureRelease(self.mixing_weight, budget.round_draws, budget.units, self.noise)


def uniform_choice(candidates: int, budget: MixtureBudget, public: PublicVotes | None) -> ChosenNoise:
    """Return LinMix's noise; its worst case is judged within γ of the public votes, where there are any."""
    floor = uniform_mass(candidates)
    weight = budget.weight(floor)
    return ChosenNoise(floor, weight, weight * uniform_distance(candidates, public), uniform_noise)


def uniform_distance(candidates: int, public: PublicVotes | None) -> float:
    """Return Ψ of uniform noise: over the votes within γ of the public ones, or over all votes without any."""
    if public is None:
        return 1.0 - 1.0 / candidates
    even = np.full(candidates, 1.0 / candidates)
    return psi_upper(even, public=public.pooled, proximity=public.proximity)


def designed_choice(budget: MixtureBudget, public: PublicVotes, *, rough: bool = False) -> ChosenNoise:
    """Return PubMix's noise: the least worst case β·Ψ.

    Args:
        budget: what fixes β at a floor.
        public: public votes and γ.
        rough: whether a few floors do, for a curve of many designs; the result is private and at most somewhat worse.
    """
    if public.candidates == 1:
        return uniform_choice(1, budget, public)
    floors = [part * uniform_mass(public.candidates) for part in _ROUGH_PARTS]
    design = design_noise(
        public.pooled,
        proximity=public.proximity,
        epsilon=budget.epsilon,
        delta=budget.delta,
        n=budget.units,
        draws=budget.draws,
        floors=floors if rough else None,
    )

    def noise(stand_in: StandIn) -> FloatArray:
        assert stand_in.public is not None
        return conform(stand_in.public, floor=design.floor, proximity=public.proximity)

    return ChosenNoise(design.floor, design.mixing_weight, design.objective, noise)


def estimating_choice(budget: MixtureBudget, public: PublicVotes, *, rough: bool = False, seed: int = 0) -> ChosenNoise:
    """Return the noise whose denoised estimate is forecast to miss least, among floors and floor raisings.

    The estimate's squared error goes with 1/(m(1−β)²), which is least for uniform noise, so the choice is near that or
    is it: of forecasts that are about equal the highest floor is taken.

    Args:
        budget: what fixes β at a floor.
        public: public votes and γ.
        rough: whether one floor raising and few simulations do, for a curve of many choices.
        seed: of the simulation; public randomness.
    """
    if public.candidates == 1:
        return uniform_choice(1, budget, public)
    stand_ins = public.stand_ins(np.random.default_rng(seed), most=2 if rough else MOST_STAND_INS)
    options = [uniform_choice(public.candidates, budget, public)]
    for part in sorted(_PARTS, reverse=True):
        floor = part * uniform_mass(public.candidates)
        options += [_raised(rule, floor, budget, public) for rule in list(_RULES)[: 1 if rough else None]]
    repeats = 1 if rough else max(_SIMULATIONS // len(stand_ins), 1)
    missed = [forecast(one.release(budget), stand_ins, repeats=repeats, seed=seed).estimate_tv for one in options]
    return next(one for one, tv in zip(options, missed, strict=True) if tv <= (1.0 + WORTH) * min(missed))


def choose_noise(budget: MixtureBudget, public: PublicVotes, objective: str, *, rough: bool = False) -> ChosenNoise:
    """Return PubMix's noise under an objective of :data:`OBJECTIVES`.

    Args:
        budget: what fixes β at a floor.
        public: public votes and γ.
        objective: "draws" or "estimate".
        rough: for a curve of many points: fewer floors, fewer simulations.
    """
    if objective == "draws":
        return designed_choice(budget, public, rough=rough)
    return estimating_choice(budget, public, rough=rough)


def check_objective(objective: str) -> None:
    """Raise ``SpecError`` unless ``objective`` is one of :data:`OBJECTIVES`."""
    if objective not in OBJECTIVES:
        raise SpecError(f"objective must be one of {', '.join(OBJECTIVES)}; found objective={objective!r}")


def _raised(rule: str, floor: float, budget: MixtureBudget, public: PublicVotes) -> ChosenNoise:
    raise_to = _RULES[rule]
    weight = budget.weight(floor)
    psi = psi_upper(raise_to(public.pooled, floor=floor), public=public.pooled, proximity=public.proximity)

    def noise(stand_in: StandIn) -> FloatArray:
        assert stand_in.public is not None
        return raise_to(stand_in.public, floor=floor)

    return ChosenNoise(floor, weight, weight * psi, noise)
