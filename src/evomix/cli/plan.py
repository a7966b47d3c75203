"""``evomix plan``: what a run would cost and lose, before any private record is opened."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from evomix.cli import options
from evomix.cli.console import answer_mapping
from evomix.core.errors import InputFileError


def plan(
    *,
    n: Annotated[int, typer.Option("--n", metavar="N", help="Number of private units.")],
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
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    answer_mapping(make_plan(n=n, epsilon=epsilon, **chosen).to_dict(), as_json=as_json)


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
