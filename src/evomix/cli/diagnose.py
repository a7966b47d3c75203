"""``evomix diagnose``: what inputs are good for, before they are used."""

import math
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from evomix.cli import options
from evomix.cli.console import answer, answer_json, answer_table, warn
from evomix.cli.diagnose_generator import generator
from evomix.cli.failures import FailedAfterCharge, Interrupted, fails
from evomix.cli.numbers import parse_epsilon, parse_whole
from evomix.cli.wording import amount
from evomix.core.errors import EvomixError, SpecError

_NOTHING = "nothing was charged"

diagnose = typer.Typer(help="Say what inputs are good for, before they are used.")
diagnose.command("generator")(generator)


@diagnose.command("public")
def public(
    tables: Annotated[list[Path], typer.Argument(metavar="PUBLIC", help="One public table or several.")],
    *,
    schema: options.Schema = None,
    n: Annotated[
        int | None, typer.Option("--n", parser=parse_whole, metavar="N", help="Private units of the run thought of.")
    ] = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    candidates: Annotated[
        int | None,
        typer.Option("--candidates", parser=parse_whole, metavar="d", help="Candidates of a round (default: planned)."),
    ] = None,
    proximity: options.Proximity = None,
    seed: options.Seed = None,
    public_encoding: options.PublicEncoding = None,
    private: Annotated[
        Path | None,
        typer.Option("--private", metavar="PRIVATE", help="Measure the distance of this private table; costs ε."),
    ] = None,
    epsilon_test: Annotated[
        float | None,
        typer.Option(
            "--epsilon-test", parser=parse_epsilon, metavar="E", help="ε of the measurement (δ = 0), charged."
        ),
    ] = None,
    histogram_out: Annotated[
        Path | None,
        typer.Option(
            "--histogram-out", metavar="FILE.json", help="Write the public votes' shares, for plan --public-histogram."
        ),
    ] = None,
    unit: options.Unit = None,
    dataset: options.Dataset = None,
    budget: options.Budget = None,
    ledger: options.LedgerPath = None,
    encoding: options.Encoding = None,
    as_json: options.Json = False,
) -> None:
    """Say how near public tables are to one another, and whether noise shaped by them would serve a run.

    Reads public data only and costs nothing, unless --private and --epsilon-test ask for one measured, charged figure.
    """
    given = {
        "schema": schema,
        "epsilon": epsilon,
        "delta": delta,
        "candidates": candidates,
        "seed": seed,
        "public_encoding": public_encoding,
        "unit": unit,
        "histogram_out": histogram_out,
    }
    free_only = {"n": n, "proximity": proximity}
    paid_only = {"dataset": dataset, "budget": budget, "ledger": ledger, "encoding": encoding}
    if (private is None) != (epsilon_test is None):
        raise SpecError("--private and --epsilon-test go together: a private table is measured for a stated ε only")
    if private is None:
        _refuse(paid_only, "needs --private")
        from evomix.experiment.diagnosing import diagnose_public  # noqa: PLC0415  (--help must not wait for it)

        found = diagnose_public(tables, **_chosen(given | free_only))
    else:
        _refuse(free_only, "cannot be given with --private, which tells it")
        found = _measure(private, tables, _chosen(given | paid_only) | {"epsilon_test": epsilon_test})
    for warning in found["warnings"]:
        warn(warning)
    if as_json:
        answer_json(found)
    else:
        _print(found)
        if histogram_out is not None:
            answer(f"public votes: {histogram_out}")


def _refuse(given: Mapping[str, Any], why: str) -> None:
    """Refuse an option that would do nothing."""
    for name in _chosen(given):
        raise SpecError(f"--{name} {why}")


def _chosen(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _measure(private: Path, tables: list[Path], given: dict[str, Any]) -> dict[str, Any]:
    """Measure, and say of a stop or a failure what it cost."""
    from evomix.experiment.measuring import measure_public  # noqa: PLC0415
    from evomix.privacy.ledger import Ledger  # noqa: PLC0415

    def charged() -> set[str]:
        return {entry.run_id for entry in Ledger(given.get("ledger")).entries()}

    def what_stays() -> str:
        try:
            spent = bool(charged() - before)
        except EvomixError:
            return "the ledger cannot be read now; `evomix ledger show` will tell whether it was charged"
        return f"{amount(given['epsilon_test'], 0.0)} stays charged" if spent else _NOTHING

    before = charged()
    try:
        return measure_public(private, tables, **given)
    except KeyboardInterrupt:
        raise Interrupted(what_stays()) from None
    except BaseException as error:
        if not fails(error) or (stays := what_stays()) == _NOTHING:
            raise
        raise FailedAfterCharge(error, stays) from error


def _print(found: Mapping[str, Any]) -> None:
    answer("\n".join(_lines(found)))
    if found["columns"]:
        answer_table(
            ("column", "distance", "by sampling alone"),
            [(one["name"], f"{one['distance']:.3f}", f"{one['sampling']:.3f}") for one in found["columns"]],
        )
    if "measured" in found:
        answer("\n".join(_measured_lines(found["measured"])))


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    rows = " + ".join(map(str, found["public_rows"]))
    yield f"public rows: {rows}, on {found['candidates']} candidates"
    if found["measured_proximity"] is None:
        yield f"γ: {found['proximity']:.3f} (too few rows to measure it)"
    else:
        yield (
            f"γ measured: {found['measured_proximity']:.3f} on {found['candidates']} candidates, mean distance between "
            f"{_between(found)}"
        )
        yield f"of that by sampling alone: {found['sampling']:.3f}"
        if found["corrected"] is not None:
            yield f"the tables' laws lie about {found['corrected']:.3f} to {found['measured_proximity']:.3f} apart"
    yield from _verdicts(found)


def _between(found: Mapping[str, Any]) -> str:
    return "the public tables" if found["from"] == "tables" else "random parts of the public table"


def _measured_lines(measured: Mapping[str, Any]) -> Iterator[str]:
    (low, high), digits = measured["interval"], _digits_of(*measured["interval"])
    at_most = _rounded(high, digits, ROUND_CEILING)
    yield (
        f"measured distance of the private votes from the public ones, on {measured['candidates']} candidates: "
        f"{_rounded(measured['distance'], digits, ROUND_HALF_EVEN)} "
        f"({100 * measured['confidence']:.0f} % between {_rounded(low, digits, ROUND_FLOOR)} and {at_most}; "
        f"by sampling alone about {measured['sampling']:.3f})"
    )
    spent = amount(measured["epsilon"], measured["delta"])
    yield f"charged: {spent} ({measured['adjacency']}, unit: {measured['unit']})"
    yield from _verdicts(measured["judged"])
    yield (
        f"what was measured is released: `--proximity {at_most}` of synth or plan rests on it and costs nothing more, "
        f"as long as the run has no more than about {measured['candidates']} candidates"
    )


def _verdicts(judged: Mapping[str, Any]) -> Iterator[str]:
    """Yield the worst case of the draws, and the forecast of the estimate where there is one."""
    yield judged["verdict"]
    if "forecast" in judged:
        yield f"estimate that a run goes on with: {judged['forecast']}"


def _digits_of(low: float, high: float) -> int:
    """Return how many digits after the point show an interval of this width: two of its own, and at least three."""
    width = high - low
    return 3 if width <= 0.0 else min(max(1 - math.floor(math.log10(width)), 3), 17)


def _rounded(value: float, digits: int, rounding: str) -> str:
    """Return a share with ``digits`` after the point; of an interval the ends are rounded outwards."""
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-digits), rounding):f}"
