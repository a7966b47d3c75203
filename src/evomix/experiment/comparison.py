"""Which mechanism serves best, said beforehand and from public data alone.

Three mechanisms at the same (ε, δ), neighbour relation and draws, each forecast on public stand-ins for the private
votes. Forecasts cost no privacy; they are as good as the stand-ins are like the private votes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evomix.experiment.allocation import noise_of
from evomix.experiment.forecast import Forecast, VotesRelease, full_forecast
from evomix.experiment.noise_choice import ChosenNoise, MixtureBudget, designed_choice, uniform_choice
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
        recommended: the one with the least forecast error under the objective; of equals, that which leans least on
            public data.
        finding: what is forecast under the objective, and of what; one sentence.
        reason: ``finding``, and what the other objective would prefer where that is another.
    """

    compared: tuple[Compared, ...]
    recommended: str
    finding: str
    reason: str


def compare(
    budget: MixtureBudget,
    public: PublicVotes,
    *,
    objective: str = "estimate",
    chosen: ChosenNoise | None = None,
    seed: int = 0,
) -> Verdict:
    """Forecast linmix, gaussian and pubmix on public stand-ins, and recommend one.

    Args:
        budget: n, (ε, δ), draws and rounds.
        public: public votes and γ.
        objective: "estimate", which a run goes on with, or "draws": what is to be near the votes.
        chosen: pubmix's noise; by default that of a run, which has the least worst case.
        seed: of the simulation; public randomness.
    """
    mixtures = {
        "linmix": uniform_choice(public.candidates, budget, public),
        "pubmix": designed_choice(budget, public) if chosen is None else chosen,
    }
    stddev = noise_of("gaussian", epsilon=budget.epsilon, delta=budget.delta, rounds=budget.rounds)
    votes = VotesRelease(stddev, budget.round_draws, budget.units)
    found = {
        name: _mixture(name, one, full_forecast(one.release(budget), public, seed=seed))
        for name, one in mixtures.items()
    }
    seen = full_forecast(votes, public, seed=seed)
    found["gaussian"] = Compared("gaussian", None, None, stddev, None, seen.draws_tv, seen.estimate_tv)
    compared = tuple(found[name] for name in PREFERENCE)
    finding = _finding(compared, objective, budget, public)
    other = next(name for name in _WORDS if name != objective)
    best, second = recommend(compared, objective), recommend(compared, other)
    reason = finding if second == best else f"{finding}; for {_WORDS[other]} it would be {second}"
    return Verdict(compared, best, finding, reason)


def recommend(compared: Sequence[Compared], objective: str) -> str:
    """Return the mechanism of least forecast error; of equals the first of :data:`PREFERENCE`."""
    return _equals(compared, objective)[0]


def _equals(compared: Sequence[Compared], objective: str) -> tuple[str, ...]:
    """Return the mechanisms whose forecasts cannot be told from the least, as :data:`PREFERENCE` has them."""
    most = (1.0 + TIE) * min(one.missed(objective) for one in compared)
    equals = {one.mechanism for one in compared if one.missed(objective) <= most}
    return tuple(name for name in PREFERENCE if name in equals)


def _mixture(name: str, chosen: ChosenNoise, seen: Forecast) -> Compared:
    return Compared(
        name, chosen.mixing_weight, chosen.floor, None, chosen.worst_case_tv, seen.draws_tv, seen.estimate_tv
    )


def _finding(compared: Sequence[Compared], objective: str, budget: MixtureBudget, public: PublicVotes) -> str:
    """Return the sentence that says what is forecast, of what, and on which assumption."""
    missed = {one.mechanism: one.missed(objective) for one in compared}
    equals = _equals(compared, objective)
    assumed = " (assumed)" if public.assumed else ""
    draws = {one.mechanism: one.draws_tv for one in compared}
    if objective == "draws" and draws["pubmix"] > (1.0 + TIE) * draws["linmix"]:
        told = f"public data are too far (γ = {public.proximity:.2g}{assumed}) to help the draws; "
    else:
        told = f"if private votes lie about γ = {public.moved_by:.2g}{assumed} from public ones, "
    told += f"{_WORDS[objective]} of {_listed(equals)} should miss "
    told += " and ".join(_percent(missed[name]) for name in equals) + " of the votes"
    others = ", ".join(f"{name} {_percent(missed[name])}" for name in PREFERENCE if name not in equals)
    if len(equals) > 1:
        told += f": a tie, and {equals[0]} leans least on public data"
    told += f"; {others}" if others and len(equals) > 1 else f", {others}" if others else ""
    whole = "one release with the whole budget" if budget.rounds == 1 else f"one of {budget.rounds} alike releases"
    return f"{told} (forecast for {whole}, not for the table)"


def _listed(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"
