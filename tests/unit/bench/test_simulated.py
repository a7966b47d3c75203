from itertools import combinations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from evomix.bench.simulated import make_scm, make_xor, scm_schema, xor_schema
from evomix.core.errors import SpecError
from evomix.modalities.tabular.codec import TableCodec


def cells(table, schema):
    return TableCodec(schema).encode(table)


def assert_same_table(table, schema):
    """The schema holds the rows: nothing is clipped, rounded or read as another value."""
    assert TableCodec(schema).decode(cells(table, schema)).equals(table)


def furthest(codes, width):
    """Return the largest distance of any marginal of ``width`` columns from uniform, in standard deviations."""
    worst = 0.0
    for chosen in combinations(range(codes.shape[1]), width):
        counts = np.bincount(codes[:, chosen].astype(int) @ (2 ** np.arange(width)), minlength=2**width)
        expected = len(codes) / 2**width
        worst = max(worst, np.abs(counts - expected).max() / np.sqrt(expected))
    return worst


@pytest.mark.parametrize("order", [1, 2, 3])
def test_no_marginal_below_the_order_sees_the_parity_and_one_above_does(order):
    codes = cells(make_xor(50_000, columns=5, order=order, seed=3), xor_schema(5))
    assert furthest(codes, order) < 5.0
    assert furthest(codes, order + 1) > 40.0


def test_the_label_is_the_parity_but_for_one_in_twenty():
    codes = cells(make_xor(50_000, seed=0), xor_schema()).astype(int)
    assert codes.shape == (50_000, 11)
    flipped = (codes[:, :3].sum(axis=1) % 2 != codes[:, -1]).mean()
    assert flipped == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize("columns", [1, 2, 5, 12, 60])
def test_schemas_hold_all_rows(columns):
    assert_same_table(make_scm(500, columns=columns, seed=1, shift=1.0), scm_schema(columns))
    assert_same_table(make_xor(500, columns=columns, order=1, seed=1), xor_schema(columns))


def test_the_same_seed_makes_the_same_rows_and_another_seed_others():
    for make in (make_xor, make_scm):
        assert make(50, seed=4).equals(make(50, seed=4))
        assert not make(50, seed=4).equals(make(50, seed=5))
        assert make(1, seed=0).num_rows == 1


def test_wider_tables_begin_with_the_same_columns():
    wide, narrow = make_scm(50, columns=20, seed=0), make_scm(50, columns=7, seed=0)
    assert wide.column_names[:7] == narrow.column_names[:7]
    assert wide.select(range(7)).equals(narrow.select(range(7)))


def marginal_gap(first, second):
    """Return the largest difference of a column's mean, in standard deviations of the first."""
    return (np.abs(first.mean(axis=0) - second.mean(axis=0)) / first.std(axis=0)).max()


def test_seeds_are_samples_of_one_population_and_a_shift_is_another():
    schema = scm_schema()
    first, second, near, far = (
        cells(make_scm(20_000, seed=seed, shift=shift), schema)
        for seed, shift in [(0, 0.0), (1, 0.0), (2, 0.3), (2, 1.0)]
    )
    assert marginal_gap(first, second) < 0.06
    assert 0.06 < marginal_gap(first, near) < marginal_gap(first, far)
    still = [j for j in range(12) if j % 3 != 2][:2]  # before any column that moves
    assert marginal_gap(first[:, still], far[:, still]) < 0.06


def test_the_label_can_be_learned_and_less_well_from_another_place():
    schema = scm_schema()
    train, test, other = (
        cells(make_scm(4_000, seed=seed, shift=shift), schema) for seed, shift in [(0, 0), (1, 0), (2, 1)]
    )
    commonest = np.bincount(test[:, -1].astype(int)).max() / len(test)

    def score(table):
        model = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(table[:, :-1], table[:, -1])
        return model.score(test[:, :-1], test[:, -1])

    learned, elsewhere = score(train), score(other)
    assert learned > commonest + 0.15
    assert elsewhere < learned - 0.1


@pytest.mark.parametrize(
    "make",
    [
        lambda: make_xor(0, seed=0),
        lambda: make_xor(5, columns=0, seed=0),
        lambda: make_xor(5, columns=2, order=3, seed=0),
        lambda: make_xor(5, order=0, seed=0),
        lambda: make_scm(0, seed=0),
        lambda: make_scm(5, columns=0, seed=0),
        lambda: make_scm(5, seed=0, shift=1.1),
        lambda: make_scm(5, seed=0, shift=float("nan")),
    ],
)
def test_sizes_that_make_no_table_are_refused(make):
    with pytest.raises(SpecError, match="expected"):
        make()
