"""What the benchmarks of synthetic tables share: the command, the call, and scores beside ceiling and floor."""

import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

import evomix
from evomix.bench.table_contest import default_delta
from evomix.bench.table_sets import TableSet
from measuring import Cost, run_process


def synth(private: Path, folder: Path, **options: object) -> tuple[pd.DataFrame, Cost]:
    """Run ``evomix synth PRIVATE --option value …`` in a process of its own, its files in ``folder``."""
    out = folder / "synthetic.csv"
    command = [str(Path(sys.executable).with_name("evomix")), "synth", str(private), "--out", str(out), "--overwrite"]
    for option, value in options.items():
        command += [f"--{option}", str(value)]
    cost = run_process(command, EVOMIX_LEDGER=str(folder / "ledger.sqlite"))
    return pd.read_csv(out), cost


def made_of(parts: TableSet, *, epsilon: float, seed: int, **options: object) -> pa.Table:
    """Return what ``evomix.synthesize`` makes of a set, as many rows as it has private ones, at the default δ."""
    with tempfile.TemporaryDirectory() as folder:
        run = evomix.synthesize(
            parts.private,
            public=parts.public,
            schema=parts.schema,
            target=parts.target,
            epsilon=epsilon,
            delta=default_delta(parts.units),
            rows=parts.private.num_rows,
            seed=seed,
            ledger=Path(folder) / "ledger.sqlite",
            **options,
        )
    return pa.Table.from_pandas(run.table, preserve_index=False)


def scores(real: pd.DataFrame, synthetic: Any, public: pd.DataFrame, *, target: str | None = None) -> dict[str, Any]:
    """Return {"tv": {arm: [1-way, 2-way, 3-way]}, "accuracy": {arm: …}, "auc": {arm: …}}.

    Arms: synthetic; ceiling, as many rows of the real table itself; floor, the public rows; uniform, rows even
    over the schema (no model, for accuracy and AUC).
    """
    found = evomix.evaluate(real, synthetic, public=public, target=target, seeds=1, geometry=False)
    marginals = found["fidelity"]["marginals"]
    parts = {"synthetic": "mean", "ceiling": "ceiling", "floor": "floor", "uniform": "uniform"}
    answer = {"tv": {arm: [item[part] for item in marginals] for arm, part in parts.items()}}
    if found["downstream"]:
        arms = {"synthetic": "synthetic", "ceiling": "real_same_rows", "floor": "public", "uniform": "guess"}
        by_name = {item["name"]: item["scores"] for item in found["downstream"]["arms"]}
        for score in ("accuracy", "auc"):
            answer[score] = {arm: by_name[name][score]["mean"] for arm, name in arms.items()}
    return answer
