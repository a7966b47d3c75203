import numpy as np
import pyarrow as pa
import pytest

from evomix.bench.table_learners import learned_classes, learned_numbers
from evomix.bench.table_references import even_rows, reference_table, table_references
from evomix.bench.table_scores import TableScorer, table_measures
from evomix.bench.table_set import TableSet, codes, real, whole, words
from evomix.bench.table_transport import coordinates, joint_transport, one_way_transport
from evomix.modalities.tabular.schema import Schema

SCHEMA = Schema(
    (whole("age", 0, 99), words("town", "a b c", missing=True), real("cost", 0.0, 1.0), codes("old", (0, 1)))
)


def people(count, seed, *, flip=False):
    """People of whom those above 49 are old."""
    rng = np.random.default_rng(seed)
    age = rng.integers(100, size=count)
    old = (age > 49) != flip
    town = pa.array([("a", "b", "c", None)[k] for k in rng.integers(4, size=count)])
    return pa.table({"age": age, "town": town, "cost": age / 100.0, "old": old.astype(np.int64)})


@pytest.fixture(scope="module")
def parts():
    return TableSet(people(400, 0), people(300, 1), people(200, 2, flip=True), SCHEMA, "old")


def test_real_rows_score_above_wrong_labels_and_even_rows(parts):
    scorer = TableScorer(parts)
    right, wrong = (scorer.score(table, seed=0) for table in (parts.private, parts.public))
    assert list(right) == [one.name for one in table_measures("classification")]
    for name in ("accuracy", "auc", "macro_f1", "rare_recall", "forest_accuracy", "linear_accuracy"):
        assert right[name] > 0.95, name
        assert wrong[name] < 0.05, name
    assert right["tv_2_private"] == 0.0
    assert 0.0 < right["tv_2"] < wrong["tv_2"]
    even = scorer.score(even_rows(SCHEMA, 400, np.random.default_rng(0)), seed=0)
    assert even["w1_1"] < 2 * right["w1_1"] + 0.05  # columns by themselves are even
    assert even["w1_3"] > 1.5 * right["w1_3"]  # their relation is lost
    assert right["tv_5"] is None  # four columns


def test_variation_is_what_is_counted_by_hand():
    schema = Schema((codes("x", (0, 1)), codes("y", (0, 1))))
    table = lambda *rows: pa.table({name: [row[k] for row in rows] for k, name in enumerate("xy")})  # noqa: E731
    parts = TableSet(table((0, 0), (1, 1)), table((0, 0), (1, 1)), None, schema, "y")
    found = TableScorer(parts).score(table((0, 1), (1, 0)), seed=0)
    assert found["tv_1"] == 0.0
    assert found["tv_2"] == found["tv_2_private"] == 1.0
    found = TableScorer(parts).score(table((0, 0), (0, 0)), seed=0)
    assert found["tv_1"] == found["tv_2"] == 0.5
    assert found["accuracy"] == 0.5
    assert found["w1_1"] == pytest.approx(0.5)


def test_numbers_are_scored_by_regression():
    parts = TableSet(people(400, 0), people(300, 1), None, SCHEMA, "cost", "regression")
    found = TableScorer(parts).score(parts.private, seed=0)
    assert list(found) == [one.name for one in table_measures("regression")]
    assert found["rmse"] < 0.05
    assert found["r2"] > 0.95
    assert found["forest_rmse"] < 0.05
    assert found["linear_rmse"] < 0.05
    directions = {one.name: one.better for one in table_measures("regression")}
    assert directions["rmse"] == "lower"
    assert directions["r2"] == "higher"


def test_a_whole_number_may_be_a_class():
    schema = Schema((whole("grade", 3, 5), real("mark", 0.0, 1.0)))
    grades = np.arange(90) % 3 + 3
    table = pa.table({"grade": grades, "mark": (grades - 3) / 2.0})
    assert TableScorer(TableSet(table, table, None, schema, "grade")).score(table, seed=0)["accuracy"] == 1.0


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_rows_without_a_target_are_not_asked_and_empty_tables_have_no_score(task):
    schema = Schema((whole("y", 0, 3, missing=True), real("x", 0.0, 1.0)))
    table = pa.table({"y": pa.array([0, 3, None] * 30), "x": [0.0, 1.0, 0.5] * 30})
    scorer = TableScorer(TableSet(table, table, None, schema, "y", task))
    name = "accuracy" if task == "classification" else "r2"
    assert scorer.score(table, seed=0)[name] > 0.9
    assert set(scorer.score(table.slice(0, 0), seed=0).values()) == {None}
    blank = scorer.score(pa.table({"y": pa.nulls(9, pa.int64()), "x": [0.5] * 9}), seed=0)
    assert blank[name] is None
    assert blank["tv_1"] > 0.0


@pytest.mark.parametrize("learner", ["boosting", "forest", "linear"])
def test_learners_take_any_training_table(learner):
    columns, rng = SCHEMA.modelled, np.random.default_rng(0)
    rows = np.stack([rng.integers(100, size=60), rng.integers(3, size=60), rng.random(60), rng.integers(2, size=60)], 1)
    rows = rows.astype(np.float64)
    rows[::7, 1] = np.nan
    labels = rows[:, 3].astype(np.int64) * 2  # class 1 never occurs
    arguments = {"target": 3, "labels": labels, "classes": 4, "seed": 0}
    found = learned_classes(learner, rows, rows, columns, **arguments)
    assert found.shape == (60, 4)
    assert found[:, [1, 3]].max() == 0.0
    assert found.sum(axis=1) == pytest.approx(1.0)
    one = learned_classes(learner, rows[:1], rows, columns, **arguments | {"labels": labels[:1]})
    assert (one[:, labels[0]] == 1.0).all()
    flat = learned_numbers(learner, np.zeros((5, 4)), rows, columns, target=2, seed=0)
    assert (flat == 0.0).all()
    again = learned_classes(learner, rows, rows, columns, **arguments)
    assert (found == again).all()


def test_boosting_does_not_collapse_on_a_rare_class():
    rng = np.random.default_rng(0)
    schema = Schema((real("x", 0.0, 1.0), real("z", 0.0, 1.0), codes("y", range(6))))
    x = rng.random(3000)
    y = np.where(rng.random(3000) < 0.002, 5, (x * 5).astype(np.int64))
    rows = np.stack([x, rng.random(3000), y], 1)
    arguments = {"target": 2, "labels": y, "classes": 6, "seed": 0}
    found = learned_classes("boosting", rows, rows, schema.modelled, **arguments)
    assert (found.argmax(axis=1) == y).mean() > 0.98


def test_transport_of_one_column_is_exact():
    columns = SCHEMA.modelled
    here = np.array([[0.0, 0.0, 0.0, 0.0], [99.0, 1.0, 1.0, 1.0]])
    there = np.array([[99.0, np.nan, 0.5, 0.0], [99.0, 1.0, 1.0, 1.0]])
    left, right = (coordinates(rows, columns) for rows in (here, there))
    assert one_way_transport(left, left) == 0.0
    # age: half the mass over the whole range; town: half of it changes; cost: half of it over half; old: none.
    assert one_way_transport(left, right) == pytest.approx((0.5 + 0.5 + 0.25 + 0.0) / 4.0)
    assert joint_transport(left, left, 2, seed=0) == pytest.approx(0.0)
    both = joint_transport(left, right, 4, seed=0)
    assert both == pytest.approx(0.5 * np.sqrt(1.0 + 1.0 + 0.25))


def test_a_missing_number_is_apart_from_every_other():
    columns = (whole("n", 0, 10, missing=True),)
    here, there = (coordinates(np.array(rows), columns) for rows in ([[0.0], [0.0]], [[0.0], [np.nan]]))
    assert one_way_transport(here, there) == pytest.approx(0.5)


def test_references_are_what_they_say(parts):
    names = table_references(parts)
    made = {name: reference_table(name, parts, 100, 0) for name in names}
    assert "public_all" in names
    assert made["real_all"] is parts.private
    assert made["public_same_rows"].num_rows == made["real_columns"].num_rows == made["uniform"].num_rows == 100
    real_rows = {str(row) for row in parts.private.to_pylist()}
    for name in ("real_same_rows", "real_bootstrap"):
        assert {str(row) for row in made[name].to_pylist()} <= real_rows
    broken = made["real_columns"]
    assert not {str(row) for row in broken.to_pylist()} <= real_rows
    assert np.abs(np.corrcoef(broken["age"].to_numpy(), broken["old"].to_numpy())[0, 1]) < 0.3
    assert reference_table("uniform", parts, 100, 1) != made["uniform"] == reference_table("uniform", parts, 100, 0)
    alone = TableSet(parts.private, parts.test, None, SCHEMA, "old")
    assert not [name for name in table_references(alone) if name.startswith("public")]
