import numpy as np
import pandas as pd
import pytest

from evomix.experiment import table_points as module
from evomix.experiment.evaluating import evaluate
from evomix.experiment.table_points import table_points
from evomix.modalities.tabular.embedding import TableEmbedder
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.tabular.transform import learn_transforms

SCHEMA = Schema.from_dict(
    {
        "columns": [
            {"name": "age", "type": "integer", "min": 0, "max": 100, "missing": True},
            {"name": "region", "type": "category", "values": ["north", "south", "west"]},
            {"name": "smokes", "type": "boolean"},
        ]
    }
)


def population(n, seed):
    rng = np.random.default_rng(seed)
    age = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 101, n))
    return np.column_stack([age, rng.integers(0, 3, n), rng.integers(0, 2, n)]).astype(float)


def test_all_tables_lie_in_one_space_in_the_distance_of_the_votes():
    rows = {"real": population(40, 1), "synthetic": population(30, 2), "public": population(50, 3)}
    points = table_points(SCHEMA, rows)
    assert (len(points.real), len(points.synthetic), len(points.public)) == (40, 30, 50)
    embedder = TableEmbedder(SCHEMA, learn_transforms(SCHEMA, rows["public"]))
    gaps = ((points.synthetic[:, None] - points.real[None]) ** 2).sum(axis=2)
    first = embedder.embed(rows["synthetic"])[:, None] - embedder.embed(rows["real"])[None]
    number = embedder.kinds == embedder.kinds[0]
    expected = (np.where(number, first**2, first != 0) * embedder.weights).sum(axis=2)
    assert gaps == pytest.approx(expected, abs=1e-5)


def test_large_tables_are_drawn_from(monkeypatch):
    monkeypatch.setattr(module, "MOST_POINTS", 10)
    points = table_points(SCHEMA, {"real": population(40, 1), "synthetic": population(30, 2)})
    assert (len(points.real), len(points.synthetic), points.public) == (20, 10, None)


def frame(n, seed, low=18):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(low, 90, n), "region": rng.choice(["n", "s", "w"], n)})


def test_evaluate_compares_rows_as_points_unless_told_not_to():
    figures = evaluate(frame(200, 1), frame(100, 2), public=frame(80, 3, low=60))
    rows = {row["name"]: row for row in figures["geometry"]["rows"]}
    assert set(rows) == {"precision", "recall", "wasserstein"}
    assert rows["wasserstein"]["synthetic"]["value"] < rows["wasserstein"]["floor"]["value"]
    assert evaluate(frame(200, 1), frame(100, 2), geometry=False)["geometry"] is None
    assert evaluate(frame(1, 1), frame(1, 1))["geometry"] is None
