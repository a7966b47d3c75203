"""``evomix demo``: the main job on a real table from an installed package."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from evomix.cli import options
from evomix.cli.console import answer, answer_json
from evomix.cli.progress import progress_bars
from evomix.cli.quality import answer_quality
from evomix.cli.wording import guarantee_line, release_lines


def demo(
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Folder for what it makes.")] = Path(
        "evomix-demo"
    ),
    as_json: options.Json = False,
) -> None:
    """Make a synthetic table from a real one (RAND health insurance experiment), in about a minute."""
    from evomix.experiment.demo import run_demo  # noqa: PLC0415  (--help must not wait for it)

    with progress_bars() as progress:
        shown = run_demo(out, progress=progress)
    if as_json:
        answer_json(shown)
        return
    _print(shown)


def _print(shown: Mapping[str, Any]) -> None:
    """Print the files, the guarantee and the quality in few lines."""
    for name in ("synthetic table", "privacy report", "evaluation"):
        answer(f"{name}: {shown[name]}")
    privacy = {**shown["guarantee"], **shown["mechanism"]}
    answer(f"{shown['rows']} rows, made from {privacy['n']} private ones")
    answer(guarantee_line(privacy))
    for line in release_lines(privacy):
        answer(line)
    if verdict := shown["quality"].get("verdict"):
        answer(verdict)
    answer_quality(shown["quality"])
