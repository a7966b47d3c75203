"""``evomix demo``: the main job on a real table that an installed package ships."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from evomix.core.arrays import IntArray
from evomix.core.errors import EnvironmentFailure
from evomix.experiment.evaluating import evaluate
from evomix.experiment.inputs import Progress
from evomix.experiment.run import synthesize_to_file
from evomix.experiment.spec import RunSpec
from evomix.formats.table import write_table

EPSILON: Final = 1.0
TARGET: Final = "any_visit"
SPLIT_SEED: Final = 20_190
COLUMNS: Final = {
    "mdvis": "visits",
    "lncoins": "log_coinsurance",
    "idp": "individual_deductible",
    "lpi": "log_incentive_payment",
    "fmde": "deductible_expenditure",
    "physlm": "physical_limitation",
    "disea": "chronic_diseases",
    "hlthg": "health_good",
    "hlthf": "health_fair",
    "hlthp": "health_poor",
}

_RELEASED: Final = ("method", "mechanism", "accountant", "mixing_weight", "draws", "stddev", "scale", "releases")
"""What privacy.json says of the releases."""


def load_health_insurance() -> pa.Table:
    """Return the RAND health insurance experiment, 20,190 rows, as statsmodels ships it (Newhouse 1993).

    ``any_visit`` says whether a person saw a doctor in the year; it takes the place of the number of visits.

    Raises:
        EnvironmentFailure: statsmodels is not installed.
    """
    try:
        from statsmodels.datasets import randhie  # noqa: PLC0415  (an optional dependency)
    except ImportError as error:
        raise EnvironmentFailure('the demo needs statsmodels: pip install "evomix[demo]"') from error
    frame = randhie.load_pandas().data.rename(columns=COLUMNS)
    columns: dict[str, Any] = {}
    for name in frame.columns:
        cells = frame[name].to_numpy(np.float64)
        whole = bool((cells == np.round(cells)).all())
        columns[name] = cells.astype(np.int64) if whole else np.round(cells, 3)
    columns[TARGET] = np.where(columns.pop("visits") > 0, "yes", "no")
    return pa.table(columns)


def split_rows(table: pa.Table) -> dict[str, IntArray]:
    """Return the rows of each part: a tenth public, half private, the rest held out to measure on.

    The public part has too many of the chronically ill, as a survey among patients would: public data are seldom
    drawn from the very people that the private table is about.
    """
    rng = np.random.default_rng(SPLIT_SEED)
    rows = table.num_rows
    odds = 1.0 + table.column("chronic_diseases").to_numpy() ** 2
    public = rng.choice(rows, rows // 10, replace=False, p=odds / odds.sum())
    others = rng.permutation(np.setdiff1d(np.arange(rows), public))
    return {"public": public, "private": others[: rows // 2], "held_out": others[rows // 2 :]}


def run_demo(folder: Path, *, progress: Progress | None = None) -> dict[str, Any]:
    """Run the main job in ``folder`` and return what was made and how good it is.

    Raises:
        EnvironmentFailure: the demo's data are not installed.
    """
    table = load_health_insurance()
    parts = split_rows(table)
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.csv" for name in parts}
    for name, rows in parts.items():
        write_table(table.take(pa.array(rows)), paths[name])
    out = folder / "synthetic.csv"
    spec = RunSpec(
        private=paths["private"],
        public=paths["public"],
        epsilon=EPSILON,
        target=TARGET,
        out=out,
        dataset="evomix demo",
        ledger=folder / "ledger.sqlite",
        overwrite=True,  # the demo's own folder, with a budget of its own
    )
    outcome = synthesize_to_file(spec, progress=progress)
    report = folder / "evaluation.html"
    if progress is not None:
        progress("measuring on held-out rows", 0, 1)
    measured = evaluate(paths["held_out"], out, public=paths["public"], target=TARGET, report=report)
    if progress is not None:
        progress("measuring on held-out rows", 1, 1)
    return {
        "synthetic table": str(out),
        "privacy report": str(outcome.run_dir / "report.html"),
        "evaluation": str(report),
        "rows": outcome.rows,
        "guarantee": {name: outcome.privacy[name] for name in ("epsilon", "delta", "adjacency", "unit", "n")},
        "mechanism": {name: outcome.privacy[name] for name in _RELEASED if outcome.privacy.get(name) is not None},
        "quality": headline(measured),
    }


def headline(measured: dict[str, Any]) -> dict[str, Any]:
    """Return the few figures that a first look needs."""
    return {name: measured[name] for name in ("verdict", "fidelity", "downstream") if name in measured}
