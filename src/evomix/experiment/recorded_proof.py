"""What can be proved of a run from its record alone: by the account that it names, and by no other.

A tighter account may give the same parameters a smaller δ. That would be no proof for a run that chose its parameters
as it went: what it would have chosen, had the records been others, is bounded by its filter and by nothing else.
Proof: docs/proofs/composition.md, section 4.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final, cast

from evomix.audit.claim import Claim
from evomix.core.errors import InputFileError, SpecError
from evomix.experiment.recorded import Choices, Recorded
from evomix.privacy.composition import Accountant, composed_delta, composed_epsilon
from evomix.privacy.renyi import TINY, log_conversion, log_delta, renyi_divergence
from evomix.privacy.renyi_filter import RenyiFilter
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, Round
from evomix.privacy.run_loss import ULP

_ELSEWHERE: Final = Fraction(1) + Fraction(1, 2**40)
"""The run may have been made where the last digits of a cost come out otherwise."""

_COVERED: Final = {
    "draws": (MixingRound, "mixing_weight"),
    "gaussian": (GaussianRound, "stddev"),
    "laplace": (LaplaceRound, "scale"),
}
"""What the accounts of one kind of rounds cover, and their noise."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What is proved of a run.

    Attributes:
        delta: proved at the stated ε; 1 where nothing is.
        epsilon_at: ε as a function of δ on the same privacy curve; ``None`` where nothing is proved.
        faults: why the record does not bear out its claim, in words; empty for a sound one.
    """

    delta: float
    epsilon_at: Callable[[float], float] | None
    faults: tuple[str, ...] = ()


def proof_of_rounds(rounds: Sequence[Round], stated: Claim) -> Proof:
    """Return what is proved of rounds whose parameters are fixed in advance."""
    return Proof(composed_delta(stated.epsilon, rounds), partial(composed_epsilon, rounds=rounds))


def proof_of_record(recorded: Recorded) -> Proof:
    """Return what is proved of a recorded run.

    Raises:
        InputFileError: the account cannot be kept at the recorded figures.
    """
    try:
        found = _fixed(recorded) if recorded.choices is None else _filtered(recorded, recorded.choices)
    except SpecError as error:
        raise InputFileError(f"{recorded.path} describes a release that no run could make: {error!s:.300}") from None
    faults = (*recorded.contradictions, *found.faults)
    return Proof(found.delta, found.epsilon_at, faults)


def _fixed(recorded: Recorded) -> Proof:
    """Return the proof of a run whose parameters were fixed in advance."""
    accountant, rounds = cast("Accountant", recorded.accountant), recorded.rounds
    if accountant == "pld":
        spent = composed_delta(recorded.epsilon, rounds)
        if spent > recorded.delta:  # an exact account, where one applies, may differ in its last digits
            spent = min(spent, composed_delta(recorded.epsilon, rounds, accountant="pld"))
        return Proof(spent, partial(composed_epsilon, rounds=rounds))
    kind, noise = _COVERED[accountant]
    if not all(isinstance(each, kind) for each in rounds):
        return _nothing(f"accountant is {accountant}, which does not cover every release")
    # The inverse variances of Gaussian rounds add up, whatever they are; the others count under one figure.
    if accountant != "gaussian" and len({getattr(each, noise) for each in rounds}) > 1:
        return _nothing(f"accountant is {accountant}, which covers releases of one {noise} only")
    return Proof(
        composed_delta(recorded.epsilon, rounds, accountant=accountant),
        partial(composed_epsilon, rounds=rounds, accountant=accountant),
    )


def _nothing(*faults: str) -> Proof:
    return Proof(1.0, None, faults)


def _filtered(recorded: Recorded, choices: Choices) -> Proof:
    """Return the proof of a run that chose its parameters as it went, within the budget of a Rényi filter."""
    try:
        budget = RenyiFilter(recorded.epsilon, recorded.delta, units=max(recorded.units, 1), order=choices.order).budget
    except SpecError:
        return _nothing(f"order={choices.order!r} is none at which a filter has a budget for the stated ε and δ")
    costs = [Fraction(_cost(each, choices.order)) for each in recorded.rounds]
    faults = [*_misplaced(choices, recorded.planned), *_overspent(choices, costs, budget)]
    if faults:
        return _nothing(*faults)
    tilt = choices.order - 1.0
    log = log_delta(tilt * budget, recorded.epsilon, tilt)
    delta = min(1.0, math.exp(min(0.0, log)) * (1.0 + 8.0 * ULP) + TINY)
    return Proof(delta, partial(_epsilon_at, budget=budget, tilt=tilt))


def _cost(round_: Round, order: float) -> float:
    """Return a round's D_α; more than any budget where it has none."""
    return min(renyi_divergence(round_, order), 1e300)


def _epsilon_at(delta: float, *, budget: float, tilt: float) -> float:
    """Return the ε that a whole budget of one order gives at ``delta``, rounded up."""
    conversion, logarithm = log_conversion(tilt), math.log(delta)
    slack = 64.0 * ULP * (budget + (abs(logarithm) + abs(conversion) + 1.0) / tilt)
    return max(0.0, budget + (conversion - logarithm) / tilt + slack)


def _misplaced(choices: Choices, planned: int) -> Iterator[str]:
    """Yield the rounds that were not, or not once, begun and then released or lost."""
    released, begun = Counter(choices.released), Counter(choices.begun)
    for index in range(planned):
        if released[index] > 1 or begun[index] > 1:
            yield f"round {index} is recorded twice"
        if released[index] and not begun[index]:
            yield f"round {index} was released without having been begun"
        if not begun[index] and not released[index]:
            yield f"round {index} is missing: neither released, nor begun and lost"


def _overspent(choices: Choices, costs: Sequence[Fraction], budget: float) -> Iterator[str]:
    """Yield which releases cost more than their shares, and whether all of them do together, lost rounds included."""
    stated = choices.released_shares
    shares = stated if choices.shares is None else tuple(choices.shares[index] for index in choices.released)
    for index, cost, share, told in zip(choices.released, costs, shares, stated, strict=True):
        if told != share:
            yield f"round {index} states share={told!r}, but shares has {share!r}"
        if cost > Fraction(share) * Fraction(budget) * _ELSEWHERE:
            yield (
                f"round {index} has less noise than its share of the budget allows: it costs {_up(cost)}, and "
                f"{share!r} of {budget!r} is its share"
            )
    of_lost = _of_lost(choices)
    whole = sum(map(Fraction, stated if choices.shares is None else choices.shares))
    if whole > 1:
        yield "the shares of the rounds exceed the whole budget"
    if sum(costs) + of_lost * Fraction(budget) > Fraction(budget) * _ELSEWHERE:
        yield f"the rounds cost {_up(sum(costs, of_lost * Fraction(budget)))} together, more than the budget {budget!r}"


def _of_lost(choices: Choices) -> Fraction:
    """Return the shares of the rounds that were begun and lost; all that others leave where shares are not listed."""
    lost = set(choices.begun) - set(choices.released)
    if choices.shares is not None:
        return sum((Fraction(choices.shares[index]) for index in lost), Fraction(0))
    return max(Fraction(0), 1 - sum(map(Fraction, choices.released_shares), Fraction(0))) if lost else Fraction(0)


def _up(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
