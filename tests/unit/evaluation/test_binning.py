import numpy as np
import pytest
from evaluation_tables import DAY, FLAG, GROUP, Made, X, Y

from evomix.core.errors import SchemaError
from evomix.evaluation.binning import bin_column, bin_edges, bin_population, cell_count
from evomix.evaluation.columns import bounds, in_words, labels


def test_few_whole_values_get_a_cell_each():
    column = Made("k", "integer", min=3, max=10)
    codes = bin_column(np.arange(3.0, 11.0), column)
    assert codes.tolist() == list(range(8))
    assert cell_count(column) == 9


def test_many_whole_values_share_cells_evenly_whatever_the_range():
    for high in (33, 40, 63, 99, 1000):
        column = Made("k", "integer", min=0, max=high)
        counts = np.bincount(bin_column(np.arange(0.0, high + 1), column))
        assert len(counts) <= 32
        assert len(set(counts[:-1].tolist())) == 1, "a comb: bins of unequal width"
        assert 0 < counts[-1] <= counts[0]


def test_numbers_cut_at_equal_widths_and_both_bounds_lie_inside():
    codes = bin_column(np.array([0.0, 3.124, 3.126, 99.999, 100.0]), Y)
    assert codes.tolist() == [0, 0, 1, 31, 31]


def test_missing_has_the_last_cell_and_out_of_bounds_the_outermost():
    assert bin_column(np.array([np.nan, -5.0, 500.0, np.inf, -np.inf]), Y).tolist() == [32, 0, 31, 31, 0]
    assert bin_column(np.array([0.0, 1.0, 2.0, np.nan]), GROUP).tolist() == [0, 1, 2, 3]
    assert bin_column(np.array([0.0, 1.0, np.nan]), FLAG).tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", ["integer", "number", "date", "datetime"])
def test_a_constant_column_has_one_cell(kind):
    column = Made("c", kind, min=5.0, max=5.0)
    assert bin_column(np.array([5.0, np.nan]), column).tolist() == [0, 1]


def test_extreme_bounds_overflow_nothing():
    column = Made("c", "number", min=-1e300, max=1e300)
    assert bin_column(np.array([-1e300, 0.0, 1e300]), column).tolist() == [0, 16, 31]


def test_cells_do_not_depend_on_the_rows():
    rows = np.array([[1.0, 2.0], [70.0, np.nan]])
    both = bin_population(rows, (X, Y))
    assert both.sizes == (cell_count(X), 33)
    assert np.array_equal(both.codes[1:], bin_population(rows[1:], (X, Y)).codes)


def test_bounds_are_asked_for_by_name():
    with pytest.raises(SchemaError, match=r"column='z'.*min=None"):
        bounds(Made("z", "number", max=1.0))


def test_words_of_values():
    assert in_words(DAY, bin_edges(DAY)[0]) == "0001-01-01"
    assert in_words(DAY, bin_edges(DAY)[-1]) == "9999-12-31"
    assert in_words(DAY, 0.0) == "1970-01-01"
    assert in_words(Made("t", "datetime"), 86_460.0) == "1970-01-02 00:01"
    assert in_words(X, 1234.0) == "1,234"
    assert labels(Made("b", "boolean")) == ("false", "true")
