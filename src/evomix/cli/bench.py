"""``evomix bench``: every method on the same split of the same data, scored alike."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evomix.bench.catalog import CATALOG, entry
from evomix.cli import options, text_options
from evomix.cli.console import answer, answer_json, answer_table, say
from evomix.cli.numbers import parse_delta, parse_epsilon, parse_whole
from evomix.cli.progress import progress_bars
from evomix.core.errors import SpecError

if TYPE_CHECKING:
    from evomix.bench.running import BenchRequest, Settings

bench = typer.Typer(help="Compare methods on the same data, under the same budget, scored alike.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="A benchmark; `evomix bench list` shows them.")]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="Folder with the benchmark's files, or with folders that hold them."),
]
Epsilons = Annotated[str, typer.Option("--epsilon", metavar="E[,E…]", help="ε of a run, or several of them.")]
Methods = Annotated[
    str | None,
    typer.Option(
        "--methods",
        metavar="NAME[,NAME…]",
        help=f"default, a preset ({', '.join(options.PRESETS)}), or for tables also schema-only, MECHANISM, "
        "MECHANISM-SELECTION or a rival (default: those that matter most).",
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


TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="S",
        help="Seconds on the clock that a result may take; one that takes longer is stopped, and shown so.",
    ),
]
BenchDelta = Annotated[
    float | None,
    typer.Option("--delta", parser=parse_delta, metavar="D", help="δ of every method of tables (default: 1/(n ln n))."),
]


@bench.command("list")
def show(*, as_json: options.Json = False) -> None:
    """Show the benchmarks and the files that each reads."""
    if as_json:
        keys = ("name", "kind", "what", "files", "rows")
        answer_json({"benchmarks": [{key: getattr(one, key) for key in keys} for one in CATALOG]})
        return
    lines = [(one.name, one.kind, one.what, ", ".join(one.files) or "none: it is made") for one in CATALOG]
    answer_table(("name", "kind", "what", "files"), lines)


@bench.command("run")
def run(
    name: Name,
    *,
    data: Data = None,
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
    delta: BenchDelta = None,
    time_limit: TimeLimit = None,
    as_json: options.Json = False,
) -> None:
    """Run every method at every ε, score it beside references, and write the tables."""
    of_texts = {"generator": generator, "model": model, "base_url": base_url, "embedder": embedder}
    of_tables = {"delta": delta, "time_limit_s": time_limit}
    settings = _settings(name, of_texts, of_tables, rounds=rounds, candidates=candidates)
    _run(_request(name, data, epsilon, methods, seeds, rows, out, settings, resume=resume), as_json=as_json)


@bench.command("table")
def table(
    name: Name,
    *,
    data: Data = None,
    epsilon: Epsilons = "1,2,4",
    methods: Methods = None,
    seeds: Seeds = None,
    rows: BenchRows = None,
    out: Out = None,
    resume: Resume = False,
    rounds: options.Rounds = None,
    candidates: options.Candidates = None,
    delta: BenchDelta = None,
    time_limit: TimeLimit = None,
    as_json: options.Json = False,
) -> None:
    """Do what run does for a benchmark of tables, without the options of texts."""
    if (kind := entry(name).kind) != "table":
        raise SpecError(f"name={name!r} is a benchmark of kind={kind!r}; take evomix bench run")
    of_tables = {"delta": delta, "time_limit_s": time_limit}
    settings = _settings(name, {}, of_tables, rounds=rounds, candidates=candidates)
    _run(_request(name, data, epsilon, methods, seeds, rows, out, settings, resume=resume), as_json=as_json)


def _settings(
    name: str, of_texts: dict[str, Any], of_tables: dict[str, Any], *, rounds: int | None, candidates: Any
) -> "Settings":
    """Return the settings of the benchmark's kind; options of the other kind are refused, not ignored."""
    from evomix.bench.table_contest import TableSettings  # noqa: PLC0415  (--help must not wait)
    from evomix.bench.text_contest import TextSettings  # noqa: PLC0415

    kind = entry(name).kind
    others = of_texts if kind == "table" else of_tables
    if given := [option for option, value in others.items() if value is not None]:
        option = given[0].removesuffix("_s").replace("_", "-")
        raise SpecError(f"--{option} has no effect on a benchmark of kind={kind!r}, as name={name!r} is; leave it out")
    if kind == "table":
        return TableSettings(**of_tables, rounds=rounds, candidates=candidates)
    return TextSettings(**of_texts, rounds=rounds, candidates=candidates)


def _request(
    name: str,
    data: Path | None,
    epsilon: str,
    methods: str | None,
    seeds: int | None,
    rows: int | None,
    out: Path | None,
    settings: "Settings",
    *,
    resume: bool,
) -> "BenchRequest":
    from evomix.bench.running import SEEDS, BenchRequest  # noqa: PLC0415

    if data is None and entry(name).files:
        raise SpecError(f"name={name!r} reads {', '.join(entry(name).files)}; name their folder (--data)")
    return BenchRequest(
        name=name,
        data=Path() if data is None else data,
        out=Path("bench") / name if out is None else out,
        epsilons=[parse_epsilon(part.strip(" ")) for part in epsilon.split(",")],
        methods=None if methods is None else [part.strip(" ") for part in methods.split(",")],
        seeds=SEEDS if seeds is None else seeds,
        rows=rows,
        resume=resume,
        settings=settings,
    )


def _run(request: "BenchRequest", *, as_json: bool) -> None:
    from evomix.bench.pages import bench_content, header, rows as rows_at, write_pages  # noqa: PLC0415, I001
    from evomix.bench.running import run_bench  # noqa: PLC0415

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
