"""The trade-off of a mixture: more draws and more candidates show more, and more of what is drawn is noise.

Public arithmetic and simulation on public stand-ins; costs no privacy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from evomix.experiment.forecast import Forecast, forecast, full_forecast
from evomix.experiment.noise_choice import ChosenNoise, MixtureBudget, RoughNoise, choose_noise, uniform_choice
from evomix.experiment.stand_ins import PublicVotes, StandIn, falling_votes
from evomix.privacy.hockey_stick import MAX_DRAWS

RESOLUTIONS: Final = (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
"""Numbers of candidates of the curve, below the plan's own."""
BEYOND: Final = 20_000
"""Most candidates of the curve where no public histogram limits them."""
PARTS: Final = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Draws of the curve, as parts of the plan's own."""
_STAND_INS: Final = 2
_MANY: Final = 20_000
"""Candidates above which one stand-in does: a mean over so many scatters little."""


@dataclass(frozen=True, slots=True)
class TradeOff:
    """A point of the curve.

    Attributes:
        draws: draws over all rounds.
        candidates: d.
        mixing_weight: β, the share of noise in a draw.
        floor: t.
        worst_case_tv: β·Ψ, largest total variation between release law and votes that public data allow.
        effective_draws: M·(1−β)², noise-free draws that would tell as much.
        estimate_tv: expected total variation between the denoised estimate of one round and the votes at this d, on
            public stand-ins; without public data on votes that fall off as 1/rank. At the plan's own point with public
            data it is that of the comparison, at the others a rougher one.
    """

    draws: int
    candidates: int
    mixing_weight: float
    floor: float
    worst_case_tv: float
    effective_draws: float
    estimate_tv: float


def trade_off(
    budget: MixtureBudget,
    candidates: int,
    *,
    public: PublicVotes | None,
    shaped: bool = True,
    objective: str = "draws",
    most: float = np.inf,
    chosen: ChosenNoise | None = None,
) -> tuple[TradeOff, ...]:
    """Return the curve over draws × candidates, by candidates, then draws.

    Args:
        budget: the plan's n, (ε, δ), draws and rounds.
        candidates: the plan's d.
        public: public votes, coarsened by joining neighbours to fewer candidates; forecasts and worst cases are theirs.
        shaped: whether public votes set the noise (pubmix); else, and without any, it is uniform (linmix).
        objective: as in :func:`evomix.experiment.noise_choice.choose_noise`. The noise is chosen roughly but for the
            plan's own point.
        most: number of possible records.
        chosen: the noise of the plan's own point, if it is known.
    """
    draws = sorted({min(max(round(part * budget.draws), budget.rounds), MAX_DRAWS) for part in PARTS})
    limit = public.candidates if public is not None else min(max(candidates, BEYOND), most)
    own = min(candidates, public.candidates) if public is not None else candidates
    sizes = sorted({size for size in RESOLUTIONS if size <= limit} | {own})
    budgets = [replace(budget, draws=count) for count in draws]
    found = []
    for size in sizes:
        stand_ins, choose = _at_resolution(size, public, objective if shaped else None)
        for one in budgets:
            if public is None or (size, one) != (own, budget):
                noise = choose(one)
                found.append(_point(one, size, noise, forecast(noise.release(one), stand_ins)))
                continue
            coarse = public.coarsened(size)
            if not shaped:
                chosen = choose(one)
            noise = choose_noise(one, coarse, objective) if chosen is None else chosen
            found.append(_point(one, size, noise, full_forecast(noise.release(one), coarse)))
    return tuple(found)


def _at_resolution(
    size: int, public: PublicVotes | None, objective: str | None
) -> tuple[Sequence[StandIn], Callable[[MixtureBudget], ChosenNoise]]:
    """Return what all points of one d share: the stand-ins, and what chooses the noise at a budget.

    Without an objective the noise is uniform.
    """
    if public is None:
        return (falling_votes(size),), lambda budget: uniform_choice(size, budget, None)
    coarse = public.coarsened(size)
    stand_ins = coarse.stand_ins(np.random.default_rng(0), most=_STAND_INS if size <= _MANY else 1)
    if objective is None:
        return stand_ins, lambda budget: uniform_choice(size, budget, coarse)
    return stand_ins, RoughNoise(coarse, objective, stand_ins).at


def _point(budget: MixtureBudget, size: int, noise: ChosenNoise, seen: Forecast) -> TradeOff:
    return TradeOff(
        draws=budget.draws,
        candidates=size,
        mixing_weight=noise.mixing_weight,
        floor=noise.floor,
        worst_case_tv=noise.worst_case_tv,
        effective_draws=budget.draws * (1.0 - noise.mixing_weight) ** 2,
        estimate_tv=seen.estimate_tv,
    )
