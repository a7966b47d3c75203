from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest

from evomix.bench.rivals.gaussian_budget import gaussian_spending
from evomix.bench.rivals.grid import marginal
from evomix.bench.rivals.gsd import fit, gsd
from evomix.bench.rivals.gsd_search import pair_tables, search
from evomix.bench.rivals.spending import Spending
from evomix.bench.rivals.task import TableTask
from evomix.core.errors import SpecError
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema


def plenty(seed=0):
    return Spending(1e12, adjacency="replace-one", rng=np.random.default_rng(seed))


def correlated(n, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.integers(4, size=n)
    return np.stack([first, (first + (rng.random(n) < 0.2)) % 3, rng.integers(2, size=n) | (first > 1)], axis=1)


def pair_tv(one, other, sizes):
    found = [
        0.5 * np.abs(marginal(one, sizes, pair) / len(one) - marginal(other, sizes, pair) / len(other)).sum()
        for pair in combinations(range(len(sizes)), 2)
    ]
    return np.mean(found)


def test_every_pair_of_values_has_a_cell_of_its_own_in_the_order_of_the_marginals():
    sizes = (3, 2, 4)
    tables = pair_tables(np.array(sizes))
    seen = []
    for i, j in tables.pairs:
        for x, y in product(range(sizes[i]), range(sizes[j])):
            cell = tables.offsets[i, j] + x * tables.strides[i, j] + y * tables.strides[j, i]
            assert cell == tables.offsets[j, i] + y * tables.strides[j, i] + x * tables.strides[i, j]
            seen.append(cell)
    assert seen == list(range(tables.total)) == list(range(3 * 2 + 3 * 4 + 2 * 4))


def test_the_error_reported_is_that_of_the_rows_and_below_every_single_change():
    rng = np.random.default_rng(3)
    sizes = (3, 2, 3)
    tables = pair_tables(np.array(sizes))
    rows = rng.integers(0, 2, (6, 3))
    targets = np.concatenate([rng.dirichlet(np.ones(sizes[i] * sizes[j])) * 6 for i, j in tables.pairs])

    def error(codes):
        counts = np.concatenate([marginal(codes, sizes, pair) for pair in tables.pairs])
        return float(((counts - targets) ** 2).sum())

    start = error(rows)
    found = search(rows, targets, tables, rng)
    assert found == pytest.approx(error(rows), rel=1e-9)
    assert found < start
    changes = [(r, j, value) for r in range(6) for j in range(3) for value in range(sizes[j])]
    for r, j, value in changes:
        other = rows.copy()
        other[r, j] = value
        assert error(other) >= found - 1e-9, "a mutation that helps was left"


def test_without_noise_the_pairs_come_back():
    sizes, codes = (4, 3, 2), correlated(2_000)
    found = fit(codes, sizes, rows=1_000, spending=plenty(), rng=np.random.default_rng(1))
    shuffled = np.stack([np.random.default_rng(j).permutation(codes[:, j]) for j in range(3)], axis=1)
    assert found.shape == (1_000, 3)
    assert pair_tv(found, codes, sizes) < 0.01
    assert pair_tv(shuffled, codes, sizes) > 0.1


def test_all_of_the_budget_is_spent_and_no_more():
    spending = Spending(0.5, adjacency="replace-one", rng=np.random.default_rng(0))
    fit(correlated(50), (4, 3, 2), rows=20, spending=spending, rng=np.random.default_rng(0))
    assert spending.spent == pytest.approx(0.5, rel=1e-9)


def test_one_column_is_fitted_by_its_own_counts():
    codes = np.repeat([[0], [2]], (30, 70), axis=0)
    found = fit(codes, (3,), rows=200, spending=plenty(), rng=np.random.default_rng(0))
    assert found.shape == (200, 1)
    assert np.abs(np.bincount(found[:, 0], minlength=3) - [60, 0, 140]).max() <= 1


@pytest.mark.parametrize("n", [1, 40])
def test_tables_come_back_inside_the_schema(n):
    schema = Schema(
        (
            Column("age", "integer", min=0, max=90, missing=True),
            Column("kind", "category", values=("a", "b", "c")),
            Column("same", "category", values=("only",)),
            Column("score", "number", min=2.0, max=2.0),
        )
    )
    private = pa.table(
        {"age": [None, 30] * (n // 2) + [1] * (n % 2), "kind": ["b"] * n, "same": ["only"] * n, "score": [2.0] * n}
    )
    task = TableTask(private, None, schema, "kind", 1.0, 1e-5, 25, 7)
    found = gsd(task)
    assert found.column_names == ["age", "kind", "same", "score"]
    assert found.num_rows == 25
    assert set(found["kind"].to_pylist()) <= {"a", "b", "c"}
    assert all(age is None or 0 <= age <= 90 for age in found["age"].to_pylist())
    assert found.equals(gsd(task))
    assert gaussian_spending(task).left > 0.0


def test_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr("evomix.bench.rivals.gsd.MOST_CELLS", 25)
    with pytest.raises(SpecError, match="cells=26"):
        fit(correlated(5), (4, 3, 2), rows=5, spending=plenty(), rng=np.random.default_rng(0))
