"""``evomix demo``: the main job on a real table from an installed package."""

from pathlib import Path
from typing import Annotated

import typer

from evomix.cli import options
from evomix.cli.console import answer_mapping
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
    quality = {} if as_json else shown.pop("quality", {})
    answer_mapping(shown, as_json=as_json)
    answer_quality(quality)
