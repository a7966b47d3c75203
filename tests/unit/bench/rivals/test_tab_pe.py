import numpy as np
import pyarrow as pa
import pytest

from evomix.bench.rivals import tab_pe as module
from evomix.bench.rivals.spending import Spending
from evomix.bench.rivals.tab_pe import evolve, tab_pe
from evomix.bench.rivals.tab_pe_space import Space
from evomix.bench.rivals.task import TableTask
from evomix.core.errors import SpecError
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema

MIXED = Schema(
    (
        Column("x", "number", min=-1.0, max=3.0),
        Column("count", "integer", min=0, max=9, missing=True),
        Column("kind", "category", values=("a", "b", "c"), missing=True),
        Column("label", "category", values=("no", "yes")),
    )
)


def spending(rho, seed=0):
    return Spending(rho, adjacency="replace-one", rng=np.random.default_rng(seed))


def test_fresh_rows_are_even_over_the_schema():
    rows = Space(MIXED, "label").random(np.repeat([0, 1], 20_000), np.random.default_rng(0))
    assert np.histogram(rows[:, 0], 4, (-1, 3))[0] / 40_000 == pytest.approx(np.full(4, 0.25), abs=0.015)
    there = rows[~np.isnan(rows[:, 1]), 1]
    assert len(there) / 40_000 == pytest.approx(0.5, abs=0.015)
    assert np.bincount(there.astype(int), minlength=10) / len(there) == pytest.approx(np.full(10, 0.1), abs=0.01)
    assert np.isnan(rows[:, 2]).mean() == pytest.approx(0.25, abs=0.015)
    assert rows[:, 3].tolist() == [0.0] * 20_000 + [1.0] * 20_000


def test_variations_move_numbers_by_the_rate_and_redraw_categories_at_it():
    space, rng = Space(MIXED, "label"), np.random.default_rng(1)
    rows = np.tile([1.0, 5.0, 0.0, 1.0], (40_000, 1))
    varied = space.vary(rows, 0.2, rng)
    moved = varied[:, 0] - 1.0
    assert np.abs(moved).max() <= 0.8
    assert moved.std() == pytest.approx(0.8 / np.sqrt(3), rel=0.02)  # even over ±0.2 of a range of 4
    assert (varied[:, 2] != 0.0).mean() == pytest.approx(0.2 * 3 / 4, abs=0.01)  # drawn anew, perhaps the same
    assert np.isnan(varied[:, 1]).mean() == pytest.approx(0.1, abs=0.01)
    assert np.nanmax(np.abs(varied[:, 1] - 5.0)) == 2.0
    assert (varied[:, 3] == 1.0).all()


def test_a_missing_number_comes_back_at_the_rate_of_a_category():
    rows = np.tile([1.0, np.nan, 0.0, 1.0], (20_000, 1))
    varied = Space(MIXED, "label").vary(rows, 0.2, np.random.default_rng(1))
    assert (~np.isnan(varied[:, 1])).mean() == pytest.approx(0.1, abs=0.01)


def test_the_distance_is_that_of_one_hot_vectors_of_a_third():
    space, rng = Space(MIXED, "label"), np.random.default_rng(2)
    queries, candidates = (space.random(rng.integers(2, size=size), rng) for size in (40, 30))

    def vectors(rows):
        x, count, missing = (rows[:, 0] + 1) / 4, rows[:, 1] / 9, np.isnan(rows[:, 1])
        kinds = np.where(np.isnan(rows[:, 2]), 3, rows[:, 2]).astype(int)
        flags, hot = np.eye(2)[missing.astype(int)] / 3, np.eye(4)[kinds] / 3
        return np.column_stack([x, np.where(missing, 0.5, count), flags, hot])

    distances = ((vectors(queries)[:, None] - vectors(candidates)[None]) ** 2).sum(axis=2)
    assert space.nearest(queries, candidates).tolist() == distances.argmin(axis=1).tolist()


def test_the_schedule_is_the_published_one():
    rates = [module._rate(slot) for slot in range(15)]
    assert rates[0] == 0.5
    assert rates[1] == pytest.approx(0.5 - 0.49 * (1 / 15) ** 0.2)
    assert rates == sorted(rates, reverse=True)


def test_votes_stay_within_the_class():
    space = Space(MIXED, "label")
    private = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]])
    population = np.array([[0.0, 1.0, 0.0, 0.0], [3.0, 9.0, 1.0, 1.0], [3.0, 8.0, 1.0, 1.0]])
    assert module._votes(private, population, space).tolist() == [1.0, 0.0, 2.0]
    assert module._votes(private, population[:1], space).tolist() == [1.0]


def test_ranking_takes_the_most_voted_for_and_drawing_the_positive():
    noisy, labels = np.array([-3.0, 5.0, 2.0, -1.0, -4.0]), np.array([0, 0, 0, 1, 1])
    assert module._selected(noisy, labels, np.array([2, 1]), None).tolist() == [1, 2, 3]
    drawn = module._selected(noisy, labels, np.array([7_000, 10]), np.random.default_rng(0))
    assert np.bincount(drawn, minlength=5)[:3] / 7_000 == pytest.approx([0, 5 / 7, 2 / 7], abs=0.02)
    assert len(drawn) == 7_010
    assert set(drawn[7_000:]) == {3, 4}


@pytest.mark.parametrize("target", ["label", "x", None])
def test_every_release_is_paid_for_and_no_budget_is_left(target):
    paid = spending(0.3)
    space = Space(MIXED, target)
    assert space.classes == (2 if target == "label" else 1)
    private = space.random(np.arange(60) % space.classes, np.random.default_rng(0))
    found = evolve(private, space, size=21, spending=paid, rng=np.random.default_rng(1))
    assert found.shape == (21, 4)
    assert paid.spent == pytest.approx(0.3, rel=1e-9)


def test_without_noise_rows_gather_at_the_private_clusters():
    schema = Schema((*(Column(name, "number", min=0.0, max=1.0) for name in "xy"), Column("label", "boolean")))
    space, rng = Space(schema, "label"), np.random.default_rng(0)
    centres = np.array([[0.2, 0.8], [0.7, 0.3]])
    labels = (rng.random(1_000) < 0.25).astype(int)
    private = np.column_stack([centres[labels] + rng.normal(0, 0.02, (1_000, 2)), labels])
    found = evolve(private, space, size=100, spending=spending(1e12), rng=rng)
    away = np.linalg.norm(found[:, :2] - centres[found[:, 2].astype(int)], axis=1)
    assert np.quantile(away, 0.9) < 0.06
    assert found[:, 2].mean() == pytest.approx(labels.mean(), abs=0.011)


@pytest.mark.parametrize("n", [1, 40])
def test_tables_come_back_inside_the_schema(n):
    private = pa.table(
        {"x": [0.5] * n, "count": pa.array([None] * n, pa.int64()), "kind": ["b"] * n, "label": ["yes"] * n}
    )
    task = TableTask(private, None, MIXED, "label", 1.0, 1e-5, 25, 7)
    found = tab_pe(task)
    assert found.column_names == ["x", "count", "kind", "label"]
    assert found.num_rows == 25
    assert set(found["label"].to_pylist()) <= {"no", "yes"}
    assert all(-1.0 <= x <= 3.0 for x in found["x"].to_pylist())
    assert found.equals(tab_pe(task))


def test_more_rows_than_a_population_are_repeats(monkeypatch):
    monkeypatch.setattr(module, "PARENTS", 10)
    private = pa.table({"kind": ["a", "b"] * 20})
    schema = Schema((Column("kind", "category", values=("a", "b")),))
    found = tab_pe(TableTask(private, None, schema, "kind", 50.0, 1e-5, 25, 0))
    assert found.num_rows == 25
    assert found["kind"].to_pylist().count("a") in range(10, 16)


def test_a_target_that_is_no_column_is_refused():
    with pytest.raises(SpecError, match="target='labels'"):
        Space(MIXED, "labels")
