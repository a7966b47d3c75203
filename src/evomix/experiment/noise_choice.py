"""The noise distribution of a planned mixture: of least worst case, or of least error after denoising.

Public arithmetic; costs no privacy.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.experiment.forecast import MixtureRelease, forecast, simulations, uniform_noise
from evomix.experiment.stand_ins import MOST_STAND_INS, PublicVotes, StandIn
from evomix.privacy.calibration import mixing_weight
from evomix.privacy.floor_raising import proportional_fill, raise_floor, water_fill
from evomix.privacy.floor_search import FloorSearch, best_raising
from evomix.privacy.mechanisms.linmix import uniform_mass
from evomix.privacy.noise_design import conform
from evomix.privacy.worst_case import psi_upper

OBJECTIVES: Final = ("draws", "estimate")
"""What a plan may ask of the noise: draws that are near the votes, or a denoised estimate that is."""
_PARTS: Final = (0.03, 0.1, 0.3, 0.6)
"""Floors that are tried for the estimate, as parts of 1/d; 1 is the uniform distribution, which is tried too."""
WORTH: Final = 0.05
"""Gain on stand-ins, as a part of the least forecast, from which noise for the estimate leaves a higher floor. Smaller
ones did not last on private votes (benchmarks/planner.py)."""
_ROUGH_PARTS: Final = (0.01, 0.03, 0.1, 0.2, 0.4, 0.7)
"""Floors of a rough design, as parts of 1/d; besides them, 1 and the least public vote."""
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


@dataclass(frozen=True, slots=True)
class NoiseOption:
    """A noise distribution before there is a budget: what does not depend on β.

    Attributes:
        floor: t.
        worst_case: Ψ.
        noise: as in :class:`ChosenNoise`.
    """

    floor: float
    worst_case: float
    noise: Callable[[StandIn], FloatArray]

    def at(self, budget: MixtureBudget) -> ChosenNoise:
        """Return the noise with the least β that a budget needs at its floor."""
        weight = budget.weight(self.floor)
        return ChosenNoise(self.floor, weight, weight * self.worst_case, self.noise)


def uniform_choice(candidates: int, budget: MixtureBudget, public: PublicVotes | None) -> ChosenNoise:
    """Return LinMix's noise; its worst case is judged within γ of the public votes, where there are any."""
    return _uniform(candidates, public).at(budget)


def uniform_distance(candidates: int, public: PublicVotes | None) -> float:
    """Return Ψ of uniform noise: over the votes within γ of the public ones, or over all votes without any."""
    if public is None:
        return 1.0 - 1.0 / candidates
    even = np.full(candidates, 1.0 / candidates)
    return psi_upper(even, public=public.pooled, proximity=public.proximity)


def designed_choice(budget: MixtureBudget, public: PublicVotes) -> ChosenNoise:
    """Return PubMix's noise: the least worst case β·Ψ, as :func:`evomix.privacy.noise_design.design_noise` has it."""
    if public.candidates == 1:
        return uniform_choice(1, budget, public)
    pooled = public.pooled
    search = FloorSearch(pooled, proximity=public.proximity, weight=budget.weight)
    # Where anything may lie within γ, uniform noise is best, and there is nothing to search.
    best = search.among([1.0 / public.candidates]) if public.proximity >= 1.0 else search.best()
    noise = _conformed(public, best.floor, best.raised(pooled))
    return ChosenNoise(best.floor, best.weight, best.objective, noise)


def estimating_choice(budget: MixtureBudget, public: PublicVotes, *, seed: int = 0) -> ChosenNoise:
    """Return the noise whose denoised estimate is forecast to miss least, among floors and floor raisings.

    The estimate's squared error goes with 1/(m(1−β)²), which is least for uniform noise, so the choice is near that or
    is it: of forecasts that are about equal the highest floor is taken.

    Args:
        budget: what fixes β at a floor.
        public: public votes and γ.
        seed: of the simulation; public randomness.
    """
    if public.candidates == 1:
        return uniform_choice(1, budget, public)
    runs = simulations(public.candidates)
    stand_ins = public.stand_ins(np.random.default_rng(seed), most=min(runs, MOST_STAND_INS))
    chosen = [option.at(budget) for option in _for_the_estimate(public, tuple(_RULES))]
    return _of_least_error(chosen, budget, stand_ins, repeats=max(runs // len(stand_ins), 1), seed=seed)


class RoughNoise:
    """PubMix's noise at any budget, chosen among a few floors: for a curve, where each d has many budgets.

    Private as any other, and at most somewhat worse than :func:`choose_noise`, which tries more floors.

    Args:
        public: public votes and γ.
        objective: of :data:`OBJECTIVES`.
        stand_ins: what the estimate is forecast on.
    """

    def __init__(self, public: PublicVotes, objective: str, stand_ins: Sequence[StandIn]) -> None:
        self._objective, self._stand_ins = objective, stand_ins
        if public.candidates == 1:
            self._options = [_uniform(1, public)]
        elif objective == "draws":
            self._options = list(_of_least_worst_case(public))
        else:
            self._options = list(_for_the_estimate(public, ("proportional_fill",)))

    def at(self, budget: MixtureBudget) -> ChosenNoise:
        """Return the choice at a budget."""
        chosen = [option.at(budget) for option in self._options]
        if self._objective == "draws":
            return min(chosen, key=lambda one: (one.worst_case_tv, -one.floor))
        return _of_least_error(chosen, budget, self._stand_ins, repeats=1, seed=0)


def choose_noise(budget: MixtureBudget, public: PublicVotes, objective: str) -> ChosenNoise:
    """Return PubMix's noise under an objective of :data:`OBJECTIVES`.

    Args:
        budget: what fixes β at a floor.
        public: public votes and γ.
        objective: "draws" or "estimate".
    """
    return designed_choice(budget, public) if objective == "draws" else estimating_choice(budget, public)


def check_objective(objective: str) -> None:
    """Raise ``SpecError`` unless ``objective`` is one of :data:`OBJECTIVES`."""
    if objective not in OBJECTIVES:
        raise SpecError(f"objective must be one of {', '.join(OBJECTIVES)}; found objective={objective!r}")


def _uniform(candidates: int, public: PublicVotes | None) -> NoiseOption:
    return NoiseOption(uniform_mass(candidates), uniform_distance(candidates, public), uniform_noise)


def _of_least_worst_case(public: PublicVotes) -> Iterator[NoiseOption]:
    """Yield the best raising at a few floors, and the uniform distribution.

    The least public vote is a floor too, where it is above 0: there the public votes serve as they are.
    """
    pooled = public.pooled
    even = uniform_mass(public.candidates)
    yield _uniform(public.candidates, public)
    least = min(float(pooled.min()), even)
    for floor in sorted({*(part * even for part in _ROUGH_PARTS), *([least] if least > 0.0 else [])}):
        _, raised, worst = best_raising(pooled, floor=floor, proximity=public.proximity)
        yield NoiseOption(floor, worst, _conformed(public, floor, raised))


def _for_the_estimate(public: PublicVotes, rules: Sequence[str]) -> Iterator[NoiseOption]:
    """Yield the uniform distribution, then raisings by each rule from the highest floor down."""
    pooled = public.pooled
    yield _uniform(public.candidates, public)
    for part in sorted(_PARTS, reverse=True):
        floor = part * uniform_mass(public.candidates)
        for raise_to in (_RULES[rule] for rule in rules):
            raised = raise_to(pooled, floor=floor)
            worst = psi_upper(raised, public=pooled, proximity=public.proximity)
            noise = _each_once(public, partial(raise_to, floor=floor), raised)
            yield NoiseOption(floor, worst, noise)


def _of_least_error(
    chosen: Sequence[ChosenNoise], budget: MixtureBudget, stand_ins: Sequence[StandIn], *, repeats: int, seed: int
) -> ChosenNoise:
    """Return the first whose estimate is forecast to miss about as little as any."""
    missed = [forecast(one.release(budget), stand_ins, repeats=repeats, seed=seed).estimate_tv for one in chosen]
    return next(one for one, tv in zip(chosen, missed, strict=True) if tv <= (1.0 + WORTH) * min(missed))


def _conformed(public: PublicVotes, floor: float, pooled: FloatArray) -> Callable[[StandIn], FloatArray]:
    return _each_once(public, partial(conform, floor=floor, proximity=public.proximity), pooled)


def _each_once(
    public: PublicVotes, make: Callable[[FloatArray], FloatArray], pooled: FloatArray
) -> Callable[[StandIn], FloatArray]:
    """Return what gives the noise beside a stand-in, made anew only where its public votes are others than before.

    Args:
        public: public votes; of a single histogram, every stand-in has that one beside it.
        make: gives noise for public votes.
        pooled: the noise for the pooled votes.
    """
    known = (public.histograms[0], pooled) if len(public.histograms) == 1 else None

    def noise(stand_in: StandIn) -> FloatArray:
        nonlocal known
        beside = stand_in.public
        assert beside is not None
        if known is None or known[0] is not beside:
            known = (beside, make(beside))
        return known[1]

    return noise
