"""Run a benchmark: every method, ε and repetition that has no result yet, then the tables."""

import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final, TypeAlias

import evomix
from evomix.bench.catalog import Entry, entry
from evomix.bench.contest import Contest, Measured
from evomix.bench.methods import FIXED, chosen_methods, usual_methods
from evomix.bench.results import RESULTS_FILE, Result, keep_result, key_of, load_results
from evomix.bench.summary import Line, summarise
from evomix.bench.table_contest import TableContest, TableSettings
from evomix.bench.text_contest import TextContest, TextSettings
from evomix.core.arguments import whole
from evomix.core.errors import SpecError
from evomix.experiment.folder_lock import exclusive

EPSILONS: Final = (1.0, 2.0, 4.0)
SEEDS: Final = 5
MOST_SEEDS: Final = 10_000
LEDGER_FILE: Final = "ledger.sqlite"
RUNS: Final = "runs"
Settings: TypeAlias = TextSettings | TableSettings
_SETTINGS: Final[Mapping[str, type[Settings]]] = {"text": TextSettings, "table": TableSettings}
Told = Callable[[str, int, int], None]
"""Called with (what is being done, results there are, results there will be)."""


@dataclass(frozen=True, slots=True)
class BenchRequest:
    """What to compare.

    Attributes:
        name: of the benchmark.
        data: folder with its files.
        out: folder for results and tables; made where it does not exist.
        epsilons: each ε of a whole run.
        methods: names; None for the usual ones.
        seeds: repetitions.
        rows: synthetic records; None for the benchmark's own number.
        resume: whether to go on with what ``out`` holds.
        settings: how texts are written and placed, or on what terms tables are made; None for the usual way.

    Raises:
        SpecError: an unknown benchmark or method, settings for another kind of record, or a number out of range.
    """

    name: str
    data: Path
    out: Path
    epsilons: Sequence[float] = EPSILONS
    methods: Sequence[str] | None = None
    seeds: int = SEEDS
    rows: int | None = None
    resume: bool = False
    settings: Settings | None = None

    def __post_init__(self) -> None:
        known = entry(self.name)
        object.__setattr__(self, "methods", chosen_methods(self.methods, known.kind))
        object.__setattr__(self, "epsilons", tuple(dict.fromkeys(self.epsilons)))
        whole("seeds", self.seeds, least=1, most=MOST_SEEDS)
        rows = known.rows if self.rows is None else self.rows
        object.__setattr__(self, "rows", None if rows is None else whole("rows", rows, least=1))
        settings = _SETTINGS[known.kind]() if self.settings is None else self.settings
        if not isinstance(settings, _SETTINGS[known.kind]):
            raise SpecError(f"{self.name} is about records of kind={known.kind!r}; found settings of another kind")
        object.__setattr__(self, "settings", settings)
        if not self.epsilons:
            raise SpecError("expected at least one epsilon to compare methods at; found none")

    @property
    def command(self) -> str:
        """The command line that does the same, but for the folders."""
        assert self.settings is not None
        usual = usual_methods(entry(self.name).kind)
        given: dict[str, Any] = {
            "epsilon": tuple(f"{one:g}" for one in self.epsilons),
            "methods": None if self.methods == usual else self.methods,
            "seeds": self.seeds,
            "rows": self.rows,
            **self.settings.words,
        }
        words = [f"--{name} {shlex.quote(_word(value))}" for name, value in given.items() if value is not None]
        return " ".join(["evomix bench run", self.name, "--data FOLDER", *words])


def _word(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, slots=True)
class Bench:
    """A finished benchmark.

    Attributes:
        request: what was asked for.
        entry: of the catalog.
        measures: the scores.
        facts: sizes and sources.
        lines: methods by ε, then references.
        results: every repetition.
    """

    request: BenchRequest
    entry: Entry
    measures: tuple[Measured, ...]
    facts: Mapping[str, Any]
    lines: tuple[Line, ...]
    results: tuple[Result, ...]


def run_bench(request: BenchRequest, *, told: Told | None = None) -> Bench:
    """Make every result that is missing, and sum them up.

    Each result is kept on the disk as soon as it is there. Takes the data as public: nothing here is private, though
    every run is charged to a ledger in the folder, as any run is.

    Raises:
        SpecError: results are there and ``resume`` is not set, a file of data is missing, or a setting is wrong.
        EvomixError: as a run; what was made until then is kept.
    """
    _make_folder(request.out)
    with exclusive(request.out):
        if (request.out / RESULTS_FILE).exists() and not request.resume:
            raise SpecError(
                f"out={str(request.out)!r} holds results of a benchmark; go on with them (--resume), or name another "
                "folder (--out)"
            )
        known = entry(request.name)
        contest = _open(request, known)
        results = _all_results(request, contest, told or (lambda _what, _done, _total: None))
        facts = contest.facts
        return Bench(request, known, contest.measures, facts, summarise(results), tuple(results))


def _open(request: BenchRequest, known: Entry) -> Contest:
    """Return what the benchmark compares on; each kind of record has its own way in here."""
    ledger = request.out / LEDGER_FILE
    if isinstance(request.settings, TableSettings):
        return TableContest.open(known, request.data, rows=request.rows, settings=request.settings, ledger=ledger)
    assert request.rows is not None
    assert request.settings is not None
    return TextContest.open(known, request.data, rows=request.rows, settings=request.settings, ledger=ledger)


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(f"expected a folder for results, found out={str(out)!r}: {error.strerror}") from None


def _all_results(request: BenchRequest, contest: Contest, told: Told) -> list[Result]:
    for method, given in product(request.methods or (), request.epsilons):
        contest.check(method, given)
    held = load_results(request.out)
    decides = {"bench": request.name, "evomix": evomix.__version__, **contest.identity}
    cells = list(_cells(request, contest.references))
    found = []
    ended: dict[tuple[str, float | None], bool] = {}  # whether a repetition came to its end
    for done, (name, epsilon, seed) in enumerate(cells):
        told(f"{name}{'' if epsilon is None else f', ε = {epsilon:g}'}, seed {seed}", done, len(cells))
        key = key_of(decides | {"name": name, "epsilon": epsilon, "seed": seed})
        if key not in held or not held[key].holds(contest.time_limit_s):
            if ended.get((name, epsilon)) is False:
                continue  # too slow for the limit, as far as was seen
            held[key] = _result(request, contest, key, name, epsilon, seed)
            keep_result(request.out, held[key])
            shutil.rmtree(request.out / RUNS / key, ignore_errors=True)
        ended[name, epsilon] = ended.get((name, epsilon), False) or held[key].over_s is None
        found.append(held[key])
    told("done", len(cells), len(cells))
    return found


def _cells(request: BenchRequest, references: Sequence[str]) -> Iterator[tuple[str, float | None, int]]:
    """Yield name, ε and seed of every result; all methods of a repetition come before the next repetition."""
    for seed in range(request.seeds):
        for epsilon in request.epsilons:
            for method in request.methods or ():
                yield method, epsilon, seed
        for name in references:
            if seed == 0 or name not in FIXED:
                yield name, None, seed


def _result(request: BenchRequest, contest: Contest, key: str, name: str, epsilon: float | None, seed: int) -> Result:
    contest.make_ready()
    folder = request.out / RUNS / key
    folder.parent.mkdir(exist_ok=True)
    if epsilon is None:
        made = contest.reference(name, seed, folder=folder)
    else:
        made = contest.synthesize(name, epsilon, seed, folder=folder)
    if made.table is None:
        scores: Mapping[str, float | None] = {one.name: None for one in contest.measures}
    else:
        scores = contest.score(made.table, seed=seed, complete=name not in FIXED)
    return Result(
        key=key,
        name=name,
        epsilon=epsilon,
        seed=seed,
        rows=0 if made.table is None else made.table.num_rows,
        scores=scores,
        wall_s=made.cost.wall_s,
        cpu_s=made.cost.cpu_s,
        peak_mb=made.cost.peak_mb,
        unable=made.unable,
        over_s=made.over_s,
    )
