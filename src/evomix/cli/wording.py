"""Figures of a plan or a run in plain words, for people; programs take the JSON form."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from itertools import groupby
from typing import Any, Final

from evomix.reports.stages import counts_columns, stage_lines

_ACCOUNTS: Final = {
    "pld": "privacy losses of all rounds, composed numerically and rounded up (pld)",
    "renyi": "each round's noise is chosen when it comes, within its share of the budget (renyi)",
}
"""Accounts of rounds that differ, in words; the exact ones need none."""
_NOISE: Final = (("weight", "mixing_weight"), ("stddev", "stddev"), ("scale", "scale"))
_DIGITS: Final = 4


def plan_lines(planned: Mapping[str, Any], *, public: str | None = None) -> Iterator[str]:
    """Yield the lines that say what a run would do, cost and lose; what does not apply is left out.

    Args:
        planned: a plan as a mapping; a dry run adds the ledger.
        public: what was assumed about public rows, if that is not known.
    """
    yield f"private units: {planned['n']}"
    yield f"privacy: {amount(planned['epsilon'], planned['delta'])} ({planned['adjacency']})"
    yield f"mechanism: {planned['mechanism']}"
    if public is not None:
        yield f"public rows: {public}"
    if counts_columns(planned):
        yield from _stages(planned["per_round"])
        yield f"cells of a column set in the last stage: about {planned['per_round'][-1]['candidates']} at most"
    else:
        yield from _votes(planned)
    yield f"synthetic rows: {planned['rows']}"
    if "ledger" in planned:
        yield f"ledger: {planned['ledger']}"


def _votes(planned: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a plan that only votes have."""
    yield f"rounds of votes: {planned['rounds']}"
    useful = planned.get("useful_candidates", planned["candidates"])
    beyond = f" (this budget tells about {useful} apart)" if useful < planned["candidates"] else ""
    yield f"candidates in a round: at most {planned['candidates']}{beyond}"
    yield f"variations of each parent in a round: {planned['variations']}"
    if planned["draws"]:
        yield f"draws: {_draws(planned['draws'])}"
    yield from noise_lines(
        weight=planned["mixing_weight"],
        **{"scale" if planned["mechanism"] == "laplace" else "stddev": planned["noise_scale"]},
    )
    yield from round_lines(planned.get("per_round", ()), planned.get("accountant"))
    yield f"a round is worth about {_count(planned['signal'])} noise-free draws"
    if planned["worst_case_tv"] is not None:
        yield f"worst case: {_percent(planned['worst_case_tv'])} of what is drawn is not where the votes are"
    if planned.get("proximity") is not None:
        assumed = " assumed: one histogram does not tell (--proximity)" if planned.get("proximity_assumed") else ""
        yield f"γ{assumed}: {planned['proximity']:.3g}"
    if "recommended" in planned:
        yield f"recommended mechanism: {planned['recommended']}"
        yield f"why: {planned['reason']}"


def _stages(releases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"stages: {len(releases)}, each one release of all its counts"
    yield from (f"stage {place}: {line}" for place, line in enumerate(stage_lines(releases), 1))


def release_lines(privacy: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a finished run released, from privacy.json: its noise, and its rounds or stages."""
    if counts_columns(privacy):
        yield from _stages(privacy["releases"])
        return
    yield from noise_lines(**{name: privacy.get(key) for name, key in _NOISE})
    yield from round_lines(privacy.get("releases", ()), privacy.get("accountant"))


def method_line(planned: Mapping[str, Any]) -> str:
    """Return how a planned run finds its rows."""
    if counts_columns(planned):
        return "method: marginals, counts of column sets (--method votes asks for votes instead)"
    return "method: votes for candidates"


def guarantee_line(privacy: Mapping[str, Any]) -> str:
    """Return ε and δ with what they are about, from privacy.json."""
    stamp = "" if privacy.get("private", True) else "NOT PRIVATE: "
    return (
        f"{stamp}epsilon={at_most(privacy['epsilon'])} delta={at_most(privacy['delta'])} "
        f"({privacy['adjacency']}, unit: {privacy['unit']}, mechanism: {privacy['mechanism']})"
    )


def noise_lines(
    *, weight: float | None = None, stddev: float | None = None, scale: float | None = None
) -> Iterator[str]:
    """Yield how much noise a release holds: the share of noise in a draw, or the noise on each count of votes."""
    if weight is not None:
        yield f"share of noise in a draw: {_percent(weight)}"
    if stddev is not None:
        yield f"noise on a vote: σ = {stddev:.3g} units"
    if scale is not None:
        yield f"noise on a vote: Laplace of scale {scale:.3g} units"


def round_lines(rounds: Sequence[Mapping[str, Any]], accountant: str | None) -> Iterator[str]:
    """Yield what each round releases, where rounds differ, and how they add up, where that is not exact.

    Args:
        rounds: those of a plan (``per_round``) or of privacy.json (``releases``).
        accountant: the account of the run.
    """
    lines = [_release(one) for one in rounds]
    if len({_release({**one, "draws": 0}) for one in rounds}) > 1:  # one draw more or less makes no other round
        for index, (one, line) in enumerate(zip(rounds, lines, strict=True)):
            yield f"round {one.get('round', index) + 1}: {line}"
    if accountant in _ACCOUNTS:
        yield f"accounting: {_ACCOUNTS[accountant]}"


def amount(epsilon: float, delta: float, *, exact: bool = False) -> str:
    """Return a privacy loss in four digits, rounded up: it never says less than was spent; ``exact``: in all digits."""
    written = repr if exact else at_most
    return f"ε = {written(float(epsilon)).removesuffix('.0')}, δ = {written(float(delta)).removesuffix('.0')}"


def _release(one: Mapping[str, Any]) -> str:
    """Return a round's mechanism, candidates, draws and noise."""
    parts = [one["mechanism"]]
    if one.get("candidates") is not None:
        parts.append(f"{one['candidates']} candidates")
    if one.get("draws"):
        parts.append(f"{one['draws']} draws")
    scale = {"scale" if one["mechanism"] == "laplace" else "stddev": one.get("noise_scale")}
    named = {name: one.get(name) for name in ("stddev", "scale") if name in one}
    parts.extend(noise_lines(weight=one.get("mixing_weight"), **(named or scale)))
    return ", ".join(parts)


def at_most(value: float) -> str:
    """Return a number as Python writes it, or rounded up to four digits where it has more: what was spent.

    >>> at_most(1e-06), at_most(8.685889638065036e-07), at_most(0.12345)
    ('1e-06', '8.686e-07', '0.1235')
    """
    return _four_digits(value, ROUND_CEILING)


def at_least(value: float) -> str:
    """Return a number as :func:`at_most` does, but rounded down: what is left to spend.

    >>> at_least(0.00999999999999461)
    '0.009999'
    """
    return _four_digits(value, ROUND_FLOOR)


def _four_digits(value: float, rounding: str) -> str:
    written = repr(float(value))
    exact = Decimal(written)
    if not exact.is_finite() or exact == exact.to_integral_value():
        return written
    short = Context(prec=_DIGITS, rounding=rounding).plus(exact)
    if short == exact:
        return written
    place = short.adjusted()
    return f"{short.scaleb(-place).normalize():f}e{place:+03d}" if place < -_DIGITS else f"{short.normalize():f}"


def _draws(draws: Sequence[int]) -> str:
    groups = [(size, len(list(rounds))) for size, rounds in groupby(size for size in draws if size)]
    return " + ".join(str(size) if times == 1 else f"{times} × {size}" for size, times in groups)


def _count(value: float) -> str:
    return f"{value:.0f}" if value >= 10.0 else f"{value:.2g}"


def _percent(share: float) -> str:
    value = 100.0 * share
    if value == 0.0 or 10.0 <= value < 99.0:
        return f"{value:.0f} %"
    return f"{value:.4g} %" if value >= 99.0 else f"{value:.2g} %"
