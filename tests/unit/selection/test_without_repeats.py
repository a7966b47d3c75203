"""Rows of which each is another candidate, as far as there are enough."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.selection.without_repeats import draw_without_repeats, inclusion_chances

weights = st.lists(st.floats(0, 1e6, width=32) | st.just(1.0), min_size=1, max_size=40).filter(any)


def _shares(found):
    shares = np.array(found, float)
    return shares / shares.sum()


@given(weights, st.integers(0, 50))
def test_chances_are_scaled_shares_cut_at_one_that_sum_to_the_rows(found, size):
    shares = _shares(found)
    chances = inclusion_chances(shares, size)
    held = np.count_nonzero(shares)
    assert chances.min() >= 0.0
    assert chances.max() <= 1.0
    assert (chances[shares == 0.0] == 0.0).all()
    assert chances.sum() == pytest.approx(min(size, held), abs=1e-7)
    order = np.argsort(shares, kind="stable")
    assert (np.diff(chances[order]) >= -1e-12).all()  # a larger share has no smaller chance
    open_ones = (chances > 0.0) & (chances < 1.0)
    if open_ones.any():
        factors = chances[open_ones] / shares[open_ones]
        assert factors == pytest.approx(factors[0], rel=1e-9)
        assert (factors[0] * shares[chances == 1.0] >= 1.0 - 1e-8).all()  # what is cut would have had more than a row


@given(weights, st.integers(1, 50))
def test_nothing_changes_where_no_share_is_more_than_a_row(found, size):
    shares = _shares(found)
    if size * shares.max() < 1.0 - 1e-6:
        np.testing.assert_allclose(inclusion_chances(shares, size), size * shares, rtol=1e-9)


def test_chances_by_hand():
    np.testing.assert_allclose(inclusion_chances(np.array([0.1, 0.6, 0.2, 0.1]), 2), [0.25, 1.0, 0.5, 0.25])
    # A first cut brings a second one about: 0.26 alone would have 3·0.26 < 1.
    np.testing.assert_allclose(inclusion_chances(np.array([0.5, 0.26, 0.12, 0.12]), 3), [1.0, 1.0, 0.5, 0.5])
    np.testing.assert_array_equal(inclusion_chances(np.array([1.0, 1e-300, 1e-300]), 1), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(inclusion_chances(np.array([0.9, 0.1, 0.0]), 5), [1.0, 1.0, 0.0])


@given(weights, st.integers(1, 60), st.integers(0, 99), st.integers(1, 4))
def test_each_once_as_far_as_there_are_enough_in_each_group(found, size, seed, groups):
    shares = _shares(found)
    of = np.arange(shares.size) % groups
    drawn = draw_without_repeats(shares, size, np.random.default_rng(seed), groups=of)
    counts = np.bincount(drawn, minlength=shares.size)
    assert drawn.dtype == np.int64
    assert counts.sum() == size
    assert (counts[shares == 0.0] == 0).all()
    for group in range(groups):
        members = of == group
        rows, held = counts[members].sum(), np.count_nonzero(shares[members])
        assert abs(rows - size * shares[members].sum()) < 1.0 + 1e-6
        if rows <= held:
            assert counts[members].max(initial=0) <= 1
        else:
            assert (counts[members & (shares > 0.0)] >= 1).all()


def test_draws_have_their_chances():
    rng = np.random.default_rng(3)
    shares = np.array([0.6, 0.15, 0.0, 0.05, 0.2])
    counts = np.mean([np.bincount(draw_without_repeats(shares, 3, rng), minlength=5) for _ in range(20_000)], axis=0)
    np.testing.assert_allclose(counts, inclusion_chances(shares, 3), atol=0.015)
    first = np.bincount([draw_without_repeats(shares, 3, rng)[0] for _ in range(20_000)], minlength=5) / 20_000
    np.testing.assert_allclose(first, inclusion_chances(shares, 3) / 3, atol=0.015)  # in random order


def test_what_is_missing_goes_to_shares_of_more_than_a_row():
    drawn = draw_without_repeats(np.array([0.7, 0.28, 0.02, 0.0]), 10, np.random.default_rng(0))
    assert np.bincount(drawn, minlength=4).tolist() in ([7, 2, 1, 0], [6, 3, 1, 0], [7, 2, 1, 0])
    assert np.bincount(draw_without_repeats(np.array([1.0]), 7, np.random.default_rng(0))).tolist() == [7]


def test_a_small_group_keeps_its_rows_and_repeats():
    """Two candidates of a class that is half of all: the other class does not get its rows."""
    shares = np.r_[[0.25, 0.25], np.full(100, 0.005)]
    drawn = draw_without_repeats(shares, 40, np.random.default_rng(1), groups=np.r_[[1, 1], np.zeros(100, int)])
    counts = np.bincount(drawn, minlength=102)
    assert counts[:2].tolist() == [10, 10]
    assert counts[2:].sum() == 20
    assert counts[2:].max() == 1


def test_shares_at_the_edge_of_a_row_come_up_once():
    """Equal shares whose chances round to one or just below it."""
    rng = np.random.default_rng(2)
    for size in (3, 7, 49, 1000):
        shares = np.full(size, 1.0) + rng.normal(0, 1e-15, size)
        shares = np.r_[shares, 1e-14] / (shares.sum() + 1e-14)
        for _ in range(20):
            assert np.bincount(draw_without_repeats(shares, size, rng)).max() == 1


def test_no_rows_are_no_draws():
    assert draw_without_repeats(np.array([0.5, 0.5]), 0, np.random.default_rng(0)).shape == (0,)
