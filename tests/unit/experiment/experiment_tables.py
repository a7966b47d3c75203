"""Small tables to run on."""

import json

import numpy as np
import pyarrow as pa

from evomix.experiment.inputs import open_inputs
from evomix.experiment.spec import RunSpec
from evomix.formats.table import write_table

SCHEMA = {
    "columns": [
        {"name": "age", "type": "integer", "min": 0, "max": 99},
        {"name": "income", "type": "number", "min": 0, "max": 1000, "missing": True},
        {"name": "job", "type": "category", "values": ["a", "b", "c"], "other": True},
    ]
}
TINY = {"columns": [{"name": "job", "type": "category", "values": ["a", "b", "c"]}]}
NARROW = {"columns": [{"name": name, "type": "integer", "min": 0, "max": 9} for name in ("x", "y")]}
CONSTANT = {"columns": [{"name": "job", "type": "category", "values": ["a"]}]}


def people(rows, *, seed=0):
    rng = np.random.default_rng(seed)
    ages = rng.integers(18, 80, rows)
    return pa.table(
        {
            "age": ages,
            "income": np.where(rng.random(rows) < 0.1, np.nan, np.round(ages * rng.uniform(1, 9, rows), 2)),
            "job": np.array(["a", "b", "c", "other"])[np.minimum(rng.integers(0, 8, rows), 3)],
        }
    )


def file_spec(folder, **changes):
    """A small run on files in ``folder``."""
    write_table(people(60), folder / "private.csv")
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    settings = {"epsilon": 1.0, "delta": 1e-6, "candidates": 20, "rounds": 2, "rows": 5}
    return RunSpec(
        private=folder / "private.csv", schema=folder / "schema.json", out=folder / "made.csv", **(settings | changes)
    )


def counted_spec(folder, **changes):
    """A small run on files in ``folder`` that counts column sets, in four stages."""
    settings = {"candidates": None, "rounds": None, "method": "marginals", "target": "job", "seed": 1}
    return file_spec(folder, **(settings | changes))


def jobs(rows, *, values=("a", "b", "c")):
    return pa.table({"job": np.array(values)[np.arange(rows) % len(values)]})


def points(rows, x, y):
    return pa.table({"x": [x] * rows, "y": [y] * rows})


def ready(private, **settings):
    spec = RunSpec.from_mapping({"private": private, "epsilon": 1.0, "seed": 3, **settings})
    return spec, open_inputs(spec)
