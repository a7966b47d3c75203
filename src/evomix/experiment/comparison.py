"""Which mechanism serves best, said beforehand and from public data alone.

Three mechanisms at the same (ε, δ), neighbour relation and draws, each forecast on public stand-ins for the private
votes. Forecasts cost no privacy; they are as good as the stand-ins are like the private votes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.experiment.allocation import noise_of
from evomix.experiment.forecast import Forecast, VotesRelease, forecast
from evomix.experiment.noise_choice import ChosenNoise, MixtureBudget, choose_noise, simulations, uniform_choice
from evomix.experiment.stand_ins import PublicVotes

PREFERENCE: Final = ("linmix", "gaussian", "pubmix")
"""Of equals the one that leans least on public data."""
TIE: Final = 0.02
"""Forecasts this near, as a part of the least, count as equal: they hold simulation noise."""
_WORDS: Final = {"draws": "the draws of a round", "estimate": "the denoised estimate"}


@dataclass(frozen=True, slots=True)
class Compared:
    """What one mechanism would do.

    Attributes:
        mechanism: pubmix, linmix or gaussian.
        mixing_weight: β of the mixtures.
        floor: t of the mixtures.
        noise_scale: σ of the noise on a vote (gaussian), in units.
        worst_case_tv: β·Ψ over all votes within γ of the public ones (mixtures; noisy votes have no such bound).
        draws_tv: expected total variation of a round's draws from the votes.
        estimate_tv: the same for the denoised estimate that a run goes on with.
    """

    mechanism: str
    mixing_weight: float | None
    floor: float | None
    noise_scale: float | None
    worst_case_tv: float | None
    draws_tv: float
    estimate_tv: float

    def missed(self, objective: str) -> float:
        """Return the forecast of an objective, "draws" or "estimate"."""
        return self.draws_tv if objective == "draws" else self.estimate_tv


@dataclass(frozen=True, slots=True)
class Verdict:
    """The mechanisms side by side.

    Attributes:
        compared: linmix, gaussian, pubmix.
        recommended: the one with the least forecast error under the objective.
        reason: one sentence.
    """

    compared: tuple[Compared, ...]
    recommended: str
    reason: str


def compare(
    budget: MixtureBudget,
    public: PublicVotes,
    *,
    objective: str = "draws",
    chosen: ChosenNoise | None = None,
    seed: int = 0,
) -> Verdict:
    """Forecast linmix, gaussian and pubmix on public stand-ins, and recommend one.

    Args:
        budget: n, (ε, δ), draws and rounds.
        public: public votes and γ.
        objective: "draws" or "estimate": what is to be near the votes.
        chosen: pubmix's noise under the objective, if it is known.
        seed: of the simulation; public randomness.
    """
    stand_ins = public.stand_ins(np.random.default_rng(seed))
    repeats = max(simulations(public.candidates) // len(stand_ins), 1)
    mixtures = {
        "linmix": uniform_choice(public.candidates, budget, public),
        "pubmix": choose_noise(budget, public, objective) if chosen is None else chosen,
    }
    stddev = noise_of("gaussian", epsilon=budget.epsilon, delta=budget.delta, rounds=budget.rounds)
    votes = VotesRelease(stddev, budget.round_draws, budget.units)
    found = {
        name: _mixture(name, one, forecast(one.release(budget), stand_ins, repeats=repeats, seed=seed))
        for name, one in mixtures.items()
    }
    seen = forecast(votes, stand_ins, repeats=repeats, seed=seed)
    found["gaussian"] = Compared("gaussian", None, None, stddev, None, seen.draws_tv, seen.estimate_tv)
    compared = tuple(found[name] for name in PREFERENCE)
    return Verdict(compared, recommend(compared, objective), _reason(compared, objective, public.proximity))


def recommend(compared: Sequence[Compared], objective: str) -> str:
    """Return the mechanism of least forecast error; of equals the first of :data:`PREFERENCE`."""
    least = min(one.missed(objective) for one in compared)
    equals = {one.mechanism for one in compared if one.missed(objective) <= (1.0 + TIE) * least}
    return next(name for name in PREFERENCE if name in equals)


def _mixture(name: str, chosen: ChosenNoise, seen: Forecast) -> Compared:
    return Compared(
        name, chosen.mixing_weight, chosen.floor, None, chosen.worst_case_tv, seen.draws_tv, seen.estimate_tv
    )


def _reason(compared: Sequence[Compared], objective: str, proximity: float) -> str:
    """Return the sentence that says why."""
    by_name = {one.mechanism: one for one in compared}
    best = recommend(compared, objective)
    others = ", ".join(f"{name} {_percent(by_name[name].missed(objective))}" for name in PREFERENCE if name != best)
    linmix, pubmix = by_name["linmix"].missed("draws"), by_name["pubmix"].missed("draws")
    if objective == "draws" and pubmix > (1.0 + TIE) * linmix:
        told = f"public data are too far (γ = {proximity:.2g}) to help the draws; "
    else:
        told = f"if private votes lie about γ = {proximity:.2g} from public ones, "
    least = _percent(by_name[best].missed(objective))
    told += f"{_WORDS[objective]} of {best} should miss {least} of the votes, {others}"
    other = next(name for name in _WORDS if name != objective)
    second = recommend(compared, other)
    if second != best:
        told += f"; for {_WORDS[other]} it would be {second} ({_percent(by_name[second].missed(other))})"
    return told


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"
