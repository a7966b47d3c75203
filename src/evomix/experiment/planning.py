"""What a run will cost and lose, before any private record is opened."""

import math
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

from evomix.core.arguments import whole
from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.experiment.allocation import (
    allocate,
    choose_candidates,
    default_delta,
    default_draws,
    default_variations,
    draws_of,
    signal_of,
    split_draws,
)
from evomix.experiment.comparison import compare
from evomix.experiment.method_choice import one_round_counts_all
from evomix.experiment.noise_choice import ChosenNoise, MixtureBudget, check_objective, choose_noise, uniform_distance
from evomix.experiment.per_round import MIXING, accountant_of, candidates_of, check_accounting, mechanisms_of, rounds_of
from evomix.experiment.plan_summary import summarise
from evomix.experiment.plans import Plan, RoundPlan
from evomix.experiment.presets import preset_settings
from evomix.experiment.round_noise import plan_rounds
from evomix.experiment.spec import check_counts, check_proximity
from evomix.experiment.stand_ins import PublicVotes, public_votes
from evomix.experiment.trade_off import trade_off as trade_off_curve
from evomix.privacy.calibration import MAX_UNITS, check_delta, check_epsilon
from evomix.privacy.mechanisms.linmix import uniform_mass

__all__ = ["Plan", "RoundPlan", "choose_candidates", "default_delta", "plan", "signal_of", "split_draws"]


def plan(
    *,
    n: int,
    epsilon: float,
    delta: float | None = None,
    rows: int = 5000,
    rounds: int | None = None,
    candidates: int | Sequence[int] | None = None,
    preset: str | None = None,
    mechanism: str = "auto",
    public_histogram: FloatArray | Sequence[float] | Sequence[FloatArray] | Sequence[Sequence[float]] | None = None,
    draws: int | None = None,
    variations: int | None = None,
    proximity: float | str = "auto",
    domain_size: float = math.inf,
    informed: bool | None = None,
    pooled: bool | None = None,
    accounting: str = "auto",
    objective: str | None = None,
    trade_off: bool = False,
) -> Plan:
    """Plan a run from public quantities alone.

    Args:
        n: number of private units (public under replace-one).
        epsilon: ε > 0.
        delta: δ in (0, 1); default :func:`default_delta`.
        rows: synthetic records to make; does not change the cost.
        rounds: T, at most 1000; default 16 where all are pooled or nothing is public, else 2 to 8 by the budget; 1 when
            the candidates are all possible records.
        candidates: d, most candidates of a round, or a number for each round; default as many as the budget can tell
            apart.
        preset: a named algorithm, which gives the mechanism and the variations where they are left open.
        mechanism: "auto" is linmix, or pubmix where a number is given for ``proximity``, or gaussian where one round of
            it counts all possible records; a comma list names one for each round.
        public_histogram: (d,) public votes of the first round, or k ≥ 2 such rows from different public data; the
            mechanisms are compared on them, and they set the noise distribution of pubmix.
        draws: draws over all rounds (mixtures).
        variations: variations of each parent per round.
        proximity: γ, how far private votes may lie from public ones; "auto" is the mean total variation between
            public histograms, and 0.5 for a single one or none.
        domain_size: number of possible records, if it is finite.
        informed: whether the first candidates are public records; default: with pubmix or a public histogram.
        pooled: whether rows are made of all releases together (denoising "pooled"), as those of a table are unless a
            selection by distance or another denoising is asked for; by default unless the preset asks for one.
        accounting: "auto" takes the exact account where there is one and composed privacy loss distributions where
            rounds differ; "draws", "pld" and "renyi" ask for one.
        objective: what is to be near the votes. By default the mechanisms are compared by the denoised estimate, which
            a run goes on with, and pubmix's noise is that of a run: of least worst case. "draws" compares by raw draws,
            "estimate" also takes noise of least forecast error of the estimate.
        trade_off: whether to work out the curve over draws and candidates, as for a run of one mixture.

    Whole numbers may be NumPy's.

    Raises:
        SpecError: a parameter is out of range, would have no effect with this mechanism, or contradicts another.

    >>> planned = plan(n=100_000, epsilon=1.0, delta=1e-6, rounds=4, candidates=1000, draws=20_000)
    >>> planned.mechanism, planned.draws, f"{planned.mixing_weight:.2f}"
    ('linmix', (5000, 5000, 5000, 5000), '0.08')
    """
    epsilon, n = check_epsilon(epsilon), whole("n", n, least=0, most=MAX_UNITS)
    delta = check_delta(default_delta(n) if delta is None else delta)
    bundle = preset_settings(preset)
    mechanism = bundle.get("mechanism", mechanism) if mechanism == "auto" else mechanism
    variations = bundle.get("variations") if variations is None else variations
    pooled = "denoising" not in bundle if pooled is None else pooled
    counts = check_counts({"rows": rows, "rounds": rounds, "draws": draws, "variations": variations})
    most = _check_choices(mechanism, accounting, objective, proximity=proximity, domain_size=domain_size)
    public = public_votes(public_histogram, proximity)
    left_open = public is None and candidates is None and counts["rounds"] is None and counts["draws"] is None
    default = "linmix" if isinstance(proximity, str) else "pubmix"
    if default == "linmix" and left_open and one_round_counts_all(most, n=n, epsilon=epsilon, delta=delta):
        default = "gaussian"  # one round counts every possible record
    names = tuple(default if name == "auto" else name for name in mechanisms_of(mechanism))
    sizes = candidates_of(candidates)
    some_rounds = rounds_of(names, sizes, counts["rounds"])
    _check_effect(names, draws=counts["draws"], proximity=proximity, sizes=sizes, public=public, objective=objective)
    total = counts["draws"] or default_draws(n, some_rounds)
    sizes = allocate(
        names,
        (public.candidates,) if sizes is None and public is not None else sizes,
        some_rounds,
        n=n,
        epsilon=epsilon,
        delta=delta,
        draws=total,
        domain_size=most,
        informed=("pubmix" in names or public is not None) if informed is None else informed,
        pooled=pooled,
    )
    names = names * len(sizes) if len(names) == 1 else names
    budget = MixtureBudget(n, epsilon, delta, total, len(sizes))
    noise = None
    if public is not None and "pubmix" in names and sizes[0] > 1:
        noise = choose_noise(budget, public, objective or "draws")
    per_round, accountant = _rounds(names, sizes, budget, noise, accounting)
    made = summarise(
        per_round,
        n=n,
        epsilon=epsilon,
        delta=delta,
        rows=counts["rows"] or 0,
        variations=default_variations(pooled=pooled) if counts["variations"] is None else counts["variations"],
        pooled=pooled,
        accountant=accountant,
        worst_case_tv=_worst_case(per_round[-1], noise, public),
    )
    return _with_outlook(made, budget, noise, public, objective, curve=trade_off, most=most)


def _check_choices(
    mechanism: Any, accounting: Any, objective: str | None, *, proximity: float | str, domain_size: Any
) -> float:
    """Refuse choices that are none; return the number of possible records."""
    check_proximity(proximity)
    if objective is not None:
        check_objective(objective)
    check_accounting(accounting, mechanisms_of(mechanism))
    most = math.nan
    if isinstance(domain_size, Real) and not isinstance(domain_size, bool):
        # A whole number may be more than a float can hold.
        most = int(domain_size) if isinstance(domain_size, Integral) else float(domain_size)
    if not most >= 1:
        raise SpecError(f"domain_size must be a number of records, at least 1; found domain_size={domain_size!r}")
    return most


def _rounds(
    names: Sequence[str], sizes: Sequence[int], budget: MixtureBudget, noise: ChosenNoise | None, accounting: str
) -> tuple[tuple[RoundPlan, ...], str]:
    """Return what each round releases, and the account that its noise was found by."""
    accountant = accountant_of(names, sizes, accounting)
    per_round = plan_rounds(
        names,
        sizes,
        draws_of(names, budget.draws),
        n=budget.n,
        epsilon=budget.epsilon,
        delta=budget.delta,
        accountant=accountant,
        floors=_floors(names, sizes, noise),
    )
    return per_round, accountant


def _check_effect(
    names: Sequence[str],
    *,
    draws: int | None,
    proximity: float | str,
    sizes: Sequence[int] | None,
    public: PublicVotes | None,
    objective: str | None,
) -> None:
    """Refuse what would be ignored: a setting that does nothing hides a misunderstanding."""
    idle = None
    told = f"mechanism={','.join(names)!r}"
    drawing = sum(name in MIXING for name in names)
    if draws is not None and not drawing:
        idle = f"draws={draws} has no effect with {told}: only linmix and pubmix draw"
    elif not isinstance(proximity, str) and "pubmix" not in names and public is None:
        idle = f"proximity={proximity!r} has no effect with {told}: only pubmix relies on public votes"
    elif not isinstance(proximity, str) and public is None:
        raise SpecError(
            f"proximity={proximity!r} has no effect without public votes, on which pubmix shapes its noise: give them "
            "(public_histogram; --public-histogram FILE, which `evomix diagnose public … --histogram-out FILE` makes), "
            "or leave it out"
        )
    elif objective is not None and public is None:
        idle = f"objective={objective!r} has no effect without public_histogram, on which it is forecast"
    elif public is not None and sizes is not None and sizes[0] != public.candidates:
        idle = f"candidates={sizes[0]} differs from the {public.candidates} entries of public_histogram"
    if idle is not None:
        raise SpecError(f"{idle}. Leave it out, or choose another mechanism")
    if draws is not None and draws < drawing:
        raise SpecError(f"each round of linmix or pubmix needs a draw; found draws={draws} for {drawing} of them")


def _floors(names: Sequence[str], sizes: Sequence[int], noise: ChosenNoise | None) -> list[float]:
    """Return each round's floor: pubmix's later rounds keep the part of 1/d that the first one's noise has."""
    floors = [uniform_mass(size) for size in sizes]
    if noise is None:
        return floors
    part = min(noise.floor * sizes[0], 1.0)
    for index, (name, size) in enumerate(zip(names, sizes, strict=True)):
        if name == "pubmix":
            floors[index] = noise.floor if size == sizes[0] else min(part / size, floors[index])
    return floors


def _worst_case(last: RoundPlan, noise: ChosenNoise | None, public: PublicVotes | None) -> float | None:
    """Return β·Ψ of the last round; later rounds of pubmix are taken to have the Ψ of the first."""
    if last.mixing_weight is None:
        return None
    if last.mechanism == "pubmix" and noise is not None:
        if last.mixing_weight == noise.mixing_weight:
            return noise.worst_case_tv
        return last.mixing_weight * noise.worst_case_tv / noise.mixing_weight if noise.mixing_weight else 0.0
    judged = public if public is not None and public.candidates == last.candidates else None
    return last.mixing_weight * uniform_distance(last.candidates, judged)


def _with_outlook(
    made: Plan,
    budget: MixtureBudget,
    noise: ChosenNoise | None,
    public: PublicVotes | None,
    objective: str | None,
    *,
    curve: bool,
    most: float,
) -> Plan:
    """Return the plan with the mechanisms compared and the curve, where there is something to say."""
    if public is not None:
        shaped = choose_noise(budget, public, objective or "draws") if noise is None else noise
        verdict = compare(budget, public, objective=objective or "estimate", chosen=shaped)
        made = replace(
            made,
            proximity=public.proximity,
            proximity_assumed=public.assumed,
            comparison=verdict.compared,
            recommended=verdict.recommended,
            reason=verdict.reason,
        )
    if not curve:
        return made
    names = {one.mechanism for one in made.per_round}
    if not names & {*MIXING}:
        return replace(made, trade_off=())
    return replace(
        made,
        trade_off=trade_off_curve(
            budget,
            made.candidates,
            public=public,
            shaped="pubmix" in names,
            objective=objective or "draws",
            most=most,
            chosen=noise,
        ),
    )
