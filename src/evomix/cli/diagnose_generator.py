"""``evomix diagnose generator``: whether variations of records lead to data like the public ones."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from evomix.cli import options
from evomix.cli.console import answer, answer_json, answer_table, warn
from evomix.cli.numbers import parse_whole


def generator(
    tables: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PUBLIC]...", help="One public table or several; none needs --schema."),
    ] = None,
    *,
    schema: options.Schema = None,
    points: Annotated[
        int | None,
        typer.Option("--points", parser=parse_whole, metavar="N", help="Targets, and records to vary (default 200)."),
    ] = None,
    variations: Annotated[
        int | None,
        typer.Option(
            "--variations",
            parser=parse_whole,
            metavar="N",
            help="Variations of each record at each scale, to measure their spread (default 64).",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds", parser=parse_whole, metavar="T", help="Rounds of an evolution without noise (default 12)."
        ),
    ] = None,
    seed: options.Seed = None,
    public_encoding: options.PublicEncoding = None,
    unit: options.Unit = None,
    as_json: options.Json = False,
) -> None:
    """Say how far variations go, in how many directions, and how near they come to public rows held out as targets.

    Reads public data only and costs nothing.
    """
    from evomix.experiment.diagnosing_generator import diagnose_generator  # noqa: PLC0415  (--help must not wait)

    given: dict[str, Any] = {
        "schema": schema,
        "points": points,
        "variations": variations,
        "rounds": rounds,
        "seed": seed,
        "public_encoding": public_encoding,
        "unit": unit,
    }
    found = diagnose_generator(tables or [], **{name: value for name, value in given.items() if value is not None})
    for warning in found["warnings"]:
        warn(warning)
    if as_json:
        answer_json(found)
    else:
        _print(found)


def _print(found: Mapping[str, Any]) -> None:
    answer("\n".join(_ground_lines(found)))
    if found["scales"]:
        header = ("scale", "length", "λ", "10 % to 90 %", "λ = ∞", "c", "dimension", "axes", "at least")
        answer_table(header, [_scale_row(one) for one in found["scales"]])
        answer("\n".join(_scale_lines(found)))
    if found["approaches"]:
        titles = ("distance from", "at the start", f"after {found['rounds']} rounds", "reached", "stalled", "a round")
        answer_table(titles, [_approach_row(one) for one in found["approaches"]])
        answer("\n".join(_approach_lines(found)))
    answer(found["verdict"])


def _ground_lines(found: Mapping[str, Any]) -> Iterator[str]:
    rows = " + ".join(map(str, found["public_rows"])) or "none"
    yield f"public rows: {rows}, of which {found['held_out']} held out as targets"
    yield f"coordinates of a record: {found['coordinates']} (λ of variations that spread evenly over all of them)"


def _scale_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    rank = one["rank"]
    return (
        f"{one['scale']:g}",
        f"{one['length']['value']:.3g}",
        _ranged(rank),
        f"{_number(rank['low'])} to {_number(rank['high'])}",
        f"{100 * one['unreachable']:.0f} %",
        f"{one['constant']['value']:.2g}",
        _ranged(one["participation"]),
        str(one["components"]),
        _number(one["correlation"]["value"]),
    )


def _scale_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the columns mean, how exact they are, and what more variations would bring."""
    yield (
        "λ: effective rank towards the targets, median pair (95 % interval); dimension: participation ratio; axes: "
        "that hold 90 % of the variance; at least: correlation dimension"
    )
    errors = [one["rank_error"] for one in found["scales"] if not math.isnan(one["rank_error"])]
    if errors:
        yield f"a single λ is known to within about {100 * max(errors):.0f} % ({found['variations']} variations)"
    best = min(found["scales"], key=lambda one: min(step["value"] for step in one["best_of"].values()))
    steps = "; ".join(f"{count}: × {_ranged(step, digits=3)}" for count, step in best["best_of"].items())
    yield f"expected distance from its target of the nearest of several variations, scale {best['scale']:g}: {steps}"
    if found["theorem"] is not None:
        yield f"factor on the distance in a round, at worst: {_at_worst(found)}"


def _at_worst(found: Mapping[str, Any]) -> str:
    if found["theorem"] >= 1.0:
        return (
            "1 (the theorem says nothing: at some scale less than a third of a record's variations goes towards its "
            "target, c = 0)"
        )
    return f"{found['theorem']:.6g} (1 − c/(200·λ), for the median pair)"


def _approach_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    low, high = one["contraction"]["interval"]
    return (
        one["from"],
        _ranged(one["start"], digits=3),
        _ranged(one["end"], digits=3),
        _share(one["reached"]),
        _share(one["stalled"]),
        f"× {one['contraction']['value']:.3f} ({low:.3f} to {high:.3f})",
    )


def _approach_lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"ceiling: {_ranged(found['ceiling'], digits=3)}, the distance of a random public sample of "
        f"{found['held_out']} rows; reached: targets within their own"
    )
    for one in found["approaches"]:
        curve = ", ".join(f"{distance:.3g}" for distance in one["curve"])
        yield f"distance by round, from {one['from']}: {curve}"


def _share(told: Mapping[str, Any]) -> str:
    low, high = told["interval"]
    return f"{100 * told['value']:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def _ranged(told: Mapping[str, Any], *, digits: int = 2) -> str:
    low, high = told["interval"]
    return f"{_number(told['value'], digits)} ({_number(low, digits)} to {_number(high, digits)})"


def _number(value: float, digits: int = 2) -> str:
    """Return a number in so many digits or all before the point; ∞ and unknown ones as signs."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞"
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"
