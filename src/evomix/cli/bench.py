"""``evomix bench``: every method on the same split of the same data, scored alike."""

from pathlib import Path
from typing import Annotated

import typer

from evomix.bench.catalog import CATALOG
from evomix.cli import options, text_options
from evomix.cli.console import answer, answer_json, answer_table, say
from evomix.cli.numbers import parse_epsilon, parse_whole
from evomix.cli.progress import progress_bars

bench = typer.Typer(help="Compare methods on the same data, under the same budget, scored alike.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="A benchmark; `evomix bench list` shows them.")]
Data = Annotated[Path, typer.Option("--data", metavar="FOLDER", help="Folder with the benchmark's files.")]
Epsilons = Annotated[str, typer.Option("--epsilon", metavar="E[,E…]", help="ε of a run, or several of them.")]
Methods = Annotated[
    str | None,
    typer.Option(
        "--methods",
        metavar="NAME[,NAME…]",
        help=f"default, or a preset: {', '.join(options.PRESETS)} (default: all but pe-theory).",
    ),
]
Seeds = Annotated[
    int | None, typer.Option("--seeds", parser=parse_whole, metavar="K", help="Repetitions (default: 5).")
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Folder for results and tables (default: bench/NAME).")
]
Resume = Annotated[bool, typer.Option("--resume", help="Keep the results that the folder has, make those it lacks.")]
BenchRows = Annotated[
    int | None, typer.Option("--rows", parser=parse_whole, metavar="M", help="Synthetic records of a run.")
]


@bench.command("list")
def show(*, as_json: options.Json = False) -> None:
    """Show the benchmarks and the files that each reads."""
    if as_json:
        keys = ("name", "kind", "what", "files", "rows")
        answer_json({"benchmarks": [{key: getattr(one, key) for key in keys} for one in CATALOG]})
        return
    answer_table(("name", "what", "files"), [(one.name, one.what, ", ".join(one.files)) for one in CATALOG])


@bench.command("run")
def run(
    name: Name,
    *,
    data: Data,
    epsilon: Epsilons = "1,2,4",
    methods: Methods = None,
    seeds: Seeds = None,
    rows: BenchRows = None,
    out: Out = None,
    resume: Resume = False,
    rounds: options.Rounds = None,
    candidates: options.Candidates = None,
    generator: text_options.Generator = None,
    model: text_options.Model = None,
    base_url: text_options.BaseUrl = None,
    embedder: text_options.Embedder = None,
    as_json: options.Json = False,
) -> None:
    """Run every method at every ε, score it beside references, and write the tables."""
    from evomix.bench.pages import bench_content, header, rows as rows_at, write_pages  # noqa: PLC0415, I001  (--help must not wait)
    from evomix.bench.running import SEEDS, BenchRequest, run_bench  # noqa: PLC0415
    from evomix.bench.text_contest import TextSettings  # noqa: PLC0415

    request = BenchRequest(
        name=name,
        data=data,
        out=Path("bench") / name if out is None else out,
        epsilons=[parse_epsilon(part.strip(" ")) for part in epsilon.split(",")],
        methods=None if methods is None else [part.strip(" ") for part in methods.split(",")],
        seeds=SEEDS if seeds is None else seeds,
        rows=rows,
        resume=resume,
        settings=TextSettings(generator, model, base_url, embedder, rounds, candidates),
    )
    say("a benchmark takes its data as public: what it writes was read off them without a privacy guarantee.")
    with progress_bars() as progress:
        told = None if progress is None else lambda _what, done, total: progress("results", done, total)
        made = run_bench(request, told=told)
    files = write_pages(made)
    if as_json:
        answer_json(bench_content(made) | {"files": list(files)})
        return
    for one in request.epsilons:
        answer(f"ε = {one:g}")
        answer_table(header(made), rows_at(made, one))
    answer(f"written: {', '.join(map(str, files))}")
