"""Rivals reach what was published of them or measured with independent restatements.

Gaussian noise under add-remove on Adult and on the 30 % sample of Person Activity, gradient boosting on real test rows.
"""

from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evomix.bench.rivals.grid import Grid, marginal
from evomix.bench.rivals.gsd import gsd
from evomix.bench.rivals.privsyn import privsyn
from evomix.bench.rivals.tab_pe import tab_pe
from evomix.bench.rivals.task import TableTask
from evomix.evaluation.models import predict_classes
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema

DATA = Path(__file__).parents[5] / "shared" / "data"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not DATA.is_dir(), reason="needs the benchmark tables")]


def schema_of(frame, coded=()):
    columns = []
    for name in frame:
        values = frame[name].dropna()
        if name in coded or values.dtype.kind not in "iuf":
            words = tuple(map(str, sorted(values.unique())))
            columns.append(Column(name, "category", values=words, missing=bool(frame[name].isna().any())))
        else:
            columns.append(Column(name, "integer", min=float(values.min()), max=float(values.max())))
    return Schema(tuple(columns))


def accuracy(table, test, schema, target):
    codec = TableCodec(schema)
    train, held_out = codec.encode(table), codec.encode(test)
    position = schema.names.index(target)
    classes = len(schema.column(target).values)
    labels = train[:, position].astype(np.int64)
    scored = predict_classes(train, held_out, schema.modelled, target=position, labels=labels, classes=classes, seed=0)
    return float((scored.argmax(axis=1) == held_out[:, position]).mean())


@pytest.fixture(scope="module")
def adult():
    private, test = (pq.read_table(DATA / "adult" / f"adult_{part}.parquet") for part in ("train", "test"))
    return private, test, schema_of(private.to_pandas())


@pytest.mark.parametrize(
    ("method", "most_tv"),
    [(gsd, 0.050), (privsyn, 0.050)],  # restated search: 0.067 on finer bins; PrivSyn's broken package: 0.433
)
def test_adult_at_epsilon_one_keeps_pairs_and_what_predicts_income(adult, method, most_tv):
    private, test, schema = adult
    task = TableTask(private, None, schema, "income", 1.0, 1e-9, private.num_rows, 0, "add-remove")
    found = method(task)
    grid = Grid(schema)
    real, made = grid.codes(private), grid.codes(found)
    gaps = [
        0.5 * np.abs(marginal(real, grid.sizes, pair) - marginal(made, grid.sizes, pair)).sum() / len(real)
        for pair in combinations(range(len(grid.sizes)), 2)
    ]
    assert np.mean(gaps) < most_tv
    assert accuracy(found, test, schema, "income") == pytest.approx(0.845, abs=0.010)


@pytest.mark.parametrize(("adjacency", "expected"), [("replace-one", 0.531), ("add-remove", 0.559)])
def test_tab_pe_on_person_activity_at_epsilon_one(adjacency, expected):
    rows = pq.read_table(DATA / "person_activity" / "ldpa_30pct.parquet").to_pandas()
    parts = {part: rows[rows.part == part].drop(columns=["part", "person"]) for part in ("private", "test")}
    schema = schema_of(rows.drop(columns=["part", "person"]), ("tag", "activity"))
    private, test = (pa.Table.from_pandas(parts[part], preserve_index=False) for part in ("private", "test"))
    n = private.num_rows
    found = [
        accuracy(
            tab_pe(TableTask(private, None, schema, "activity", 1.0, 1 / (n * np.log(n)), 5_000, seed, adjacency)),
            test,
            schema,
            "activity",
        )
        for seed in range(5)
    ]
    assert np.mean(found) == pytest.approx(expected, abs=0.015)  # both means have a standard error near 0.006
