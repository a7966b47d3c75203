"""A text benchmark: split tables, runs of evomix on them, and their scores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

import evomix
from evomix.bench import shared_encoder
from evomix.bench.catalog import Entry
from evomix.bench.contest import Made, Measured, made_here
from evomix.bench.cost import Cost
from evomix.bench.methods import TEXT_METHODS, TEXT_REFERENCES
from evomix.bench.shared_encoder import SharedEncoder, in_use
from evomix.bench.text_scores import TextScorer, measures_of
from evomix.bench.text_sets import TEXT, TextTables, read_text_tables
from evomix.core.errors import EnvironmentFailure, SpecError
from evomix.experiment import artifacts
from evomix.experiment.identity import fingerprint
from evomix.experiment.model_choice import generator_of
from evomix.experiment.preparing import has_prepared
from evomix.experiment.spec import RunSpec
from evomix.experiment.text_side import open_texts
from evomix.modalities.text.codec import read_texts
from evomix.modalities.text.named_encoder import DEFAULT, make_encoder

LEAST_ROWS: Final = 10


@dataclass(frozen=True, slots=True)
class TextSettings:
    """How every method of a text benchmark writes and places texts; as the options of ``evomix synth``.

    None of them is what a run takes by default.
    """

    generator: str | None = None
    model: str | None = None
    base_url: str | None = None
    embedder: str | None = None
    rounds: int | None = None
    candidates: Any = None

    @property
    def words(self) -> Mapping[str, Any]:
        """The settings by option of the command line."""
        names = ("generator", "model", "embedder", "rounds", "candidates")
        return {name: getattr(self, name) for name in names} | {"base-url": self.base_url}

    def of_runs(self) -> dict[str, Any]:
        """Return the settings that are given, but the encoder's."""
        names = ("generator", "model", "base_url", "rounds", "candidates")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class TextContest:
    """A :class:`~evomix.bench.contest.Contest` of texts.

    Args:
        tables: private, test and public part.
        rows: synthetic texts of a method, at least 10.
        settings: of every run.
        encoder: of every run and score.
        ledger: file that runs are charged to.

    Raises:
        SpecError: too few rows.
    """

    def __init__(
        self, tables: TextTables, *, rows: int, settings: TextSettings, encoder: SharedEncoder, ledger: Path
    ) -> None:
        if rows < LEAST_ROWS:
            raise SpecError(f"expected at least {LEAST_ROWS} rows to score; found rows={rows}")
        self._tables, self._rows, self._settings, self._ledger = tables, rows, settings, ledger
        self._encoder = encoder
        self._scorer: TextScorer | None = None

    @classmethod
    def open(
        cls, entry: Entry, folder: str | Path, *, rows: int, settings: TextSettings, ledger: Path
    ) -> "TextContest":
        """Read the data and load the encoder.

        Raises:
            SpecError: a file is missing, or a setting is wrong.
            InputFileError: a file cannot be read.
            EnvironmentFailure: what runs the encoder is not installed.
        """
        tables = read_text_tables(entry, folder)
        encoder = SharedEncoder(make_encoder(settings.embedder or DEFAULT, read_texts(tables.public, TEXT)))
        return cls(tables, rows=rows, settings=settings, encoder=encoder, ledger=ledger)

    @property
    def measures(self) -> tuple[Measured, ...]:
        """The scores."""
        return measures_of(self._tables.task)

    @property
    def references(self) -> tuple[str, ...]:
        """All that texts have."""
        return tuple(TEXT_REFERENCES)

    @property
    def time_limit_s(self) -> None:
        """None: a run of texts waits for its model as long as that takes."""
        return

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides scores, the tables by their content."""
        parts = ("private", "test", "public")
        tables = {part: fingerprint(getattr(self._tables, part)).hex()[:16] for part in parts}
        return {
            "rows": self._rows,
            "embedder": self._encoder.name,
            **{name: str(value) for name, value in self._settings.of_runs().items()},
            **tables,
        }

    @property
    def facts(self) -> Mapping[str, Any]:
        """Sizes, and who writes and places texts."""
        tables, writer = self._tables, self._spec("default", 1.0, 0)
        unit = {} if tables.unit is None else {"private units": len(tables.private.column(tables.unit).unique())}
        return {
            "private records": tables.private.num_rows,
            **unit,
            "test records": tables.test.num_rows,
            "public records": tables.public.num_rows,
            "synthetic records": self._rows,
            "target": tables.target,
            "texts proposed by": generator_of(writer) if writer.model is None else str(writer.model),
            "embedder": self._encoder.name,
            **{name: str(getattr(writer, name)) for name in ("rounds", "candidates") if getattr(writer, name)},
            "notes": tables.notes,
        }

    def check(self, method: str, epsilon: float) -> None:
        """Refuse settings that no run could have; see :class:`RunSpec`."""
        self._spec(method, epsilon, 0)

    def synthesize(self, method: str, epsilon: float, seed: int, *, folder: Path) -> Made:
        """Return the texts of a run, charged to the benchmark's own ledger.

        Answers of a language model are kept in ``folder`` until the result is, so that none is asked for twice.

        Raises:
            EvomixError: as :func:`evomix.synthesize`.
        """
        return _made(lambda: self._run(method, epsilon, seed, folder), folder)

    def _run(self, method: str, epsilon: float, seed: int, folder: Path) -> pa.Table:
        given = self._of_run(method, seed)
        if generator_of(self._spec(method, epsilon, seed)) != "recombine":
            given |= {"run_dir": folder, "resume": artifacts.has_run(folder) or has_prepared(folder)}
        try:
            with in_use(self._encoder):
                made = evomix.synthesize(self._tables.private, epsilon=epsilon, **given)
        except EnvironmentFailure as error:
            if not given.get("resume"):
                raise
            raise EnvironmentFailure(f"{error}. To make this one result anew, remove the folder {folder}") from error
        return pa.Table.from_pandas(made.table, preserve_index=False)

    def reference(self, name: str, seed: int, *, folder: Path) -> Made:
        """Return real texts, public ones, or first candidates, for which a model's answers are kept in ``folder``."""
        return _made(lambda: self._reference(name, seed, folder), folder)

    def _reference(self, name: str, seed: int, folder: Path) -> pa.Table:
        tables, rng = self._tables, np.random.default_rng(seed)
        real, public = (part.select([TEXT, tables.target]) for part in (tables.private, tables.public))
        match name:
            case "real_all":
                return real
            case "public_all":
                return public
            case "real_same_rows" | "public_same_rows":
                held = real if name == "real_same_rows" else public
                return held.take(pa.array(rng.permutation(held.num_rows)[: self._rows]))
            case _:
                return self._first(seed, rng, folder)

    def score(self, table: pa.Table, *, seed: int, complete: bool) -> dict[str, float | None]:
        """Return the scores of texts; figures of points only where the table has the rows of a method."""
        return self._scoring().score(table, seed=seed, points=complete)

    def _first(self, seed: int, rng: np.random.Generator, folder: Path) -> pa.Table:
        """Return as many first candidates as a method has rows: what the generator does without a vote."""
        with in_use(self._encoder):
            modality = open_texts(self._spec("default", 1.0, seed), folder, None).modality
            return modality.codec.decode(modality.first(self._rows, rng))

    def _scoring(self) -> TextScorer:
        """Return the scorer; the benchmark's own texts are encoded once, when it is first needed."""
        if self._scorer is None:
            for part in (self._tables.public, self._tables.private, self._tables.test):
                self._encoder.keep(read_texts(part, TEXT))
            self._scorer = TextScorer(self._tables, self._encoder)
        return self._scorer

    def make_ready(self) -> None:
        """Encode the benchmark's own texts, once, and forget what the last result proposed."""
        self._encoder.forget()
        self._scoring()

    def _spec(self, method: str, epsilon: float, seed: int) -> RunSpec:
        return RunSpec.from_mapping({"private": self._tables.private, "epsilon": epsilon, **self._of_run(method, seed)})

    def _of_run(self, method: str, seed: int) -> dict[str, Any]:
        tables, given = self._tables, self._settings.of_runs()
        if given.get("generator") != "recombine":  # which is not told what to write
            given |= {"prompts": tables.prompts, "domain": tables.domain}
        return given | {
            "public": tables.public,
            "modality": "text",
            "text_column": TEXT,
            "target": tables.target,
            "unit": tables.unit,
            "embedder": shared_encoder.NAME,
            "rows": self._rows,
            "seed": seed,
            "ledger": self._ledger,
            **TEXT_METHODS[method],
        }


def _made(make: Callable[[], pa.Table], folder: Path) -> Made:
    """Return what is made; its seconds are not known where an interrupted go left a part of it."""
    in_two_goes = folder.exists()
    found = made_here(make)
    return replace(found, cost=Cost(peak_mb=found.cost.peak_mb)) if in_two_goes else found
