"""``evomix evaluate``: how good a synthetic table, or a table of texts, is, beside ceiling and floor."""

from pathlib import Path
from typing import Annotated

import typer

from evomix.cli import options
from evomix.cli.console import answer, answer_json, say, warn
from evomix.cli.quality import answer_quality
from evomix.cli.text_quality import answer_text_quality


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
    text_column: Annotated[
        str | None,
        typer.Option("--text-column", metavar="NAME", help="Column of texts (default: the one of free text, if any)."),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            "--embedder",
            metavar="minilm|tfidf|MODULE:FUNCTION|FOLDER",
            help="What makes vectors of texts, on this machine (default minilm).",
        ),
    ] = None,
    classifier: Annotated[
        Path | None,
        typer.Option(
            "--classifier",
            metavar="FOLDER",
            help="Transformer to fine-tune on texts, instead of linear models on vectors.",
        ),
    ] = None,
    task: Annotated[
        str,
        typer.Option(
            "--task", metavar="auto|classification|regression", help="What the target of texts is for models."
        ),
    ] = "auto",
    canaries: Annotated[
        Path | None,
        typer.Option(
            "--canaries",
            metavar="CANARIES",
            help="Texts made up as canaries, with a column 'planted': which were among the private texts.",
        ),
    ] = None,
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
        text_column=text_column,
        embedder=embedder,
        classifier=classifier,
        task=task,
        canaries=canaries,
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
    if measured.get("modality") == "text":
        answer_text_quality(measured)
    if report is not None:
        answer(f"report: {report}")
