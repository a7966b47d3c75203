"""The compiled part of the bounds (4) of docs/proofs/ls_cost.md; the whole is held in test_local_search.py."""

import math

import numpy as np
import pytest
from transport_oracle import clustered

from evomix.neighbors.near_lists import near_lists
from evomix.selection.filling import Filling
from evomix.selection.swap_bounds import SwapBounds, add_gains


def lists_of(lists):
    return lists.starts, lists.columns, lists.distances


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
        whole = np.floor(prices * 2.0**40).astype(np.int64)
        prices = whole * 2.0**-40
        true = weights @ (np.minimum(prices[:, None], costs) - prices[:, None])
        gains = np.zeros(30)
        add_gains(*lists_of(lists), rows, weights, whole, 2.0**-40, 1.0, gains)
        np.testing.assert_allclose(gains, true, rtol=1e-12, atol=1e-12)
        add_gains(*lists_of(lists), rows[:20], weights, whole, 2.0**-40, -1.0, gains)
        rest = weights[20:] @ (np.minimum(prices[20:, None], costs[20:]) - prices[20:, None])
        np.testing.assert_allclose(gains, rest, rtol=1e-12, atol=1e-12)


def test_prices_beyond_the_lists_would_be_missed():
    points = np.arange(6.0)[:, None]
    lists = near_lists(points, rows=np.arange(1), columns=np.arange(6), count=2)
    gains = np.zeros(6)
    add_gains(*lists_of(lists), np.arange(1), np.ones(1), np.array([4]), 1.0, 1.0, gains)
    assert gains[3] == 0.0 != min(4.0, 3.0) - 4.0  # which is why lists are made longer to the second nearest


def solved(seed):
    rng = np.random.default_rng(seed)
    points, votes = clustered(rng, 300, dimension=2)
    eligible = np.flatnonzero(votes > 0.0)
    filling = Filling(points, votes, eligible, cap=4.0, size=12)
    chosen = rng.choice(eligible.size, 12, replace=False)
    filling.cost_of(filling.serving.serve(chosen))
    return rng, filling, chosen


@pytest.mark.parametrize("seed", range(4))
def test_bounds_that_follow_the_prices_are_those_made_anew(seed):
    rng, filling, chosen = solved(seed)
    flow, bounds = filling.transport.flow, SwapBounds(filling, chosen)
    for _ in range(10):
        slot, new = rng.integers(12), rng.choice(np.setdiff1d(np.arange(bounds.lists.shape[1]), chosen))
        old, chosen[slot] = chosen[slot], new
        flow.mark()
        flow.set_slack_costs(np.arange(filling.supplies.size), filling.serving.serve(chosen).first)
        flow.solve()
        moved = bounds.moved()
        now = bounds.at(moved)
        flow.keep()
        bounds.follow(moved, old, new)
        fresh = SwapBounds(filling, chosen)
        others = np.setdiff1d(np.arange(now.size), [*chosen, old])
        np.testing.assert_allclose(now[others], fresh.at(moved[:0])[others], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(bounds.at(moved[:0]), fresh.at(moved[:0]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_serving_after_an_exchange_is_serving_anew(seed):
    rng, filling, chosen = solved(seed)
    serving = filling.serving
    served = serving.serve(chosen)
    for _ in range(30):
        columns, slot = serving.lists.by_column(), rng.integers(12)
        new = rng.choice(np.setdiff1d(np.arange(serving.lists.shape[1]), chosen))
        rows = [columns.rows[columns.starts[one] : columns.starts[one + 1]] for one in (chosen[slot], new)]
        chosen[slot] = new
        served = serving.exchange(served, chosen, np.concatenate(rows))
        for one, other in zip(served, serving.serve(chosen), strict=True):
            assert np.array_equal(one, other)
