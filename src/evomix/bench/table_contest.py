"""A table benchmark: split tables, evomix and its rivals on them, and their scores."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from evomix.bench.catalog import Entry
from evomix.bench.contest import Made, Measured, made_here
from evomix.bench.rivals.registry import find_rival, load_rival
from evomix.bench.table_job import Job, do_apart, run_settings, unable_to
from evomix.bench.table_references import reference_table, table_references
from evomix.bench.table_scores import TableScorer, table_measures
from evomix.bench.table_set import TableSet
from evomix.bench.table_sets import read_table_set
from evomix.core.errors import SpecError
from evomix.experiment.identity import fingerprint
from evomix.experiment.spec import RunSpec
from evomix.privacy.calibration import check_delta, check_epsilon

LEAST_ROWS: Final = 10
MOST_ROWS: Final = 50_000
"""Synthetic records by default, of a larger private table: more would not change what is learned from them."""


@dataclass(frozen=True, slots=True)
class TableSettings:
    """On what terms every method of a table benchmark works.

    Attributes:
        delta: δ of a run; None for 1/(n ln n), n being the number of private units.
        time_limit_s: seconds on the clock that a result may take; None for as many as it needs.
        rounds, candidates: of runs of evomix, as the options of ``evomix synth``; None for what a run takes by default.

    Raises:
        SpecError: δ is not between 0 and 1, or the time not above 0.
    """

    delta: float | None = None
    time_limit_s: float | None = None
    rounds: int | None = None
    candidates: Any = None

    def __post_init__(self) -> None:
        if self.delta is not None:
            check_delta(self.delta)
        if self.time_limit_s is not None and not 0.0 < self.time_limit_s < math.inf:
            raise SpecError(f"expected a time limit above 0 seconds; found time_limit_s={self.time_limit_s!r}")

    @property
    def words(self) -> Mapping[str, Any]:
        """The settings by option of the command line."""
        return {
            "delta": self.delta,
            "time-limit": None if self.time_limit_s is None else f"{self.time_limit_s:g}",
            "rounds": self.rounds,
            "candidates": self.candidates,
        }

    def of_runs(self) -> dict[str, Any]:
        """Return the settings of runs of evomix that are given."""
        given = {"rounds": self.rounds, "candidates": self.candidates}
        return {name: value for name, value in given.items() if value is not None}


class TableContest:
    """A :class:`~evomix.bench.contest.Contest` of tables.

    Every method gets the same schema, target, budget, seed and relation (replace-one, the number of units public), and
    works in a process of its own.

    Args:
        entry: of the catalog.
        folder: of its files.
        parts: private, test and public part.
        rows: synthetic rows of a method, at least 10; None for as many as private ones, 50,000 at most.
        settings: of every method.
        ledger: file that runs of evomix are charged to.

    Raises:
        SpecError: too few rows.
    """

    def __init__(
        self,
        entry: Entry,
        folder: str | Path,
        parts: TableSet,
        *,
        rows: int | None,
        settings: TableSettings,
        ledger: Path,
    ) -> None:
        self._rows = min(parts.private.num_rows, MOST_ROWS) if rows is None else rows
        if self._rows < LEAST_ROWS:
            raise SpecError(f"expected at least {LEAST_ROWS} rows to score; found rows={self._rows}")
        self._entry, self._folder, self._parts = entry, Path(folder).resolve(), parts
        self._settings, self._ledger = settings, ledger.resolve()
        self._delta = default_delta(parts.units) if settings.delta is None else settings.delta
        self._scorer: TableScorer | None = None

    @classmethod
    def open(
        cls, entry: Entry, folder: str | Path, *, rows: int | None, settings: TableSettings, ledger: Path
    ) -> "TableContest":
        """Read the data; arguments as of the class.

        Raises:
            SpecError: a file is missing, or a setting is wrong.
            InputFileError: a file cannot be read.
        """
        return cls(entry, folder, read_table_set(entry, folder), rows=rows, settings=settings, ledger=ledger)

    @property
    def measures(self) -> tuple[Measured, ...]:
        """The scores."""
        return table_measures(self._parts.task)

    @property
    def references(self) -> tuple[str, ...]:
        """Real rows, public ones where there are some, and what knows less."""
        return table_references(self._parts)

    @property
    def time_limit_s(self) -> float | None:
        """Seconds on the clock that a result may take."""
        return self._settings.time_limit_s

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides scores, the tables by their content."""
        parts = self._parts
        tables = {"private": parts.private, "test": parts.test, "public": parts.public}
        return {
            "rows": self._rows,
            "delta": self._delta,
            "schema": parts.schema.to_dict(),
            "target": parts.target,
            **{name: str(value) for name, value in self._settings.of_runs().items()},
            **{name: fingerprint(table).hex()[:16] for name, table in tables.items() if table is not None},
        }

    @property
    def facts(self) -> Mapping[str, Any]:
        """Sizes, and the terms."""
        parts = self._parts
        unit = {} if parts.unit is None else {"private units": parts.units}
        public = {} if parts.public is None else {"public records": parts.public.num_rows}
        limit = {} if self.time_limit_s is None else {"time limit": f"{self.time_limit_s:g} s"}
        return {
            "private records": parts.private.num_rows,
            **unit,
            "test records": parts.test.num_rows,
            **public,
            "synthetic records": self._rows,
            "columns": len(parts.schema.modelled),
            "target": parts.target,
            "δ": f"{self._delta:.3g}",
            "relation": "replace-one",
            **limit,
            **{name: str(value) for name, value in self._settings.of_runs().items()},
            "notes": parts.notes,
        }

    def check(self, method: str, epsilon: float) -> None:
        """Refuse a budget or settings that no run could have, and a rival that is not installed."""
        check_epsilon(epsilon)
        if unable_to(method, self._parts):
            return
        if (rival := find_rival(method)) is not None:
            load_rival(rival)
            return
        settings = run_settings(self._job(method, epsilon, 0), self._parts)
        RunSpec.from_mapping({"private": self._parts.private, "epsilon": epsilon, **settings})

    def synthesize(self, method: str, epsilon: float, seed: int, *, folder: Path) -> Made:
        """Return the table of a method; one that cannot do this set, or takes too long, says so.

        Raises:
            EvomixError: as :func:`~evomix.bench.table_job.do_apart`.
        """
        if reason := unable_to(method, self._parts):
            return Made(None, unable=reason)
        return do_apart(self._job(method, epsilon, seed), folder, time_limit_s=self.time_limit_s)

    def reference(self, name: str, seed: int, *, folder: Path) -> Made:
        """Return the table of a reference; ``folder`` stays empty."""
        del folder
        return made_here(lambda: reference_table(name, self._parts, self._rows, seed))

    def score(self, table: pa.Table, *, seed: int, complete: bool) -> dict[str, float | None]:
        """Return the scores of a table; marginals depend on its number of rows, which is told beside them."""
        del complete
        return self._scoring().score(table, seed=seed)

    def make_ready(self) -> None:
        """Nothing: what a result needs, its own process makes."""

    def _scoring(self) -> TableScorer:
        if self._scorer is None:
            self._scorer = TableScorer(self._parts)
        return self._scorer

    def _job(self, method: str, epsilon: float, seed: int) -> Job:
        return Job(
            bench=self._entry.name,
            data=str(self._folder),
            method=method,
            epsilon=epsilon,
            delta=self._delta,
            rows=self._rows,
            seed=seed,
            ledger=str(self._ledger),
            settings=self._settings.of_runs(),
        )


def default_delta(units: int) -> float:
    """Return δ = 1/(n ln n), as the papers have it; n is public.

    Raises:
        SpecError: n is 1 or 2, for which it is no probability.
    """
    if units < 3:
        raise SpecError(f"expected at least 3 private units, or a delta of its own; found {units}")
    return 1.0 / (units * math.log(units))
