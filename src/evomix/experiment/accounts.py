"""From a plan to the account of a run: its calibrated mechanisms, or what each round may cost."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from evomix.core.arrays import FloatArray, IntArray
from evomix.experiment.per_round import MIXING
from evomix.experiment.plan_summary import with_rounds
from evomix.experiment.plans import Plan, RoundPlan
from evomix.experiment.round_noise import plan_rounds
from evomix.formats.checkpoints import damaged
from evomix.privacy.calibration import GRID
from evomix.privacy.mechanisms.allowance import Allowance, equal_shares
from evomix.privacy.mechanisms.linmix import uniform_mass, uniform_weights
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.mechanisms.pubmix import public_weights, pubmix
from evomix.privacy.mechanisms.schedule import Mechanism, Schedule, schedule_of
from evomix.privacy.renyi_filter import RenyiFilter
from evomix.privacy.rounds import RoundShape

Account: TypeAlias = Schedule | Allowance


def account_of(planned: Plan, *, public: FloatArray | None = None, proximity: float = 1.0) -> Account:
    """Return the account of a planned run; reads public numbers only.

    Args:
        planned: the plan.
        public: float64 (d,), shares of the public votes of the first round (where some round is pubmix).
        proximity: γ of the public votes.

    Raises:
        PrivacyError: the calibrated rounds do not meet the budget.
    """
    if planned.accountant == "renyi":
        return _allowance(planned)
    rounds = planned.per_round
    if any(one.mechanism == "pubmix" for one in rounds):
        assert public is not None
        rounds = _at_public_floors(planned, public, proximity)
    return schedule_of(
        [_release(one) for one in rounds],
        accountant=planned.accountant,
        units=planned.n,
        epsilon=planned.epsilon,
        delta=planned.delta,
    )


def with_account(planned: Plan, account: Account) -> Plan:
    """Return the plan with the figures of the calibrated mechanisms, where they are known in advance."""
    if isinstance(account, Allowance):
        return planned
    rounds = tuple(
        replace(
            one,
            mixing_weight=getattr(mechanism, "mixing_weight", None),
            floor=getattr(mechanism, "floor", None),
            noise_scale=getattr(mechanism, "stddev", getattr(mechanism, "scale", None)),
        )
        for one, mechanism in zip(planned.per_round, account.mechanisms, strict=True)
    )
    return with_rounds(planned, rounds)


def restored(saved: Mapping[str, Any], planned: Plan, begun: Collection[int] = ()) -> Account:
    """Return the account of an interrupted run, certified anew from what it saved.

    Args:
        saved: what ``describe`` of the account gave.
        planned: the plan of the same run.
        begun: rounds that were begun; under an allowance each of them counts with its whole share.

    Raises:
        InputFileError: a saved parameter is missing or is no number.
        PrivacyError: the saved parameters do not meet the budget.
    """
    given: dict[str, Any] = {"units": planned.n, "epsilon": planned.epsilon, "delta": planned.delta}
    account: Account
    try:
        if planned.accountant == "renyi":
            shares, order = tuple(map(float, saved["shares"])), float(saved["order"])
            account = Allowance(**given, draws=_draws(planned), shares=shares, order=order, begun=begun)
        else:
            account = schedule_of(saved["releases"], accountant=str(saved["accountant"]), **given)
            if account.draws != _draws(planned):
                raise ValueError  # noqa: TRY301  (handled as any other damage)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise damaged("mechanism") from error
    return account


def mechanism_of(
    account: Account, planned: Plan, round_index: int, *, candidates: int, public: FloatArray | None, proximity: float
) -> Mechanism:
    """Return a round's mechanism: the one that was fixed in advance, or the best that the round's share allows."""
    if isinstance(account, Schedule):
        return account.mechanisms[round_index]
    name = planned.per_round[round_index].mechanism
    return account.choose(round_index, name, candidates=candidates, public=public, proximity=proximity)


def noise_weights(
    mechanism: Mechanism, candidates: int, *, public: FloatArray | None, proximity: float
) -> IntArray | None:
    """Return a round's integer noise weights, int64 (candidates,); ``None`` for histograms."""
    if not isinstance(mechanism, Mixture):
        return None
    if mechanism.name == "linmix" or candidates == 1:
        return uniform_weights(candidates)
    assert public is not None
    return public_weights(public, mixture=mechanism, proximity=proximity)


def _draws(planned: Plan) -> tuple[int, ...]:
    return tuple(one.draws for one in planned.per_round)


def _release(one: RoundPlan) -> dict[str, Any]:
    """Return a planned round as the public parameters of its release."""
    if one.mechanism in MIXING:
        figures = {"draws": one.draws, "mixing_weight": one.mixing_weight, "floor": one.floor}
    else:
        figures = {"stddev" if one.mechanism == "gaussian" else "scale": one.noise_scale}
    return {"mechanism": one.mechanism, **figures}


def _at_public_floors(planned: Plan, public: FloatArray, proximity: float) -> tuple[RoundPlan, ...]:
    """Return the rounds calibrated at the floor that suits the public votes.

    Only the first round's public votes are known. A round with another number of candidates keeps the same part of
    1/d as its floor.
    """
    rounds, total = planned.per_round, sum(planned.draws)
    designed = pubmix(planned.epsilon, planned.delta, units=planned.n, draws=total, public=public, proximity=proximity)
    part = min(designed.floor * len(public), 1.0)
    floors = []
    for one in rounds:
        if one.mechanism != "pubmix":
            floors.append(uniform_mass(one.candidates))
        elif one.candidates == rounds[0].candidates:
            floors.append(designed.floor)
        else:
            floors.append(_grid_floor(part, one.candidates))
    if planned.accountant == "draws" and set(floors) == {designed.floor}:
        return tuple(replace(one, mixing_weight=designed.mixing_weight, floor=designed.floor) for one in rounds)
    return plan_rounds(
        [one.mechanism for one in rounds],
        [one.candidates for one in rounds],
        [one.draws for one in rounds],
        n=planned.n,
        epsilon=planned.epsilon,
        delta=planned.delta,
        accountant=planned.accountant,
        floors=floors,
    )


def _grid_floor(part: float, candidates: int) -> float:
    """Return ``part/candidates`` rounded down to what integer weights can give each of the candidates."""
    size = max(candidates, 2)
    return max(min(int(Fraction(part) * GRID / size), GRID // size), 1) / GRID


def _allowance(planned: Plan) -> Allowance:
    """Return equal shares of a Rényi filter whose order suits the planned rounds."""
    shapes = [
        RoundShape("mixing", draws=one.draws, floor=one.floor or 0.0)
        if one.mechanism in MIXING
        else RoundShape("gaussian" if one.mechanism == "gaussian" else "laplace")
        for one in planned.per_round
    ]
    order = RenyiFilter(planned.epsilon, planned.delta, units=max(planned.n, 1), shapes=shapes).order
    return Allowance(
        planned.epsilon,
        planned.delta,
        units=planned.n,
        draws=_draws(planned),
        shares=equal_shares(planned.rounds),
        order=order,
    )
