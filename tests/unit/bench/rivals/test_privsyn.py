from itertools import chain, combinations, permutations

import numpy as np
import pyarrow as pa
import pytest

from evomix.bench.rivals.grid import marginal
from evomix.bench.rivals.privsyn import choose, fit, measure, privsyn
from evomix.bench.rivals.privsyn_consistency import Measured, make_consistent, shared_sets
from evomix.bench.rivals.privsyn_gum import synthesise, whole
from evomix.bench.rivals.privsyn_selection import (
    choose_pairs,
    connect,
    dependence_sensitivity,
    dependences,
    join_cliques,
)
from evomix.bench.rivals.spending import Spending
from evomix.bench.rivals.task import TableTask
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema

SIZES = (4, 3, 2, 3)


def spending(rho, seed=0, adjacency="replace-one"):
    return Spending(rho, adjacency=adjacency, rng=np.random.default_rng(seed))


def correlated(n, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.choice(4, n, p=(0.5, 0.25, 0.15, 0.1))
    second = np.where(rng.random(n) < 0.8, first % 3, rng.integers(3, size=n))
    return np.stack([first, second, (first > 1) ^ (rng.random(n) < 0.1), rng.integers(3, size=n)], axis=1).astype(int)


def tv(one, other, attributes, sizes=SIZES):
    return (
        0.5
        * np.abs(marginal(one, sizes, attributes) / len(one) - marginal(other, sizes, attributes) / len(other)).sum()
    )


def test_dependence_is_the_distance_from_independence():
    codes = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    assert dependences(codes, (2, 2, 2)).tolist() == [4.0, 0.0, 0.0]


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_no_neighbour_moves_a_dependence_by_more_than_its_sensitivity(adjacency):
    rng, most = np.random.default_rng(0), 0.0
    rows = [(a, b) for a in range(2) for b in range(3)]
    for n in range(2, 8):
        for _ in range(60):
            codes = np.array([rows[k] for k in rng.integers(6, size=n)])
            value = dependences(codes, (2, 3))[0]
            for row in rows:
                other = codes.copy()
                other[0] = row
                neighbour = np.concatenate([codes, [row]]) if adjacency == "add-remove" else other
                most = max(most, abs(dependences(neighbour, (2, 3))[0] - value))
    reach = dependence_sensitivity(adjacency)
    assert 0.5 * reach < most <= reach


def test_pairs_are_chosen_as_by_trying_every_next_one():
    rng = np.random.default_rng(1)
    scores, cells = rng.uniform(0, 50, 6), rng.integers(2, 40, 6).astype(float)

    def error(chosen):
        mass = sum(cells[k] ** (2 / 3) for k in chosen)
        return 0.3 * mass**1.5 + sum(scores[k] for k in range(6) if k not in chosen)

    chosen = []
    while len(chosen) < 6:
        best = min((k for k in range(6) if k not in chosen), key=lambda k: error([*chosen, k]))
        if error([*chosen, best]) >= error(chosen):
            break
        chosen.append(best)
    assert choose_pairs(scores, cells, noise=0.3) == chosen
    assert 0 < len(chosen) < 6
    assert choose_pairs(scores, cells, noise=1e9) == []
    assert sorted(choose_pairs(scores, cells, noise=0.0)) == list(range(6))


def test_the_split_of_the_budget_is_the_best_one():
    codes = correlated(100)
    sets = [(0, 1), (2, 3), (1,)]
    found = measure(codes, SIZES, sets, 0.4, spending(0.4))
    cells = np.array([12.0, 6.0, 3.0])
    deviations = np.sqrt([item.variance for item in found])
    rhos = 1.0 / np.square(deviations)  # replace-one: 2 / (2σ²)
    assert rhos.sum() == pytest.approx(0.4, rel=1e-9)
    best = (cells * deviations).sum()
    for i, j in permutations(range(3), 2):
        other = rhos.copy()
        other[i], other[j] = other[i] * 1.05, other[j] - 0.05 * other[i]
        assert (cells / np.sqrt(other)).sum() > best


def test_cliques_are_joined_unless_large_or_much_shared():
    triangle = [(0, 1), (0, 2), (1, 2), (2, 3)]
    assert join_cliques(triangle, (2, 2, 2, 2)) == [(0, 1, 2), (2, 3)]
    assert join_cliques(triangle, (20, 20, 20, 2)) == triangle
    four = list(combinations(range(4), 2))
    assert join_cliques(four, (2, 2, 2, 2)) == [(0, 1, 2, 3)]
    # All four together have 6,561 cells; of the triples the third would share three columns with the first two.
    assert join_cliques(four, (9, 9, 9, 9)) == [(0, 1, 2), (0, 1, 3), (2, 3)]
    assert join_cliques([], (2, 2)) == []


def test_a_column_left_over_joins_the_partner_it_depends_on_most():
    scores = np.array([5.0, 1.0, 9.0, 2.0, 3.0, 4.0])  # 01 02 03 12 13 23
    assert connect([(0, 1)], scores, 4) == [(0, 1), (2, 3)]
    assert connect([], scores, 4) == [(0, 3), (0, 1), (2, 3)]


def test_shared_sets_are_single_columns_and_all_intersections():
    marginals = [(0,), (0, 1, 2), (1, 2, 3), (2, 3, 4), (4, 5)]
    expected = {
        tuple(sorted(set.intersection(*map(set, chosen)))) for k in range(2, 6) for chosen in combinations(marginals, k)
    } - {()}
    assert set(shared_sets(marginals)) == expected | {(j,) for j in range(5)}
    assert shared_sets([(0, 1), (1, 2), (0, 2)]) == [(0,), (1,), (2,)]


def test_agreement_weighs_by_precision_and_leaves_counts():
    one = Measured((0,), np.array([60.0, 40.0]), 1.0)
    pair = Measured((0, 1), np.array([[20.0, 20.0], [30.0, 30.0]]), 1.0)
    make_consistent([one, pair], 100.0)
    # The pair's own figure, a sum of two cells, has twice the variance: (2·60 + 40)/3.
    assert one.counts == pytest.approx([160 / 3, 140 / 3])
    assert pair.counts == pytest.approx(np.array([[80 / 3, 80 / 3], [70 / 3, 70 / 3]]))


def test_consistent_marginals_agree_and_are_never_negative():
    codes = correlated(300)
    rng = np.random.default_rng(2)
    sets = [(0,), (1,), (2,), (3,), (0, 1, 2), (1, 2, 3), (0, 3)]
    found = [
        Measured(one, (marginal(codes, SIZES, one) + rng.normal(0, 15, 1)).reshape([SIZES[j] for j in one]), 225.0)
        for one in sets
    ]
    for item in found:
        item.counts[...] += rng.normal(0, 15, item.counts.shape)
    make_consistent(found, 300.0)
    for subset in shared_sets(sets):
        sums = [item.counts.sum(axis=item.others(subset)) for item in found if set(subset) <= set(item.attributes)]
        assert max(np.abs(sums[0] - other).max() for other in sums) < 1.0
    assert all(item.counts.min() >= 0.0 and item.counts.sum() == pytest.approx(300.0) for item in found)


def test_exact_marginals_give_rows_that_have_them():
    codes = correlated(3_000)
    sets = [(0, 1, 2), (1, 3)]
    exact = [Measured(one, marginal(codes, SIZES, one).reshape([SIZES[j] for j in one]), 1.0) for one in sets]
    ones = [marginal(codes, SIZES, (j,)) for j in range(4)]
    found = synthesise(exact, ones, rows=2_000, rng=np.random.default_rng(0))
    assert found.shape == (2_000, 4)
    assert max(tv(found, codes, one) for one in sets) < 0.005
    assert max(tv(found, codes, (j,)) for j in range(4)) < 0.005


def test_whole_numbers_sum_and_keep_the_mean():
    counts = np.array([0.5, 1.2, 3.3, 0.0])
    drawn = np.array([whole(counts, 5, np.random.default_rng(seed)) for seed in range(4_000)])
    assert (drawn.sum(axis=1) == 5).all()
    assert np.abs(drawn - counts).max() < 1.0
    assert drawn.mean(axis=0) == pytest.approx(counts, abs=0.04)
    assert whole(np.zeros(4), 8, np.random.default_rng(0)).tolist() == [2, 2, 2, 2]


def test_plenty_of_budget_gives_the_dependent_columns_together():
    codes = correlated(3_000)
    chosen = choose(codes, SIZES, spending(1e9), "replace-one")
    assert any({0, 1} <= set(one) for one in chosen)
    assert set(chain(*chosen)) == {0, 1, 2, 3}
    found = fit(codes, SIZES, rows=3_000, spending=spending(1e9), adjacency="replace-one", rng=np.random.default_rng(0))
    assert max(tv(found, codes, pair) for pair in combinations(range(4), 2)) < 0.01


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_single_columns_stay_within_three_times_their_noise_and_the_budget_is_spent(adjacency):
    codes, n = correlated(4_000), 4_000
    paid = spending(0.02, seed=5, adjacency=adjacency)
    found = fit(codes, SIZES, rows=n, spending=paid, adjacency=adjacency, rng=np.random.default_rng(0))
    assert paid.spent == pytest.approx(0.02, rel=1e-9)
    noise = paid.stddev(0.1 * 0.02 / 4) * np.sqrt(2 / np.pi)
    for j, size in enumerate(SIZES):
        assert tv(found, codes, (j,)) < 3.0 * 0.5 * size * noise / n


@pytest.mark.parametrize("n", [1, 40])
def test_tables_come_back_inside_the_schema(n):
    schema = Schema(
        (
            Column("age", "integer", min=0, max=90, missing=True),
            Column("kind", "category", values=("a", "b", "c")),
            Column("same", "category", values=("only",)),
        )
    )
    private = pa.table({"age": [None, 30] * (n // 2) + [1] * (n % 2), "kind": ["b"] * n, "same": ["only"] * n})
    task = TableTask(private, None, schema, "kind", 1.0, 1e-5, 25, 7)
    found = privsyn(task)
    assert found.column_names == ["age", "kind", "same"]
    assert found.num_rows == 25
    assert set(found["kind"].to_pylist()) <= {"a", "b", "c"}
    assert found.equals(privsyn(task))


def test_one_column_takes_all_of_the_budget():
    schema = Schema((Column("kind", "category", values=("a", "b")),))
    private = pa.table({"kind": ["a"] * 900 + ["b"] * 100})
    found = privsyn(TableTask(private, None, schema, None, 8.0, 1e-5, 100, 0))
    assert abs(found["kind"].to_pylist().count("a") - 90) <= 1
