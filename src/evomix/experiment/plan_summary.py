"""The figures of a plan, from its rounds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from evomix.experiment.allocation import choose_candidates, votes_signal
from evomix.experiment.plans import Plan, RoundPlan
from evomix.privacy.budget import LARGE_EPSILON
from evomix.privacy.mechanisms.schedule import common_figures

MOSTLY_NOISE: Final = 0.95
"""Share of noise in a draw from which there is a warning."""


def summarise(
    per_round: tuple[RoundPlan, ...],
    *,
    n: int,
    epsilon: float,
    delta: float,
    rows: int,
    variations: int,
    accountant: str,
    worst_case_tv: float | None,
    pooled: bool,
) -> Plan:
    """Return the plan of these rounds; what they do not share is ``None``.

    Args:
        per_round: what each round releases.
        n: private units.
        epsilon: ε of all rounds.
        delta: δ of all rounds.
        rows: synthetic records to make.
        variations: variations of each parent per round.
        accountant: the account that the noise was found by.
        worst_case_tv: β·Ψ of the last round; ``None`` for noisy votes.
        pooled: whether rows are made of all releases together.
    """
    names = [one.mechanism for one in per_round]
    draws = tuple(one.draws for one in per_round)
    most = max(one.candidates for one in per_round)
    signal = _signal(per_round[-1], n)
    total = max(sum(draws), 1)
    useful = [
        choose_candidates(name, n=n, epsilon=epsilon, delta=delta, draws=total, rounds=len(names), pooled=pooled)
        for name in dict.fromkeys(names)
    ]
    return Plan(
        n=n,
        epsilon=epsilon,
        delta=delta,
        adjacency="replace-one",
        mechanism=names[0] if len(set(names)) == 1 else ",".join(names),
        rows=rows,
        rounds=len(per_round),
        candidates=most,
        draws=draws if any(draws) else (),
        variations=variations,
        **_shared_noise(per_round),
        signal=signal,
        worst_case_tv=worst_case_tv,
        warnings=plan_warnings(n, epsilon, delta, signal, per_round),
        per_round=per_round,
        accountant=accountant,
        useful_candidates=min(useful),
    )


def _shared_noise(per_round: Sequence[RoundPlan]) -> dict[str, Any]:
    """Return the figures of the noise by name; one that rounds do not share is ``None``."""
    names = ("mixing_weight", "floor", "noise_scale")
    return common_figures([{name: getattr(one, name) for name in names} for one in per_round])


def with_rounds(planned: Plan, per_round: tuple[RoundPlan, ...]) -> Plan:
    """Return the plan with rounds whose noise became known more exactly, and what follows from them.

    The worst case is left out: it was reckoned for the planned noise.

    Args:
        planned: the plan.
        per_round: its rounds, as many as before.
    """
    signal = _signal(per_round[-1], planned.n)
    return replace(
        planned,
        per_round=per_round,
        **_shared_noise(per_round),
        signal=signal,
        worst_case_tv=None,
        warnings=plan_warnings(planned.n, planned.epsilon, planned.delta, signal, per_round),
    )


def _signal(last: RoundPlan, n: int) -> float:
    """Return what a release is worth at its own noise: m·(1−β)² noise-free draws, or n²/(d·σ²)."""
    if last.mixing_weight is not None:
        return last.draws * (1.0 - last.mixing_weight) ** 2
    assert last.noise_scale is not None
    return votes_signal(last.mechanism, last.noise_scale, n, last.candidates)


def plan_warnings(
    n: int, epsilon: float, delta: float, signal: float, per_round: Sequence[RoundPlan]
) -> tuple[str, ...]:
    """Return sentences for the user on a budget that protects little or tells little."""
    found = []
    candidates = max(one.candidates for one in per_round)
    noise = max((one.mixing_weight or 0.0 for one in per_round if one.candidates > 1), default=0.0)
    if epsilon > LARGE_EPSILON:
        found.append(f"epsilon={epsilon!r} is large: it protects little (above {LARGE_EPSILON:g} is rarely defensible)")
    if delta * n >= 1.0:
        found.append(f"delta={delta!r} is 1/n or more: some unit could be revealed outright; choose a smaller delta")
    if noise >= MOSTLY_NOISE:
        found.append(
            f"nearly everything that is released is noise ({100.0 * noise:.4g} % of the draws of a round): take fewer "
            "draws (--draws) or candidates, a larger epsilon, or more people"
        )
    if candidates > 1 and signal < 10.0:
        found.append(
            "the budget leaves little signal for this many units: relations between columns cannot be kept and "
            "the output will be close to the schema or the public data"
        )
    return tuple(found)
