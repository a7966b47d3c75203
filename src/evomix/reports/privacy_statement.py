"""What a run guaranteed, to whom and how, in sentences a manager can read.

Everything here restates public parameters: post-processing; costs nothing.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

from evomix.core.errors import SpecError
from evomix.privacy.budget import LARGE_EPSILON, Budget, rounded_up, total
from evomix.reports.releases import differing_rounds, mechanisms_in_words
from evomix.reports.stages import NOISE, counts_columns, stage_sentences
from evomix.reports.wording import UPWARDS, bound, count, exp_up, one_in, power_or_number, small_number

FALSE_ALARM = Decimal("0.05")
RISK_IS_NOT_BOUND = (
    "ε and δ are proven bounds: they hold against any attack, known or not. A measured risk, such as a count of "
    "copied rows or the success of one attack, shows only what that one test found; a good score never replaces the "
    "bound, and it does not loosen it either."
)


@dataclass(frozen=True, slots=True)
class PrivacyStatement:
    """The guarantee in words.

    Attributes:
        headline: one line.
        banner: "NOT PRIVATE" and why, or None.
        guarantee: who is protected from what.
        meaning: the parameters, as (symbol and value, one sentence).
        spent: what was released and how it adds up.
        warnings: what a careful reader must know before relying on the guarantee.
        risk: how measured risk differs from the bound.
    """

    headline: str
    banner: str | None
    guarantee: tuple[str, ...]
    meaning: tuple[tuple[str, str], ...]
    spent: tuple[str, ...]
    warnings: tuple[str, ...]
    risk: str = RISK_IS_NOT_BOUND


def privacy_statement(privacy: Mapping[str, Any]) -> PrivacyStatement:
    """Put the content of ``privacy.json`` into words.

    Args:
        privacy: epsilon, delta and private are required; adjacency, unit, n, mechanism, rounds, draws,
            noise_multiplier, mixing_weight, floor, accountant, releases, charges, dataset and public_data are used
            where present.

    Raises:
        SpecError: a required entry is missing or not a number.
    """
    epsilon, delta = _required(privacy, "epsilon"), _required(privacy, "delta")
    if "private" not in privacy:
        raise SpecError("expected the privacy record to hold 'private', found no such entry; run again")
    if not privacy["private"]:
        return _not_private(privacy)
    if math.isinf(epsilon):
        return _not_private(privacy, "ε is infinite: nothing bounds what the data reveal about anyone.")
    level = f"(ε = {bound(epsilon)}, δ = {bound(delta)})"
    return PrivacyStatement(
        headline=f"Differentially private with {level}, {_relation_name(privacy)}",
        banner=None,
        guarantee=_guarantee(privacy, epsilon, delta),
        meaning=(
            (f"ε = {bound(epsilon)}", _epsilon_meaning(epsilon)),
            (f"δ = {bound(delta)}", _delta_meaning(delta)),
        ),
        spent=_spent(privacy, level),
        warnings=_warnings(privacy, epsilon, delta),
    )


def _required(privacy: Mapping[str, Any], key: str) -> float:
    value = privacy.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value) or value < 0:
        raise SpecError(f"expected the privacy record to hold a number {key}, found {key}={value!r}; run again")
    return float(value)


def _not_private(privacy: Mapping[str, Any], why: str | None = None) -> PrivacyStatement:
    reason = why or ("The noise came from a seeded or simulated source, so anyone who knows the seed can subtract it.")
    return PrivacyStatement(
        headline="No privacy guarantee",
        banner=f"NOT PRIVATE. {reason} Treat the synthetic data as if they were the private data.",
        guarantee=("Nobody is protected by this release.",),
        meaning=(),
        spent=_spent(privacy, "no guarantee")[:1],
        warnings=(),
    )


def _unit(privacy: Mapping[str, Any]) -> str:
    column = privacy.get("unit_column")
    if column:
        return f"all rows that share one value in the column “{column}”"
    unit = str(privacy.get("unit") or "one row")
    return "one row" if unit in ("row", "record", "none") else unit


def _difference(privacy: Mapping[str, Any]) -> str:
    """Return what sets two neighbouring tables apart."""
    column = privacy.get("unit_column")
    return f"the rows of one value of “{column}”" if column else _unit(privacy)


def _relation_name(privacy: Mapping[str, Any]) -> str:
    return f"under the {privacy.get('adjacency', 'replace-one')} relation"


def _guarantee(privacy: Mapping[str, Any], epsilon: float, delta: float) -> tuple[str, ...]:
    unit, difference = _unit(privacy), _difference(privacy)
    n = privacy.get("n")
    if privacy.get("adjacency", "replace-one") == "replace-one":
        relation = f"Two private tables count as neighbours when they differ in {difference}, replaced by any other"
        relation += "s" if privacy.get("unit_column") else ""
        size = f"; the number of such units{f', n = {count(n)},' if n is not None else ''} is treated as public."
    else:
        relation = f"Two private tables count as neighbours when one of them has {difference} more than the other"
        size = "."
    odds = (
        "An attacker who knows everything but one protected unit, and sees all that this run released, can raise "
        f"the odds of any guess about that unit by at most a factor {power_or_number(epsilon)}, up to the "
        "allowance δ."
    )
    test = (
        "Put as a test: whoever tries to tell which of two given possibilities was in the table, and accepts to "
        f"be wrong in {_percent(FALSE_ALARM)} of the cases where it was the first, recognises the second in at "
        f"most {_percent(_power(epsilon, delta))} of the cases. Blind guessing gives {_percent(FALSE_ALARM)}."
    )
    later = "Nothing that anyone computes from the synthetic data later, alone or with other sources, weakens this."
    return (f"The protected unit is {unit}. {relation}{size}", odds, test, later)


def _power(epsilon: float, delta: float) -> Decimal:
    """Return the largest power of a test at level 5 %, rounded up: min(e^ε·α + δ, 1 − e^(−ε)(1 − δ − α)).

    Source: Wasserman & Zhou 2010.
    """
    factor = exp_up(Decimal(min(epsilon, 700.0)))  # beyond, both are 1
    with localcontext(UPWARDS):
        negative = min(
            FALSE_ALARM + Decimal(repr(float(delta))) - 1, Decimal(0)
        )  # not above 0: a larger factor raises both
        return min(factor * FALSE_ALARM + Decimal(repr(float(delta))), 1 + negative / factor, Decimal(1))


def _percent(share: Decimal) -> str:
    """Return a share rounded up, so that a bound stays a bound."""
    return f"{UPWARDS.multiply(share, Decimal(100)).quantize(Decimal('0.1'), ROUND_CEILING).normalize():f} %"


def _epsilon_meaning(epsilon: float) -> str:
    return (
        f"The most that one unit can change the odds of anything released: a factor e^ε = "
        f"{power_or_number(epsilon)}. Smaller is stricter; 0 would mean that the data have no influence at all."
    )


def _delta_meaning(delta: float) -> str:
    if delta == 0:
        return "The bound holds without exception."
    return (
        f"By how much the probability of any outcome may exceed what the factor allows: at most 1 in {one_in(delta)}."
    )


def _spent(privacy: Mapping[str, Any], level: str) -> tuple[str, ...]:
    mechanism = str(privacy.get("mechanism", "unknown"))
    rounds, draws = privacy.get("rounds"), privacy.get("draws")
    counting = counts_columns(privacy)
    released = f"Mechanism: {NOISE if counting else mechanisms_in_words(mechanism)}"
    step = "stage" if counting else "round"
    released += f", in {count(rounds)} {step}{'s' if rounds != 1 else ''}" if rounds is not None else ""
    released += f" and {count(draws)} draws in all." if draws is not None else "."
    told = stage_sentences(privacy) if counting else differing_rounds(privacy)
    sentences = [released, *told, *_composition(privacy, mechanism, level)]
    dataset, charges = privacy.get("dataset"), privacy.get("charges") or ()
    if charges:
        charged = rounded_up(total(_budgets(charges)))
        sentences.append(
            f"Charged to the ledger{f' of data set “{dataset}”' if dataset else ''}: {len(charges)} "
            f"entr{'y' if len(charges) == 1 else 'ies'}, ε = {bound(charged.epsilon)}, δ = {bound(charged.delta)} in "
            "all. Other runs on the same people add to this: their ε and δ are summed."
        )
    return tuple(sentences)


def _budgets(charges: Iterable[Mapping[str, Any]]) -> Iterable[Budget]:
    return (Budget(float(one.get("epsilon", 0.0)), float(one.get("delta", 0.0))) for one in charges)


def _composition(privacy: Mapping[str, Any], mechanism: str, level: str) -> tuple[str, ...]:
    weight, multiplier = privacy.get("mixing_weight"), privacy.get("noise_multiplier")
    if counts_columns(privacy):
        together = "All counts of a stage are one release, and the stages add up exactly"
        return (f"{together}: {level} covers all of them together, with a stage that was begun and lost.",)
    if privacy.get("accountant") == "pld":
        whole = f"{level} covers the whole run, not one round."
        return (f"The privacy losses of all rounds were composed numerically, rounded up: {whole}",)
    if privacy.get("accountant") == "renyi":
        share = "within a share of the whole budget that was fixed before the first one (a Rényi filter)"
        whole = f"{level} covers the whole run, with rounds that were begun and lost."
        return (f"The noise of each round was chosen as the round came, {share}: {whole}",)
    names = set(mechanism.split(","))
    if names <= {"pubmix", "linmix"}:
        share = f" Each draw is noise with probability {weight:.4g}." if weight is not None else ""
        whole = f"as one exact composition: {level} covers the whole run, not one round."
        return (f"All draws of all rounds were accounted together, {whole}{share}",)
    if mechanism in {"gaussian", "laplace"}:
        noise = (
            f" The noise per round is {small_number(multiplier)} times what one unit can change."
            if multiplier is not None
            else ""
        )
        return (f"The rounds compose; {level} covers all of them together.{noise}",)
    return ()


def _warnings(privacy: Mapping[str, Any], epsilon: float, delta: float) -> tuple[str, ...]:
    found = []
    n = privacy.get("n")
    if epsilon > LARGE_EPSILON:
        found.append(
            f"ε = {bound(epsilon)} is large: the bound allows odds to change by a factor "
            f"{power_or_number(epsilon)}, which protects little. Values up to about 1 are strong, and above "
            f"{LARGE_EPSILON:g} the guarantee says almost nothing."
        )
    if n and delta > 1.0 / float(n):
        found.append(
            f"δ = {bound(delta)} exceeds 1/n = {small_number(1 / float(n))}: a mechanism that publishes one "
            "random row would be allowed. Choose δ well below 1/n."
        )
    if privacy.get("public_data"):
        found.append(
            "People in the public data are not protected: those rows were used without noise and may appear in the "
            "output as they are."
        )
    return tuple(found)
