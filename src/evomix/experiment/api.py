"""The Python face of a run."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from evomix.core.arguments import whole
from evomix.core.arrays import Population
from evomix.core.errors import SpecError
from evomix.experiment.engine import run
from evomix.experiment.finished import Finished
from evomix.experiment.folder_lock import exclusive
from evomix.experiment.rehearsal import refuse_to_replace
from evomix.experiment.run import make_folder, write_report
from evomix.experiment.spec import COUNTS, RunSpec


@dataclass(frozen=True, slots=True)
class Result:
    """A synthetic table and what it cost.

    Attributes:
        privacy: the guarantee and what it rests on, as in privacy.json.
        warnings: sentences for the user.
    """

    _finished: Finished
    _population: Population

    def __repr__(self) -> str:
        told = self.privacy
        stamp = "" if told["private"] else "NOT PRIVATE, "
        return (
            f"Result({stamp}{len(self._population)} rows, epsilon={told['epsilon']!r}, delta={told['delta']!r}, "
            f"{told['adjacency']}, unit: {told['unit']})"
        )

    @property
    def privacy(self) -> dict[str, Any]:
        """The guarantee, under which relation, and the parameters that give it."""
        return self._finished.privacy

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the user."""
        return self._finished.warnings + self._finished.inputs.modality.remarks(self._population)

    @property
    def table(self) -> Any:
        """The synthetic table, a pandas data frame with nullable types (whole numbers stay whole)."""
        return _to_pandas(self._finished, self._population)

    def report(self, path: str | Path) -> Path:
        """Write the self-contained report and return its path."""
        target = Path(path)
        write_report(self._finished, self._population, target)
        return target


def synthesize(private: Any, *, epsilon: float, **settings: Any) -> Result:
    """Make a synthetic table from ``private`` under (ε, δ)-differential privacy.

    Args:
        private: path, pandas or polars frame, or Arrow table.
        epsilon: ε > 0.
        **settings: the options of ``evomix synth`` by name: ``delta``, ``public`` (one table or a list of several),
            ``schema`` (path, dict or Schema), ``rows``, ``method``, ``mechanism``, ``selection``, ``rounds``, ``unit``,
            ``target``, ``seed``, ``dataset``, ``budget``, ``ledger``, … ``run_dir`` keeps checkpoints, so that
            ``resume=True`` can go on.

    Guarantee: the run is charged to the ledger before a record is counted or votes.

    Raises:
        EvomixError: see ``evomix.core.errors``.
    """
    spec = RunSpec.from_mapping({"private": private, "epsilon": epsilon, **settings})
    finished = _run(spec)
    return Result(finished, finished.sample(spec.rows, 0))


class TableSynthesizer:
    """Fit once, under one charge; sample as often as wanted.

    >>> model = TableSynthesizer(epsilon=1.0)  # doctest: +SKIP
    >>> model.fit(private, public=public).sample(1000)  # doctest: +SKIP
    """

    def __init__(self, *, epsilon: float, **settings: Any) -> None:
        """Take the options of :func:`synthesize`; they are checked here, before any record is opened."""
        known = {field.name for field in fields(RunSpec)} - {"private", "public"}
        if unknown := sorted(set(settings) - known):
            raise SpecError(f"unknown setting(s) {', '.join(unknown)}; known: {', '.join(sorted(known))}")
        self._settings = {"epsilon": epsilon, **settings}
        self._finished: Finished | None = None
        self._samples = 0

    def fit(self, private: Any, *, public: Any = None) -> "TableSynthesizer":
        """Charge the ledger and release what ``sample`` needs; returns itself. ``public`` may be a list of tables."""
        spec = RunSpec.from_mapping({"private": private, "public": public, **self._settings})
        self._finished = _run(spec)
        return self

    @property
    def privacy(self) -> dict[str, Any]:
        """The guarantee, as in privacy.json."""
        return self._fitted().privacy

    def sample(self, rows: int) -> Any:
        """Return ``rows`` synthetic rows, new ones at each call. Post-processing; costs nothing more."""
        least, most = COUNTS["rows"]
        rows = whole("rows", rows, least=least, most=most)
        finished = self._fitted()
        self._samples += 1
        return _to_pandas(finished, finished.sample(rows, self._samples))

    def _fitted(self) -> Finished:
        if self._finished is None:
            raise SpecError("the synthesizer is not fitted; call fit(private, public=…) first")
        return self._finished


def _run(spec: RunSpec) -> Finished:
    if spec.run_dir is None:
        return run(spec, folder=None)
    make_folder(spec.run_dir)
    with exclusive(spec.run_dir):
        refuse_to_replace(spec)
        return run(spec, folder=spec.run_dir)


def _to_pandas(finished: Finished, population: Population) -> Any:
    import pandas as pd  # noqa: PLC0415  (only those who ask for a frame pay for it)

    table = finished.inputs.modality.codec.decode(population)
    nullable = {
        "int64": pd.Int64Dtype(),
        "double": pd.Float64Dtype(),
        "bool": pd.BooleanDtype(),
        "string": pd.StringDtype(),
    }
    return table.to_pandas(types_mapper=lambda kind: nullable.get(str(kind)), date_as_object=True)
