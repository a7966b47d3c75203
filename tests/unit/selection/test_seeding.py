import math

import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.neighbors.near_lists import near_lists
from evomix.selection.seeding import seed_positions
from evomix.selection.swap_search import swap_search


@pytest.mark.parametrize("with_fixed", [False, True])
@pytest.mark.parametrize("cap", [math.inf, 2.0])
def test_equal_to_trying_all_at_every_step(cap, with_fixed):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        points, weights = rng.integers(0, 6, (60, 2)).astype(float), rng.integers(0, 4, 60).astype(float)
        fixed = rng.integers(0, 4, 60).astype(float) if with_fixed else None
        lists = near_lists(points, rows=np.arange(60), columns=np.arange(40), count=40, cap=cap)
        costs = np.sqrt(((points[:, None] - points[None, :40]) ** 2).sum(axis=2))
        limits = np.minimum(np.full(60, math.inf) if fixed is None else fixed, cap)
        served = np.where(np.isfinite(limits), limits, 2 * lists.distances.max())

        chosen = seed_positions(lists, weights, size=12, fixed=fixed)

        # Ties of gains that are rounded differently may go either way; every step's gain must be the largest.
        taken = []
        for x in chosen:
            gains = weights @ np.maximum(served[:, None] - costs, 0.0)
            gains[taken] = 0.0
            assert gains[x] == pytest.approx(gains.max(), abs=1e-9), seed
            taken.append(x)
            served = np.minimum(served, costs[:, x])
        assert len(np.unique(chosen)) == 12


def test_short_lists_start_near_the_end():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(20, 5))[rng.integers(0, 20, 900)] + 0.3 * rng.normal(size=(900, 5))
    weights = rng.exponential(size=900)
    lists = near_lists(points, rows=np.arange(900), columns=np.arange(900), count=20)

    def cost(start, most_passes):
        return swap_search(lists, weights, start, most_passes=most_passes).cost

    seeded = seed_positions(lists, weights, size=150)
    costs = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    at_start, end = weights @ costs[:, seeded].min(axis=1), cost(seeded, 100)
    at_random = weights @ costs[:, rng.choice(900, 150, replace=False)].min(axis=1)
    assert at_start <= 1.05 * end
    assert at_start <= 0.8 * at_random


@pytest.mark.parametrize("size", [1, 30])
def test_candidates_without_gain_fill_up(size):
    points = np.zeros((30, 2))
    lists = near_lists(points, rows=np.arange(30), columns=np.arange(30), count=3)
    np.testing.assert_array_equal(seed_positions(lists, np.zeros(30), size=size), np.arange(size))
    assert len(np.unique(seed_positions(lists, np.ones(30), size=size))) == size


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"size": 0}, "size=0"),
        ({"size": 5}, "size=5"),
        ({"weights": -np.ones(6)}, "weight"),
        ({"weights": np.ones(4)}, "weight"),
        ({"fixed": np.full(6, np.nan)}, "fixed"),
        ({"fixed": np.ones(4)}, "fixed"),
    ],
)
def test_bad_arguments_are_refused(change, says):
    lists = near_lists(np.arange(6.0)[:, None], rows=np.arange(6), columns=np.arange(4), count=2)
    arguments = {"weights": np.ones(6), "size": 1} | change
    with pytest.raises(SpecError, match=says):
        seed_positions(lists, arguments.pop("weights"), **arguments)
