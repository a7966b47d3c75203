"""The tables of a benchmark: Markdown, JSON and a page, with the command that makes them again."""

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from evomix.bench.running import Bench
from evomix.bench.summary import Line, Mean, best_at, line_content, near_best
from evomix.experiment.artifacts import software, write_json
from evomix.formats.atomic import write_text
from evomix.reports.pages import render_page

NOT_PRIVATE: Final = (
    "Not private: a benchmark takes its data as public, and scores are read off real records without a guarantee."
)
READING: Final = (
    "± is the standard error of the mean over repetitions: those of the run, the split of the data being one for all. "
    "Noise is drawn anew each time, so another run gives other figures. The best mean of the methods is marked "
    "(bold, or ●), and so are means within one standard error of it (italic, or ○), that of the difference of the two. "
    "Seconds are those of making the records, without scoring."
)
READING_BY_KIND: Final = {
    "text": "Texts of the data are encoded once, before. Memory is the whole process's at its peak.",
    "table": (
        "Each method runs in a process of its own, so that memory compares: it is that process's at its peak, the "
        "libraries and the tables included. The first run after an installation compiles, which its seconds hold."
    ),
}
MARKS: Final = ("{} ●", "{} ○")
"""How the best figure is shown, and one within a standard error of it."""
_MARKDOWN: Final = ("**{}**", "_{}_")
_COSTS: Final = ("wall s", "CPU s", "peak MB")


def write_pages(bench: Bench) -> tuple[Path, ...]:
    """Write NAME.md, NAME.json and NAME.html into the folder of the benchmark and return their paths.

    Raises:
        EnvironmentFailure: the disk refuses; older files are untouched.
    """
    name, folder = bench.request.name, bench.request.out
    page, numbers, html = (folder / f"{name}.{kind}" for kind in ("md", "json", "html"))
    write_json(numbers, bench_content(bench))
    write_text(page, _markdown(bench))
    grids = [(f"ε = {epsilon:g}", header(bench), rows(bench, epsilon)) for epsilon in bench.request.epsilons]
    write_text(
        html,
        render_page(
            "bench.html.j2",
            title=f"Benchmark {name}",
            what=bench.entry.what,
            command=bench.request.command,
            warning=NOT_PRIVATE,
            facts=_facts(bench),
            grids=grids,
            notes=[_reading(bench), *bench.facts["notes"]],
        ),
    )
    return page, numbers, html


def bench_content(bench: Bench) -> dict[str, Any]:
    """Return all figures as JSON content."""
    return {
        "name": bench.request.name,
        "what": bench.entry.what,
        "command": bench.request.command,
        "private": False,
        "why_not_private": NOT_PRIVATE,
        "facts": dict(bench.facts),
        "measures": [asdict(one) for one in bench.measures],
        "lines": [line_content(line) for line in bench.lines],
        "best": {f"{epsilon:g}": best_at(bench.lines, epsilon, bench.measures) for epsilon in bench.request.epsilons},
        "near_best": {
            f"{epsilon:g}": near_best(bench.lines, epsilon, bench.measures) for epsilon in bench.request.epsilons
        },
        "results": [asdict(result) for result in bench.results],
        "machine": {"system": platform.platform(), "cores": os.cpu_count()},
        "software": software(),
    }


def header(bench: Bench) -> tuple[str, ...]:
    """Return the headings of the table of an ε; an arrow says which way is better."""
    measures = (f"{one.title} {'↑' if one.better == 'higher' else '↓'}" for one in bench.measures)
    return ("method", "records", "runs", *measures, *_COSTS)


def rows(bench: Bench, epsilon: float, *, marks: tuple[str, str] = MARKS) -> list[tuple[str, ...]]:
    """Return the table of an ε: its methods, then the references.

    Args:
        bench: the benchmark.
        epsilon: one of its ε.
        marks: templates of the best figure of the methods, and of those within a standard error of it.
    """
    best, near = (of(bench.lines, epsilon, bench.measures) for of in (best_at, near_best))
    patterns = {(name, score): marks[name != best[score]] for score, names in near.items() for name in names}
    made = [line for line in bench.lines if line.epsilon == epsilon]
    beside = [line for line in bench.lines if line.epsilon is None]
    return [_row(bench, line, patterns if line.epsilon is not None else {}) for line in (*made, *beside)]


def _row(bench: Bench, line: Line, patterns: Mapping[tuple[str, str], str]) -> tuple[str, ...]:
    scores = [
        patterns.get((line.name, one.name), "{}").format(_shown(line.scores[one.name], 3)) for one in bench.measures
    ]
    costs = (_shown(line.wall_s, 1), _shown(line.cpu_s, 1), _shown(line.peak_mb, 0))
    title = f"{line.title}: {line.unable}" if line.unable else line.title
    return (title, f"{line.rows:,}", str(line.repetitions), *scores, *costs)


def _shown(figure: Mean, digits: int) -> str:
    if figure.mean is None:
        return "–"
    told = f"{figure.mean:.{digits}f}"
    return told if figure.error is None or digits < 3 else f"{told} ± {figure.error:.{digits}f}"


def _reading(bench: Bench) -> str:
    return f"{READING} {READING_BY_KIND[bench.entry.kind]}"


def _facts(bench: Bench) -> list[tuple[str, str]]:
    return [
        (name, f"{value:,}" if isinstance(value, int) else str(value))
        for name, value in bench.facts.items()
        if name != "notes"
    ]


def _markdown(bench: Bench) -> str:
    lines = [
        f"# Benchmark {bench.request.name}",
        "",
        f"{bench.entry.what[0].upper()}{bench.entry.what[1:]}.",
        "",
        f"`{bench.request.command}`",
        "",
        f"evomix {software()['evomix']}, Python {platform.python_version()}, {os.cpu_count()} cores. "
        + "; ".join(f"{name}: {value}" for name, value in _facts(bench))
        + ".",
        "",
        NOT_PRIVATE,
        "",
    ]
    for epsilon in bench.request.epsilons:
        lines += [f"## ε = {epsilon:g}", "", *_table(header(bench), rows(bench, epsilon, marks=_MARKDOWN)), ""]
    return "\n".join([*lines, _reading(bench), *(f"\n{note}" for note in bench.facts["notes"])]) + "\n"


def _table(headings: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (headings, ["---"] * len(headings), *body)]
