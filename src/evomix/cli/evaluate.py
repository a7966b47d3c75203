"""``evomix evaluate``: how good a synthetic table is, beside ceiling and floor."""

from pathlib import Path
from typing import Annotated

import typer

from evomix.cli import options
from evomix.cli.console import answer, answer_json, say, warn
from evomix.cli.quality import answer_quality


def evaluate(
    *,
    real: Annotated[
        Path,
        typer.Option("--real", metavar="REAL", help="Real rows, best held out. What is printed costs ε = ∞."),
    ],
    synthetic: Annotated[Path, typer.Option("--synthetic", metavar="SYN", help="Synthetic table.")],
    public: Annotated[Path | None, typer.Option("--public", metavar="PUBLIC", help="Public table: the floor.")] = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", metavar="SCHEMA.json", help="Columns, types and bounds.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="COLUMN", help="Column to predict: downstream accuracy.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", metavar="K", help="Repetitions of each model.")] = 3,
    no_geometry: Annotated[
        bool,
        typer.Option("--no-geometry", help="Leave out precision, recall and transport distance of rows as points."),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option("-o", "--report", metavar="report.html", help="Also write a self-contained page."),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="Text encoding of REAL (default utf-8).")
    ] = None,
    public_encoding: options.PublicEncoding = None,
    as_json: options.Json = False,
) -> None:
    """Measure a synthetic table against real rows. The result is not private: it was read off real rows."""
    from evomix.experiment.evaluating import evaluate_files  # noqa: PLC0415  (--help must not wait for it)

    measured = evaluate_files(
        real,
        synthetic,
        public=public,
        target=target,
        report=report,
        schema=schema,
        seeds=seeds,
        geometry=not no_geometry,
        encoding=encoding,
        public_encoding=public_encoding,
    )
    say(
        "these figures were read off real rows (epsilon is infinite): keep them inside unless REAL was held out for it."
    )
    for warning in measured.get("warnings", ()):
        warn(warning)
    if as_json:
        answer_json(measured)
        return
    if verdict := measured.get("verdict"):
        answer(verdict)
    answer_quality(measured)
    if report is not None:
        answer(f"report: {report}")
