import numpy as np
import pytest
from evaluation_tables import COLUMNS, FLAG, related_rows

from evomix.evaluation.closest import distance_to_closest, place
from evomix.evaluation.copies import measure_copies


def measure(real, synthetic, columns=COLUMNS, control=None, seed=0):
    return measure_copies(real, synthetic, columns, control=control, rng=np.random.default_rng(seed))


def within_unit_interval(*proportions):
    return all(0.0 <= p.low <= p.share <= p.high <= 1.0 for p in proportions)


@pytest.mark.parametrize("kept_apart", [None, 50])
def test_a_copy_is_the_worst_case_and_loud(kept_apart):
    real = related_rows(120, 1)
    control = None if kept_apart is None else related_rows(kept_apart, 9)
    found = measure(real, real[::-1], control=control)
    assert found.copies.share == 1.0
    assert found.excess.share == 1.0
    assert within_unit_interval(found.copies, found.twins, found.excess)
    assert set(found.distances) == {0.0}
    assert found.warnings[0].startswith("COPIES: 100%")


def test_honest_rows_raise_nothing_and_lie_as_far_as_real_rows_do():
    found = measure(related_rows(2000, 1), related_rows(1000, 2))
    assert found.warnings == ()
    assert found.copies.share == pytest.approx(found.twins.share, abs=0.02)
    middle = found.percentiles.index(50)
    assert found.distances[middle] == pytest.approx(found.control_distances[middle], rel=0.25)


def test_a_tenth_of_copies_is_reported_without_shouting():
    real = related_rows(2000, 1)
    found = measure(real, np.concatenate([real[:100], related_rows(900, 2)]))
    assert found.warnings[0].startswith("copies: 14%"), "a tenth, and what chance makes of the rest"
    assert found.excess.share == pytest.approx(0.1, abs=0.02)


def test_twins_where_few_rows_are_possible_are_not_called_copies():
    flags = np.tile([[0.0], [1.0]], (50, 1))
    found = measure(flags, flags[:20], (FLAG,))
    assert found.excess is None
    assert "cannot be told from chance" in found.warnings[0]


def test_missing_cells_and_signed_zero_make_no_difference():
    real = np.array([[0.0, np.nan, np.nan, 1.0], [3.0, 2.0, 1.0, 0.0]])
    other_nan = np.frombuffer(b"\x01\x00\x00\x00\x00\x00\xf8\x7f", dtype=np.float64)[0]
    assert measure(real, np.array([[-0.0, other_nan, np.nan, 1.0]])).copies.share == 1.0


def test_a_single_real_row_has_no_other_to_be_near_to():
    row = related_rows(1, 1)
    found = measure(row, row)
    assert found.control_distances == ()
    assert found.copies.share == 1.0


def test_distance_is_the_mean_difference_over_columns():
    first = place(np.array([[0.0, 50.0, 0.0, 0.0]]), COLUMNS)
    second = place(np.array([[99.0, 100.0, 1.0, 0.0], [0.0, np.nan, 0.0, 0.0]]), COLUMNS)
    assert distance_to_closest(first, second)[0] == pytest.approx(1.5 / 4)  # a missing number: 1 + its place
    assert distance_to_closest(second, second, own=np.arange(2))[0] == pytest.approx((1 + 2 + 1 + 0) / 4)
    assert distance_to_closest(second, second).tolist() == [0.0, 0.0]
