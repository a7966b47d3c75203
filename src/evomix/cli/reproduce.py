"""``evomix reproduce``: a figure of a paper, made anew: our numbers, what the paper says, a plot."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from evomix.cli import options
from evomix.cli.console import answer, answer_json, answer_table, say
from evomix.cli.numbers import parse_whole
from evomix.reproduction.catalog import CATALOG, Entry

Data = Annotated[
    Path | None, typer.Option("--data", metavar="FILE", help="Table of states or of texts, its rows taken as public.")
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the plot, the numbers and a page.")]
Seeds = Annotated[int | None, typer.Option("--seeds", parser=parse_whole, metavar="K", help="Repetitions, 2 or more.")]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer points and repetitions: a first look in seconds.")]
EmbedderName = Annotated[
    str | None,
    typer.Option(
        "--embedder", metavar="MODULE:FUNCTION", help="For figures of texts: a function from texts to vectors."
    ),
]

reproduce = typer.Typer(help="Make a figure of a paper anew: our numbers, what the paper says, a plot.")


@reproduce.command("list")
def show(*, as_json: options.Json = False) -> None:
    """Show what can be reproduced, whether it needs data, and how long it takes on two cores."""
    if as_json:
        keys = ("name", "figure", "what", "needs_data", "time", "seeds", "paper")
        answer_json({"figures": [{key: getattr(one, key) for key in keys} for one in CATALOG]})
        return
    rows = [(one.name, one.what, "--data FILE" if one.needs_data else "-", one.time) for one in CATALOG]
    answer_table(("name", "what", "needs", "time"), rows)


def _command_of(chosen: Entry) -> Callable[..., None]:
    def command(
        *,
        data: Data = None,
        out: Out = Path("reproduction"),
        seeds: Seeds = None,
        quick: Quick = False,
        embedder: EmbedderName = None,
        as_json: options.Json = False,
    ) -> None:
        from evomix.reproduction.running import claim_list, reproduce, verdict  # noqa: PLC0415  (--help must not wait)

        made, files = reproduce(chosen.name, data=data, out=out, seeds=seeds, quick=quick, embedder=embedder)
        if chosen.needs_data:
            say("a simulation on rows taken as public: what was written was read off them without a privacy guarantee.")
        if as_json:
            answer_json({"files": list(files), "quick": quick, "claims": claim_list(made, quick=quick)})
            return
        answer_table(made.header, made.rows)
        for claim in made.claims:
            answer(f"{verdict(claim, quick=quick)}: {claim.text} {claim.evidence}")
        for note in made.notes:
            answer(f"note: {note}")
        answer(f"written: {', '.join(map(str, files))}")

    return command


for _one in CATALOG:
    reproduce.command(_one.name, help=f"{_one.figure} of the {_one.known_as} paper: {_one.what}.")(_command_of(_one))
