"""The compiled part of the bounds (4) of docs/proofs/ls_cost.md; the whole is held in test_local_search.py."""

import math

import numpy as np
import pytest

from evomix.neighbors.near_lists import near_lists
from evomix.selection.exact_swaps import _add_gains


@pytest.mark.parametrize("count", [30, 4])
@pytest.mark.parametrize("cap", [math.inf, 1.5])
def test_gains_are_exact_for_prices_that_the_lists_reach(cap, count):
    rng = np.random.default_rng(7)
    for _ in range(40):
        points, weights = rng.integers(0, 4, (50, 2)) * 0.7, rng.normal(size=50)
        columns, rows = np.arange(30), np.arange(50)
        costs = np.minimum(np.sqrt(((points[:, None] - points[columns][None]) ** 2).sum(axis=2)), cap)
        lists = near_lists(points, rows=rows, columns=columns, count=count, cap=cap)
        prices = np.minimum(rng.uniform(-0.5, 2.5, 50), np.minimum(lists.reach, cap))
        true = weights @ (np.minimum(prices[:, None], costs) - prices[:, None])
        gains = np.zeros(30)
        _add_gains(lists.starts, lists.columns, lists.distances, rows, weights, prices, 1.0, gains)
        np.testing.assert_allclose(gains, true, rtol=1e-12, atol=1e-12)
        _add_gains(lists.starts, lists.columns, lists.distances, rows[:20], weights, prices, -1.0, gains)
        rest = weights[20:] @ (np.minimum(prices[20:, None], costs[20:]) - prices[20:, None])
        np.testing.assert_allclose(gains, rest, rtol=1e-12, atol=1e-12)


def test_prices_beyond_the_lists_would_be_missed():
    points = np.arange(6.0)[:, None]
    lists = near_lists(points, rows=np.arange(1), columns=np.arange(6), count=2)
    gains = np.zeros(6)
    _add_gains(lists.starts, lists.columns, lists.distances, np.arange(1), np.ones(1), np.array([4.0]), 1.0, gains)
    assert gains[3] == 0.0 != min(4.0, 3.0) - 4.0  # which is why lists are made longer to the second nearest
