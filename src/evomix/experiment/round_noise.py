"""The noise of each planned round, under the account that holds for all of them together."""

from collections.abc import Sequence
from typing import Final

from evomix.core.errors import SpecError
from evomix.experiment.allocation import noise_of
from evomix.experiment.per_round import MIXING
from evomix.experiment.plans import RoundPlan
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.calibration import mixing_weight
from evomix.privacy.mechanisms.linmix import uniform_mass

LEAST_NOISE: Final = 1.0 / LATTICE
MOST_NOISE: Final = 1e12
"""Noise on a vote that can be drawn, in units, as :mod:`evomix.privacy.lattice_noise` has it."""


def plan_rounds(
    names: Sequence[str],
    sizes: Sequence[int],
    draws: Sequence[int],
    *,
    n: int,
    epsilon: float,
    delta: float,
    accountant: str,
    floors: Sequence[float] | None = None,
) -> tuple[RoundPlan, ...]:
    """Return what each round releases, with the least noise that meets (ε, δ) for all of them.

    Args:
        names: mechanism of each round.
        sizes: most candidates of each round.
        draws: draws of each round, 0 for a histogram.
        n: private units.
        epsilon: ε of all rounds (replace-one).
        delta: δ of all rounds.
        accountant: as :func:`evomix.experiment.per_round.accountant_of` gives it.
        floors: smallest noise mass of each round's mixture; default the uniform mass of its candidates.

    Guarantee: none by itself; a run's mechanisms are certified when they are built.

    Raises:
        SpecError: the account cannot be kept at this budget, or the noise cannot be drawn.
    """
    least = [uniform_mass(size) for size in sizes] if floors is None else list(floors)
    if accountant == "draws":
        floor = min(least)  # one β for all rounds, at the smallest floor
        weight = mixing_weight(epsilon, delta, n=max(n, 1), draws=sum(draws), floor=floor)
        return tuple(
            RoundPlan(name, size, count, weight, floor, None)
            for name, size, count in zip(names, sizes, draws, strict=True)
        )
    if accountant in ("gaussian", "laplace"):
        noise = noise_of(accountant, epsilon=epsilon, delta=delta, rounds=len(names))
        found = tuple(RoundPlan(name, size, 0, None, None, noise) for name, size in zip(names, sizes, strict=True))
    else:
        found = _composed(names, sizes, draws, least, n=n, epsilon=epsilon, delta=delta, accountant=accountant)
    for one in found:
        if one.noise_scale is not None and not LEAST_NOISE <= one.noise_scale <= MOST_NOISE:
            raise SpecError(
                f"mechanism={one.mechanism!r} would need noise={one.noise_scale:.3g} on a vote at epsilon={epsilon!r}, "
                f"delta={delta!r}; what can be drawn is {LEAST_NOISE:.3g} to {MOST_NOISE:.3g} units. Take another "
                "budget, or linmix"
            )
    return found


def _composed(
    names: Sequence[str],
    sizes: Sequence[int],
    draws: Sequence[int],
    floors: Sequence[float],
    *,
    n: int,
    epsilon: float,
    delta: float,
    accountant: str,
) -> tuple[RoundPlan, ...]:
    """Return rounds of which each takes an equal share of the loss."""
    from evomix.privacy.composition import calibrate_rounds  # noqa: PLC0415  (only runs whose rounds differ need it)
    from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, RoundShape  # noqa: PLC0415

    shapes = [
        RoundShape("mixing", draws=count, floor=floor)
        if name in MIXING
        else RoundShape("gaussian" if name == "gaussian" else "laplace")
        for name, count, floor in zip(names, draws, floors, strict=True)
    ]
    rounds = calibrate_rounds(
        epsilon, delta, shapes, units=max(n, 1), accountant="renyi" if accountant == "renyi" else "pld"
    )
    found = []
    for name, size, count, round_ in zip(names, sizes, draws, rounds, strict=True):
        match round_:
            case MixingRound():
                found.append(RoundPlan(name, size, count, round_.mixing_weight, round_.floor, None))
            case GaussianRound():
                found.append(RoundPlan(name, size, 0, None, None, round_.stddev))
            case LaplaceRound():
                found.append(RoundPlan(name, size, 0, None, None, round_.scale))
    return tuple(found)
