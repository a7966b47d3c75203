"""``evomix schema``: columns, types, bounds and categories from public data."""

from pathlib import Path
from typing import Annotated

import typer

from evomix.cli import options, text_options
from evomix.cli.console import answer, answer_json, warn


def schema(
    public: Annotated[Path, typer.Argument(metavar="PUBLIC", help="Public table; never a private one.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="SCHEMA.json", help="Where to write it (default: stdout)."),
    ] = None,
    text_column: text_options.TextColumn = None,
    public_encoding: options.PublicEncoding = None,
    as_json: options.Json = False,
) -> None:
    """Write the schema of a PUBLIC table. Read it through before use: wrong bounds cost quality silently."""
    from evomix.formats.table import read_table  # noqa: PLC0415  (--help must not wait for it)
    from evomix.modalities.text.schema import infer_either_schema  # noqa: PLC0415

    inferred = infer_either_schema(read_table(public, encoding=public_encoding or "utf-8"), text=text_column)
    for warning in inferred.warnings:
        warn(warning)
    if out is None:
        answer_json(inferred.schema.to_dict())
        return
    inferred.schema.to_json(out)
    if as_json:
        answer_json({"out": out, "columns": len(inferred.schema.columns), "warnings": inferred.warnings})
    else:
        answer(f"{len(inferred.schema.columns)} columns in {out}")
