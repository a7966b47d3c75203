"""Checks the certificates of docs/proofs/noise_design.md: bounds at a floor, between floors, and for similar masses."""

import math

import numpy as np
import pytest
from minimax_oracle import least_worst_case, proper_sets
from scipy.optimize import linprog

from evomix.privacy.calibration import GRID, mixing_weight
from evomix.privacy.floor_intervals import FloorIntervals, inner_floor
from evomix.privacy.mass_classes import MassClasses
from evomix.privacy.matrix_game import MatrixGame
from evomix.privacy.minimax_bounds import BoundPool, MinimaxBound, bound_of_mixture, explicit_bounds


def random_public(rng, d):
    public = rng.dirichlet(np.full(d, rng.choice([0.2, 1.0, 5.0])))
    return np.sort(np.round(public, 2) / np.round(public, 2).sum() if rng.random() < 0.3 else public)


def weight_at(floor):
    return mixing_weight(2.0, 1e-4, n=500, draws=200, floor=floor)


def bound_of(mixture, sets, public, gamma):
    """Return the bound that a distribution over 0/1 rows proves, candidates by rising mass."""
    d = public.size
    covered = np.cumsum(sets[:, ::-1], axis=1)[:, ::-1] / np.arange(d, 0, -1)
    return bound_of_mixture(mixture, covered, sets.sum(axis=1), np.maximum(sets @ public - gamma, 0.0), d)


def test_any_mixture_of_sets_bounds_every_floor():
    rng = np.random.default_rng(0)
    tight = 0
    for _ in range(60):
        d = int(rng.integers(2, 7))
        public, gamma = random_public(rng, d), rng.uniform()
        sets = proper_sets(d)
        floors = rng.uniform(size=3) / d
        truths = [least_worst_case(public, floor, gamma) for floor in floors]
        for _ in range(20):
            chosen = sets[rng.integers(len(sets), size=int(rng.integers(1, 6)))]
            bound = bound_of(rng.dirichlet(np.ones(len(chosen))), chosen, public, gamma)
            assert bound.slope >= 0.0
            assert all(bound.at(floor) <= truth + 1e-9 for floor, truth in zip(floors, truths, strict=True))
            tight += any(bound.at(floor) > truth - 1e-3 for floor, truth in zip(floors, truths, strict=True))
        for floor, truth in zip(floors, truths, strict=True):
            for near in (0.0, *floors):
                found = explicit_bounds(public, floor=near, proximity=gamma)
                assert max(bound.at(floor) for bound in found) <= truth + 1e-9
    assert tight > 5


def test_the_full_set_proves_too_much():
    # γ times everything: the set that Claim 1 excludes would claim γ, which uniform noise on two undercuts.
    everything = bound_of(np.ones(1), np.ones((1, 2)), np.array([0.5, 0.5]), 0.8)
    assert everything.at(0.5) > least_worst_case(np.array([0.5, 0.5]), 0.5, 0.8) + 0.2


def test_equal_noise_for_the_largest_is_used():
    # Only the mean coverage of the j largest counts: covering the smallest less is no weakness, the largest is.
    public = np.array([0.1, 0.2, 0.7])
    of_largest = bound_of(np.ones(1), np.array([[0.0, 0.0, 1.0]]), public, 1.0)
    of_smallest = bound_of(np.ones(1), np.array([[1.0, 0.0, 0.0]]), public, 1.0)
    assert of_largest.at(0.0) == pytest.approx(1 / 3)
    assert of_smallest.at(0.0) == pytest.approx(0.0, abs=1e-12)


def test_intervals_bound_all_floors_between():
    rng = np.random.default_rng(1)
    d, loose = 5, 0
    for _ in range(20):
        ends = rng.uniform(size=(2, 2))
        lines = [MinimaxBound(0.3 * a, 3.0 * b) for a, b in ends]
        pool = BoundPool(lines)
        floors = np.sort(rng.uniform(size=4) / d)
        intervals = FloorIntervals({t: weight_at(t) for t in floors}, candidates=d, pool=pool)
        fine = [weight_at(t) * pool.at(t) for t in np.geomspace(1e-9, 1 / d, 300)]
        bound, low, high = intervals.weakest()
        first = bound
        assert bound <= min(fine) * (1 + 1e-9)
        for _ in range(40):
            floor = inner_floor(low, high)
            if floor is None:
                break
            intervals.split(floor, weight_at(floor))
            bound, low, high = intervals.weakest()
            assert first * (1 - 1e-9) <= bound <= min(fine) * (1 + 1e-9)
        assert bound > 0.97 * min(fine)
        loose += first < 0.9 * min(fine)
    assert loose > 5


def test_a_weight_that_does_not_fall_would_be_caught():
    # With the weight of the lower end on the whole interval, the bound exceeds what is attained inside.
    pool, d = BoundPool([MinimaxBound(0.3, 0.0)]), 5
    wrong = FloorIntervals({0.01: weight_at(0.01), 0.2: weight_at(0.01)}, candidates=d, pool=pool)
    right = FloorIntervals({0.01: weight_at(0.01), 0.2: weight_at(0.2)}, candidates=d, pool=pool)
    attained = weight_at(0.1) * 0.3
    assert right.weakest()[0] <= attained < wrong.weakest()[0]


def test_better_bounds_lift_the_intervals():
    pool = BoundPool([MinimaxBound(0.1, 0.0)])
    intervals = FloorIntervals({0.1: 0.5}, candidates=5, pool=pool)
    before, low, high = intervals.weakest()
    pool.add([MinimaxBound(0.2, 0.0)])
    after, _, _ = intervals.weakest()
    assert after == pytest.approx(2 * before)
    assert (low, high) == (0.1, 0.2)


@pytest.mark.parametrize("n", [100, 20_000])
def test_the_odds_of_a_private_draw_grow_at_most_with_the_floor(n):
    floors = np.geomspace(1e-9, 0.1, 60)
    weights = np.array([mixing_weight(1.0, 1e-6, n=n, draws=500, floor=t) for t in floors])
    odds = (1 - weights) / weights
    assert (np.diff(weights) <= 1e-12).all()
    assert (np.diff(odds / floors) <= 1e-7 * (odds / floors)[1:]).all()


def test_inner_floors_lie_on_the_grid():
    for low, high in ((0.0, 0.1), (0.0, 3 / GRID), (0.01, 0.02), (5 / GRID, 9 / GRID), (0.1, 1 / 3)):
        floor = inner_floor(low, high)
        assert low < floor < high
        assert (floor * GRID).is_integer()
    assert inner_floor(5 / GRID, 6 / GRID) is None
    assert inner_floor(0.0, 1 / GRID) is None


def test_similar_masses_are_bounded_by_their_rotations():
    rng = np.random.default_rng(2)
    for _ in range(20):
        d = int(rng.integers(4, 12))
        public, gamma = random_public(rng, d), rng.uniform(0, 0.8)
        classes = MassClasses.of(public, most=2, similar=3)
        assert classes.count.sum() == d
        counts = np.array([rng.integers(c + 1) for c in classes.count])
        starts = np.cumsum(classes.count) - classes.count
        totals, times, grid = np.zeros(d), 0.0, 1000
        for turn in (np.arange(grid) + 0.5) / grid:
            chosen = np.zeros(d)
            for g, (start, size, k) in enumerate(zip(starts, classes.count, counts, strict=True)):
                phase = (g * (math.sqrt(5) - 1) / 2) % 1.0
                first = math.floor(turn * size - phase) + 1 if 0 < k < size else 0
                chosen[start + (first + np.arange(k)) % size] = 1.0
            totals += chosen / grid
            times += max(chosen @ classes.members - gamma, 0.0) / grid
        assert totals == pytest.approx(np.repeat(counts / classes.count, classes.count), abs=0.01)
        assert classes.overflow(counts, proximity=gamma) == pytest.approx(times, abs=0.01)


def test_classes_of_equals_are_exact_and_expand():
    public = np.array([0.1, 0.3, 0.1, 0.2, 0.3, 0.0])
    classes = MassClasses.of(public, most=4, similar=2)
    assert classes.exact
    np.testing.assert_array_equal(classes.mass, [0.0, 0.1, 0.2, 0.3])
    np.testing.assert_array_equal(classes.count, [1, 2, 1, 2])
    np.testing.assert_array_equal(classes.expand(classes.mass, floor=0.0), public)
    np.testing.assert_allclose(classes.means(public), classes.mass)
    assert classes.overflow(np.array([1, 1, 0, 2]), proximity=0.5) == pytest.approx(0.2)
    similar = MassClasses.of(public, most=3, similar=2)
    spread = similar.expand(similar.means(np.full(6, 1 / 6)), floor=0.02)
    assert not similar.exact
    assert spread.sum() == pytest.approx(1.0)
    assert spread.min() >= 0.02


def value_of_game(payoffs):
    rows, columns = payoffs.shape
    answer = linprog(
        np.append(np.zeros(columns), 1.0),
        A_ub=np.column_stack((payoffs, -np.ones(rows))),
        b_ub=np.zeros(rows),
        A_eq=[np.append(np.ones(columns), 0.0)],
        b_eq=[1.0],
        bounds=[(0, None)] * columns + [(None, None)],
    )
    return answer.fun


def test_games_agree_with_linear_programming_as_rows_arrive():
    rng = np.random.default_rng(3)
    for _ in range(30):
        columns = int(rng.integers(1, 9))
        game, payoffs = MatrixGame(columns), np.zeros((0, columns))
        for step in range(6):
            more = rng.uniform(-0.9, 1.0, size=(int(rng.integers(1, 6)), columns))
            payoffs = np.vstack((payoffs, np.round(more, 1) if rng.random() < 0.5 else more))
            again = step > 0
            if step == 3:  # the payoffs change, and rows outside the basis go
                kept = game.basic(len(payoffs)) | (rng.random(len(payoffs)) < 0.5)
                game.forget(kept)
                payoffs, again = 0.9 * payoffs[kept], False
            rows, cols = game.solve(payoffs, again=again)
            value = value_of_game(payoffs)
            assert (rows @ payoffs).min() == pytest.approx(value, abs=1e-7)
            assert (payoffs @ cols).max() == pytest.approx(value, abs=1e-7)
            assert rows.sum() == pytest.approx(1.0)
            assert cols.sum() == pytest.approx(1.0)
