"""``evomix demo``: the main job on a real table from an installed package."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from evomix.cli import options
from evomix.cli.console import answer, answer_json
from evomix.cli.progress import progress_bars
from evomix.cli.quality import answer_quality


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
    privacy, weight = shown["guarantee"], shown["mechanism"].get("mixing_weight")
    answer(f"{shown['rows']} rows, made from {privacy['n']} private ones")
    answer(
        f"epsilon={privacy['epsilon']!r} delta={privacy['delta']!r} ({privacy['adjacency']}, unit: {privacy['unit']}, "
        f"mechanism: {shown['mechanism']['mechanism']})"
    )
    if weight is not None:
        answer(f"share of noise in a draw: {weight:.0%}".replace("%", " %"))
    if verdict := shown["quality"].get("verdict"):
        answer(verdict)
    answer_quality(shown["quality"])
