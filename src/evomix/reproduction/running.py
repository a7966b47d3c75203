"""Make a figure and leave its plots, its numbers and a page about them.

What comes out was read off real rows without a guarantee, so every file says that it is not private. The same call
writes the same bytes again, versions of the software aside.
"""

import importlib.metadata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from evomix.core.errors import SpecError
from evomix.experiment.artifacts import software, write_json
from evomix.formats.atomic import write_text
from evomix.reproduction.catalog import CATALOG, Entry, entry
from evomix.reproduction.census import NEEDED, WHERE_FROM, States, read_states
from evomix.reproduction.figure import Claim, Reproduction, Request
from evomix.reproduction.registry import FIGURES
from evomix.reproduction.texts import WHAT_IS_NEEDED, Texts, read_texts

QUICK_SEEDS: Final = 2
_ROWS: Final = "a simulation, read off rows declared public with seeded randomness; no budget was charged"
_MADE_UP: Final = "a simulation on made-up records with seeded randomness; no budget was charged"
_ARITHMETIC: Final = "arithmetic on public numbers, so there is nothing to protect"
_PRELIMINARY: Final = "Preliminary: fewer points and repetitions than the whole figure has, so verdicts may change."
LEAST_SEEDS: Final = 2  # with one repetition nothing can be said about chance


def reproduce(
    name: str,
    *,
    out: str | Path,
    data: str | Path | None = None,
    seeds: int | None = None,
    quick: bool = False,
    embedder: str | None = None,
) -> tuple[Reproduction, tuple[Path, ...]]:
    """Make a figure; write NAME.svg (and NAME-….svg where it has more plots), NAME.json and NAME.md.

    A simulation with seeded randomness on data declared public: no ledger is charged and nothing is promised.

    Args:
        name: a name of the catalog.
        out: folder, made where it does not exist.
        data: table of states or of texts, for the figures that need one.
        seeds: repetitions, 2 or more, for the figures in which something is random; None for the usual number.
        quick: fewer points and repetitions.
        embedder: MODULE:FUNCTION that gives the vectors of a list of texts, for the figures that read texts.

    Returns:
        The figure and the files written.

    Raises:
        SpecError: an unknown name, data or an embedder where none is read or none where it is needed, or too few
            ``seeds``.
        InputFileError: ``data`` cannot be read as what the figure needs, or has too little of it.
        EnvironmentFailure: the disk refuses.
    """
    chosen = _entry(name)
    if embedder is not None and not chosen.texts:
        raise SpecError(f"{chosen.name} reads no texts, found --embedder={embedder!r}; leave it out")
    rows = _rows(chosen, data)
    repetitions = _repetitions(chosen, seeds, quick=quick)
    folder = _folder(out)
    states, texts = (None, rows) if isinstance(rows, Texts) else (rows, None)
    made = FIGURES[name](Request(states, repetitions, quick, texts, embedder))
    return made, _write(chosen, made, rows, folder, quick=quick)


def _entry(name: str) -> Entry:
    if name not in FIGURES:
        known = ", ".join(one.name for one in CATALOG)
        raise SpecError(f"no figure is called name={name!r}; known are {known}")
    return entry(name)


def _rows(chosen: Entry, data: str | Path | None) -> States | Texts | None:
    if chosen.needs_data and data is None:
        states = f"the columns {', '.join(NEEDED)}. {WHERE_FROM}"
        raise SpecError(f"{chosen.name} needs --data FILE, a table with {WHAT_IS_NEEDED if chosen.texts else states}.")
    if not chosen.needs_data and data is not None:
        raise SpecError(f"{chosen.name} reads no data, found --data={str(data)!r}; leave it out")
    if data is None:
        return None
    return read_texts(data) if chosen.texts else read_states(data)


def _repetitions(chosen: Entry, seeds: int | None, *, quick: bool) -> int:
    if seeds is None:
        return QUICK_SEEDS if quick else chosen.seeds
    if not chosen.seeds:
        raise SpecError(f"nothing in {chosen.name} is random, found --seeds={seeds}; leave it out")
    if seeds < LEAST_SEEDS:
        raise SpecError(f"expected --seeds of {LEAST_SEEDS} or more, found --seeds={seeds}")
    return seeds


def _folder(out: str | Path) -> Path:
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(f"expected a folder for the figure, found --out={str(out)!r}: {error.strerror}") from None
    return folder


def _write(
    chosen: Entry, made: Reproduction, read: States | Texts | None, folder: Path, *, quick: bool
) -> tuple[Path, ...]:
    plots = [(folder / f"{chosen.name}{suffix}.svg", svg) for suffix, svg in made.plots]
    numbers, page = folder / f"{chosen.name}.json", folder / f"{chosen.name}.md"
    for path, svg in plots:
        write_text(path, svg)
    write_json(numbers, _record(chosen, made, read, quick=quick))
    write_text(page, _page(chosen, made, read, [path.name for path, _ in plots], quick=quick))
    return (*(path for path, _ in plots), numbers, page)


def _why_not_private(chosen: Entry) -> str:
    if chosen.needs_data:
        return _ROWS
    return _MADE_UP if chosen.seeds else _ARITHMETIC


def _record(chosen: Entry, made: Reproduction, read: States | Texts | None, *, quick: bool) -> Mapping[str, Any]:
    rows = None if read is None else {"file": read.source, "sha256": read.sha256, "declared": "public"}
    return {
        "name": chosen.name,
        "figure": chosen.figure,
        "paper": chosen.paper,
        "simulation": chosen.seeds > 0,
        "private": False,
        "quick": quick,
        "why_not_private": _why_not_private(chosen),
        "data": rows,
        "settings": made.settings,
        "claims": claim_list(made, quick=quick),
        "table": {"header": made.header, "rows": made.rows},
        "notes": made.notes,
        "numbers": made.numbers,
        "software": software() | {"scikit-learn": importlib.metadata.version("scikit-learn")},
    }


def claim_list(made: Reproduction, *, quick: bool = False) -> list[dict[str, object]]:
    """Return the claims as plain values; of a quick figure they are preliminary."""
    return [
        {"claim": claim.text, "supported": claim.supported, "preliminary": quick, "evidence": claim.evidence}
        for claim in made.claims
    ]


def verdict(claim: Claim, *, quick: bool = False) -> str:
    """Return a claim's verdict in words."""
    if isinstance(claim.supported, bool):
        told = "supported" if claim.supported else "not supported"
    else:
        told = claim.supported
    return f"{told} (preliminary)" if quick else told


def _page(chosen: Entry, made: Reproduction, read: States | Texts | None, plots: list[str], *, quick: bool) -> str:
    data = "" if read is None else " --data FILE"
    lines = [
        f"# {chosen.figure}: {chosen.what}",
        "",
        f"`evomix reproduce {chosen.name}{data}{' --quick' if quick else ''}`. {chosen.paper}",
        "",
        *([_PRELIMINARY, ""] if quick else []),
        f"Not private: {_why_not_private(chosen)}.",
        *(["", _rows_and_repetitions(made, read)] if chosen.seeds else []),
        "",
        *(f"![{chosen.what}]({name})" for name in plots),
        "",
        _line(made.header),
        _line("---" for _ in made.header),
        *map(_line, made.rows),
        "",
        *(f"* **{verdict(claim, quick=quick)}**: {claim.text} {claim.evidence}" for claim in made.claims),
        *(f"* {note}" for note in made.notes),
    ]
    return "\n".join(lines) + "\n"


def _rows_and_repetitions(made: Reproduction, read: States | Texts | None) -> str:
    rows = f"Rows: `{read.source}`. " if read else ""
    return f"{rows}Repetitions: {made.settings['seeds']}."


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
