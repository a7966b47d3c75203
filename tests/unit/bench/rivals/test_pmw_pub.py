import numpy as np
import pyarrow as pa
import pytest

from evomix.bench.rivals import pmw_pub as module
from evomix.bench.rivals.grid import Grid, marginal
from evomix.bench.rivals.pmw_pub import cell_queries, pmw_pub, reweight
from evomix.bench.rivals.spending import Spending, rho_of
from evomix.bench.rivals.task import TableTask
from evomix.bench.simulated import make_scm, scm_schema
from evomix.core.errors import SpecError
from evomix.evaluation.marginals import column_sets, total_variation
from evomix.modalities.tabular.schema import Column, Schema

PLENTY = 1e14
"""A ρ whose noise is far below one row."""


def budget(rho, seed=0, adjacency="replace-one"):
    return Spending(rho, adjacency=adjacency, rng=np.random.default_rng(seed))


def rows_of(size, sizes, seed):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(s, size=size) for s in sizes], axis=1)


def test_counts_and_answers_are_those_of_the_marginals():
    sizes, sets = (3, 2, 4, 1), [(0, 1, 2), (0, 2, 3), (1,)]
    support, private = np.unique(rows_of(9, sizes, 0), axis=0), rows_of(200, sizes, 1)
    queries = cell_queries(support, sizes, sets)
    weights = np.random.default_rng(2).dirichlet(np.ones(len(support)))
    counts, answers = queries.counts(private), queries.answers(weights)
    for number, chosen in enumerate(sets):
        reached = np.flatnonzero(marginal(support, sizes, chosen))
        own = slice(queries.starts[number], queries.starts[number + 1])
        np.testing.assert_array_equal(counts[own], marginal(private, sizes, chosen)[reached])
        shape = [sizes[j] for j in chosen]
        places = np.ravel_multi_index([support[:, j] for j in chosen], shape)
        np.testing.assert_allclose(answers[own], np.bincount(places, weights, np.prod(shape))[reached])
        for cell in range(own.start, own.stop):
            assert queries.rows(cell).tolist() == np.flatnonzero(places == reached[cell - own.start]).tolist()


def test_one_round_moves_the_worst_cell_by_the_published_step():
    support = np.array([[0], [1], [2]])
    queries = cell_queries(support, (4,), [(0,)])
    truth = queries.counts(np.array([[0]] * 70 + [[1]] * 20 + [[3]] * 10))
    assert truth.tolist() == [70, 20, 0]
    start = np.array([0.2, 0.35, 0.45])
    weights = reweight(queries, start, truth, budget(PLENTY), total=100, rng=np.random.default_rng(0), rounds=1)
    expected = start * np.exp([(0.7 - 0.2) / 2, 0, 0])
    np.testing.assert_allclose(weights, expected / expected.sum(), atol=1e-6)


def test_with_plenty_to_spend_weights_reach_what_the_support_can():
    sizes, sets = (3, 3, 2), [(0, 1), (0, 2), (1, 2)]
    support = np.unique(rows_of(300, sizes, 0), axis=0)
    private = support[np.random.default_rng(1).choice(len(support), 5_000, p=np.arange(len(support)) / 153)]
    queries, start = cell_queries(support, sizes, sets), np.full(len(support), 1 / len(support))
    truth = queries.counts(private)
    weights = reweight(queries, start, truth, budget(PLENTY), total=5_000, rng=np.random.default_rng(0), rounds=400)
    before, after = (np.abs(truth / 5_000 - queries.answers(w)).max() for w in (start, weights))
    assert before > 0.05
    assert after < 0.012


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_everything_is_spent_in_equal_halves_on_choices_and_answers(adjacency):
    spending, paid = budget(0.3, adjacency=adjacency), []
    pay = spending._pay
    spending._pay = lambda rho: (paid.append(rho), pay(rho))
    support = rows_of(40, (3, 3), 0)
    queries = cell_queries(support, (3, 3), [(0, 1)])
    reweight(queries, np.full(40, 1 / 40), queries.counts(support), spending, total=40,
             rng=np.random.default_rng(0), rounds=7)  # fmt: skip
    assert spending.spent == pytest.approx(0.3, rel=1e-12)
    np.testing.assert_allclose(paid, 0.3 / 14)


def test_one_row_moves_no_count_by_more_than_the_declared_sensitivity():
    sizes, sets = (3, 3, 3), [(0, 1, 2), (0, 1), (2,)]
    rows = rows_of(30, sizes, 0)
    queries = cell_queries(rows, sizes, sets)
    exchanged = rows.copy()
    exchanged[0] = (rows[0] + 1) % 3
    moved = np.abs(queries.counts(rows) - queries.counts(exchanged))
    assert moved.max() == module._CELL
    assert np.abs(queries.counts(rows) - queries.counts(rows[1:])).max() == module._CELL


def task(**changes):
    schema = scm_schema(5)
    settings = {
        "private": make_scm(4_000, columns=5, seed=0), "public": make_scm(3_000, columns=5, seed=1, shift=0.5),
        "schema": schema, "target": "label", "epsilon": 4.0, "delta": 1e-6, "rows": 4_000, "seed": 0,
    }  # fmt: skip
    return TableTask(**settings | changes)


def distance(table, other, schema):
    grid = Grid(schema)
    sets = column_sets(len(grid.sizes), 2, 100, np.random.default_rng(0))
    first, second = grid.codes(table), grid.codes(other)
    return np.mean([total_variation(first[:, s], second[:, s], [grid.sizes[j] for j in s]) for s in map(list, sets)])


def test_public_rows_of_another_place_come_nearer_to_the_private_ones():
    given = task()
    made = pmw_pub(given)
    assert made.num_rows == 4_000
    assert made.column_names == [column.name for column in given.schema.modelled]
    before, after = (distance(table, given.private, given.schema) for table in (given.public, made))
    assert after < 0.8 * before


def test_the_same_seed_gives_the_same_rows():
    assert pmw_pub(task(rows=50)).equals(pmw_pub(task(rows=50)))
    assert not pmw_pub(task(rows=50)).equals(pmw_pub(task(rows=50, seed=1)))


def test_values_that_no_public_row_has_never_come_out():
    schema = Schema((Column("a", "category", values=("x", "y")), Column("b", "boolean", missing=True)))
    private = pa.table({"a": ["y"] * 50, "b": [None] * 50})
    public = pa.table({"a": ["x", "x"], "b": [True, None]})
    made = pmw_pub(task(private=private, public=public, schema=schema, rows=500, target=None)).to_pydict()
    assert set(made["a"]) == {"x"}
    assert made["b"].count(None) > 250


def test_one_column_one_value_one_row():
    schema = Schema((Column("a", "integer", 3, 3),))
    one = pa.table({"a": [3]})
    assert pmw_pub(task(private=one, public=one, schema=schema, rows=2, target=None)).to_pydict() == {"a": [3, 3]}


def test_wide_tables_get_as_many_marginals_as_memory_allows(monkeypatch):
    seen = []
    made = module.cell_queries
    monkeypatch.setattr(
        module, "cell_queries", lambda support, sizes, sets: (seen.append(len(sets)), made(support, sizes, sets))[1]
    )
    monkeypatch.setattr(module, "MOST_ENTRIES", 9_000)
    pmw_pub(task(rows=5))
    assert 1 <= seen[0] <= 9


@pytest.mark.parametrize("changes", [{"public": None}, {"public": make_scm(1, columns=5, seed=0).slice(1)}])
def test_without_public_rows_it_refuses(changes):
    with pytest.raises(SpecError, match="public rows"):
        pmw_pub(task(**changes))


@pytest.mark.parametrize("changes", [{"private": make_scm(1, columns=5, seed=0).slice(1)}, {"rows": 0}, {"epsilon": 0}])
def test_tasks_that_make_no_table_are_refused(changes):
    with pytest.raises(SpecError, match="expected"):
        pmw_pub(task(**changes))


def test_all_of_the_stated_budget_is_used(monkeypatch):
    budgets = []
    made = module.zcdp_spending
    monkeypatch.setattr(module, "zcdp_spending", lambda given: budgets.append(made(given)) or budgets[-1])
    pmw_pub(task(rows=5))
    assert budgets[0].spent == pytest.approx(rho_of(4.0, 1e-6), rel=1e-9)
