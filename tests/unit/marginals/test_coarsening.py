"""Cells follow the mass, stay in order, and leave missing values a cell of their own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.marginals.coarsening import equal_mass, largest_values

SHARES = st.lists(st.one_of(st.just(0.0), st.floats(1e-9, 1.0)), min_size=1, max_size=40).map(np.array)


def _is_a_map(groups, size):
    assert groups.shape == (size,)
    assert groups.dtype == np.int64
    assert sorted(set(groups.tolist())) == list(range(groups.max() + 1))  # no cell without a code


@given(SHARES, st.integers(1, 20), st.booleans())
def test_groups_of_an_ordered_column_are_neighbours_and_at_most_as_many_as_asked(shares, cells, missing):
    shares = np.append(shares, 0.5) if missing else shares
    groups = equal_mass(shares, cells, missing=missing)
    _is_a_map(groups, len(shares))
    present = groups[: len(shares) - missing]
    assert (np.diff(present) >= 0).all()
    assert present.max() + 1 <= cells
    if missing:
        assert groups[-1] == present.max() + 1  # and of no other code


@given(SHARES, st.integers(1, 20))
def test_a_group_holds_no_more_than_its_part_and_one_code_of_mass(shares, cells):
    weights = shares / shares.sum() if shares.sum() > 0.0 else np.full(len(shares), 1.0 / len(shares))
    held = np.bincount(equal_mass(shares, cells, missing=False), weights)
    assert held.max() <= 1.0 / cells + weights.max() + 1e-9


def test_even_mass_is_cut_evenly_and_mass_at_one_value_by_itself():
    assert equal_mass(np.ones(8), 4, missing=False).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert equal_mass(np.zeros(4), 2, missing=False).tolist() == [0, 0, 1, 1]
    assert equal_mass(np.array([0.9, 0.05, 0.05]), 2, missing=False).tolist() == [0, 1, 1]
    assert equal_mass(np.array([1.0]), 5, missing=False).tolist() == [0]
    assert equal_mass(np.array([0.2, 0.8]), 5, missing=True).tolist() == [0, 1]
    assert equal_mass(np.array([0.0, 0.0, 1.0]), 1, missing=True).tolist() == [0, 0, 1]


@given(SHARES, st.integers(2, 20), st.floats(0.0, 1.0))
def test_only_small_categories_share_a_cell(shares, cells, least):
    groups = largest_values(shares, cells, least=least)
    _is_a_map(groups, len(shares))
    assert groups.max() + 1 <= max(cells, 2)
    if len(shares) <= 2:
        assert groups.tolist() == list(range(len(shares)))
        return
    shared = np.flatnonzero(np.bincount(groups)[groups] > 1)
    alone = np.setdiff1d(np.arange(len(shares)), shared)
    if shared.size:
        assert len(set(groups[shared].tolist())) == 1
        assert shares[shared].max() <= (shares[alone].min() if alone.size else np.inf)
    if np.count_nonzero(shares >= least) <= cells - 1:  # then none that is worth a cell shares one, but the very first
        assert not (shares[shared] >= least).any()


@pytest.mark.parametrize(
    ("shares", "cells", "least", "expected"),
    [
        ([0.1, 0.5, 0.3, 0.1], 3, 0.0, [2, 0, 1, 2]),
        ([0.1, 0.5, 0.3, 0.1], 9, 0.2, [2, 0, 1, 2]),
        ([0.1, 0.5, 0.3, 0.1], 9, 0.9, [1, 0, 1, 1]),
        ([0.1, 0.5, 0.3, 0.1], 4, 0.0, [0, 1, 2, 3]),
        ([0.0, 0.0, 0.0], 2, 1.0, [0, 1, 1]),
        ([1.0], 2, 1.0, [0]),
        ([0.0, 1.0], 2, 1.0, [0, 1]),
    ],
)
def test_the_largest_categories_have_their_own_cells(shares, cells, least, expected):
    assert largest_values(np.array(shares), cells, least=least).tolist() == expected
