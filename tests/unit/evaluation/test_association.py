import numpy as np
import pytest
from evaluation_tables import Made
from scipy.stats import spearmanr
from scipy.stats.contingency import association

from evomix.evaluation.association import association_matrix, mean_difference

NUMBERS = (Made("a", "number", min=0.0, max=1.0), Made("b", "integer", min=0, max=9))
CATEGORY = Made("c", "category", values=("p", "q", "r"))


def test_numbers_by_spearman_with_ties():
    rng = np.random.default_rng(0)
    a = rng.random(500)
    b = np.floor(10 * (a + 0.3 * rng.random(500)) / 1.3)
    found = association_matrix(np.column_stack([a, b]), NUMBERS)
    assert found[0, 1] == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)
    assert found[1, 0] == found[0, 1]
    assert association_matrix(np.column_stack([a, 9 - b]), NUMBERS)[0, 1] < -0.8


def test_categories_by_cramers_v():
    rng = np.random.default_rng(1)
    c = rng.integers(0, 3, 3000)
    d = np.where(rng.random(3000) < 0.5, c, rng.integers(0, 3, 3000))
    found = association_matrix(np.column_stack([c, d]).astype(float), (CATEGORY, CATEGORY))[0, 1]
    table = np.array([[np.sum((c == i) & (d == j)) for j in range(3)] for i in range(3)])
    assert found == pytest.approx(association(table), abs=0.01)


def test_corrections_leave_little_where_nothing_is_related():
    rng = np.random.default_rng(2)
    wide = Made("w", "category", values=tuple(map(str, range(40))))
    rows = np.column_stack([rng.integers(0, 40, 400), rng.integers(0, 3, 400), rng.random(400)]).astype(float)
    found = association_matrix(rows, (wide, CATEGORY, NUMBERS[0]))
    assert np.abs(found[np.triu_indices(3, 1)]).max() < 0.2


def test_category_that_decides_a_number_is_strong_whatever_the_shape():
    rng = np.random.default_rng(3)
    c = rng.integers(0, 3, 1000)
    number = np.array([0.5, 0.0, 1.0])[c]  # not monotone in the code
    found = association_matrix(np.column_stack([c, number]), (CATEGORY, NUMBERS[0]))
    assert found[0, 1] > 0.99


@pytest.mark.parametrize("values", [np.full(50, 0.4), np.full(50, np.nan)])
def test_constant_or_empty_columns_are_related_to_nothing(values):
    rng = np.random.default_rng(4)
    rows = np.column_stack([values, rng.integers(0, 9, 50), rng.integers(0, 3, 50)])
    found = association_matrix(rows, (*NUMBERS, CATEGORY))
    assert found[0].tolist() == [1.0, 0.0, 0.0]
    assert np.isfinite(found).all()


def test_pairs_of_numbers_use_rows_where_both_are_present():
    a = np.arange(100.0) / 100
    b = a * 9
    a[:30], b[80:] = np.nan, np.nan
    assert association_matrix(np.column_stack([a, b]), NUMBERS)[0, 1] == pytest.approx(1.0)


def test_mean_difference_counts_each_pair_once():
    first, second = np.eye(3), np.eye(3)
    second[0, 1] = second[1, 0] = 0.6
    assert mean_difference(first, second) == pytest.approx(0.2)
    assert mean_difference(np.eye(1), np.eye(1)) == 0.0
