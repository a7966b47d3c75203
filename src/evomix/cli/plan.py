"""``evomix plan``: what a run would cost and lose, before any private record is opened."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from evomix.cli import options
from evomix.cli.console import answer, answer_json, warn
from evomix.cli.numbers import parse_whole
from evomix.cli.wording import plan_lines
from evomix.core.errors import InputFileError, SpecError


def plan(
    *,
    n: Annotated[int, typer.Option("--n", parser=parse_whole, metavar="N", help="Number of private units.")],
    epsilon: options.RequiredEpsilon,
    delta: options.Delta = None,
    rows: options.Rows = None,
    rounds: options.Rounds = None,
    candidates: options.Candidates = None,
    mechanism: options.Mechanism = None,
    public_histogram: Annotated[
        Path | None,
        typer.Option(
            "--public-histogram",
            metavar="FILE.json",
            help="Shares of the public votes: a JSON list, one a candidate.",
        ),
    ] = None,
    public: Annotated[
        bool | None,
        typer.Option(
            "--public/--no-public",
            help="Whether public rows will be at hand (default: no, unless pubmix uses a public histogram).",
            show_default=False,
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say what a run would cost and lose; no private record is opened, nothing is spent."""
    from evomix.experiment.planning import plan as make_plan  # noqa: PLC0415  (--help must not wait for it)

    given: dict[str, Any] = {
        "delta": delta,
        "rows": rows,
        "rounds": rounds,
        "candidates": candidates,
        "mechanism": mechanism,
        "public_histogram": None if public_histogram is None else _histogram(public_histogram),
        "informed": public,
    }
    if public is False and (public_histogram is not None or mechanism == "pubmix"):
        raise SpecError("--no-public contradicts --public-histogram and --mechanism pubmix, which rest on public rows")
    chosen = {name: value for name, value in given.items() if value is not None}
    planned = make_plan(n=n, epsilon=epsilon, **chosen).to_dict()
    for warning in planned["warnings"]:
        warn(warning)
    if as_json:
        answer_json(planned)
        return
    answer("\n".join(plan_lines(planned, public=_assumption(public, planned["mechanism"]))))


def _assumption(public: bool | None, mechanism: str) -> str:
    if public is None:
        return "assumed at hand, for pubmix" if mechanism == "pubmix" else "assumed none (--public if there will be)"
    return "assumed at hand (--public)" if public else "assumed none (--no-public)"


def _histogram(path: Path) -> list[float]:
    """Read the JSON list; its numbers are checked where they are used."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputFileError(f"Cannot read public_histogram={str(path)!r}: {error.strerror}.") from None
    except ValueError:
        values = None
    if not isinstance(values, list) or not all(type(value) in {int, float} for value in values):
        raise InputFileError(f"Expected a JSON list of numbers, one a candidate, in public_histogram={str(path)!r}.")
    return [float(value) for value in values]
