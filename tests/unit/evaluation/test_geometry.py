import json

import numpy as np
import pytest
from evaluation_tables import COLUMNS, related_rows

from evomix.core.errors import SpecError
from evomix.evaluation import geometry as module
from evomix.evaluation.evaluate import evaluate
from evomix.evaluation.geometry import Points, geometry


def points(n, seed, shift=0.0):
    return np.random.default_rng(seed).normal(size=(n, 3)) + shift


def test_real_points_in_the_synthetic_ones_place_are_the_ceiling():
    found = geometry(Points(points(400, 1), points(100, 2, 2.0), public=points(150, 3, 1.0)), seed=0)
    assert (found.real_points, found.synthetic_points, found.public_points) == (300, 100, 100)
    for name, sign in (("precision", 1), ("recall", 1), ("wasserstein", -1)):
        row = found[name]
        assert sign * row.synthetic.value < sign * row.floor.value < sign * row.ceiling.value


def test_control_rows_are_the_ceiling_where_there_are_some():
    found = geometry(Points(points(200, 1), points(100, 2), control=points(80, 3)), seed=0)
    assert (found.real_points, found.synthetic_points) == (200, 80)
    assert found["recall"].floor is None


def test_large_tables_are_sampled(monkeypatch):
    monkeypatch.setattr(module, "MOST_POINTS", 50)
    monkeypatch.setattr(module, "_MOST_TRANSPORTED", 20)
    found = geometry(Points(points(300, 1), points(200, 2)), seed=0)
    assert (found.real_points, found.synthetic_points) == (50, 50)
    assert found["wasserstein"].synthetic.error > 0.0


@pytest.mark.parametrize(
    ("real", "made", "there"), [(1, 1, False), (4, 1, False), (5, 1, True), (6, 9, False), (7, 9, True)]
)
def test_too_few_real_rows_have_no_geometry(real, made, there):
    assert (geometry(Points(points(real, 1), points(made, 2)), seed=0) is not None) == there


def test_empty_tables_are_refused():
    with pytest.raises(SpecError, match="rows in both tables"):
        geometry(Points(points(9, 1), np.empty((0, 3))), seed=0)


def test_an_evaluation_has_it_where_points_are_given():
    real, made = related_rows(60, 1), related_rows(40, 2)
    given = Points(np.nan_to_num(real), np.nan_to_num(made), public=np.empty((0, 4)))
    found = evaluate(real, made, COLUMNS, points=given).to_dict()
    json.dumps(found, allow_nan=False)
    assert [row["name"] for row in found["geometry"]["rows"]] == ["precision", "recall", "wasserstein"]
    assert found["geometry"]["rows"][0]["floor"] is None
    assert evaluate(real, made, COLUMNS).to_dict()["geometry"] is None
