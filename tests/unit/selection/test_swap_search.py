import math

import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.neighbors.near_lists import near_lists
from evomix.selection import swap_moves
from evomix.selection.swap_search import swap_search


class Instance:
    """A small problem: coordinates on a lattice or not, zero weights, copies, a cap or none."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        n, kind = int(rng.integers(2, 61)), seed % 4
        points = rng.integers(0, 4, (n, 2)).astype(float) if kind % 2 else rng.normal(size=(n, 3))
        self.weights = rng.integers(0, 3, n) * rng.exponential(size=n) ** 2
        columns = np.sort(rng.choice(n, rng.integers(1, n + 1), replace=False))
        self.cap = 1.2 if kind // 2 % 2 else math.inf
        size = [1, len(columns), int(rng.integers(1, len(columns) + 1))][rng.choice(3, p=[0.15, 0.05, 0.8])]
        self.start = rng.choice(len(columns), size, replace=False)
        count = int(rng.integers(1, 6))
        self.lists = near_lists(points, rows=np.arange(n), columns=columns, count=count, cap=self.cap)
        distances = np.sqrt(((points[:, None] - points[columns][None]) ** 2).sum(axis=2))
        self.costs = np.minimum(distances, self.cap)

    def cost(self, chosen):
        return float(self.weights @ self.costs[:, chosen].min(axis=1))

    def solve(self, **options):
        return swap_search(self.lists, self.weights, self.start, **options)

    def best_swap(self, chosen):
        """The least cost after one swap, by trying all."""
        least = math.inf
        others = np.setdiff1d(np.arange(self.costs.shape[1]), chosen)
        for slot in range(len(chosen)):
            rest = self.costs[:, np.delete(chosen, slot)].min(axis=1, initial=math.inf)
            after = np.minimum(rest[:, None], self.costs[:, others])
            least = min(least, float((self.weights @ after).min(initial=math.inf)))
        return least

    def is_settled(self, found):
        return self.best_swap(found.chosen) >= found.cost * (1 - 1e-6) - 1e-12


SEEDS = range(200)


@pytest.mark.parametrize("seeds", [SEEDS[start : start + 50] for start in range(0, 200, 50)])
def test_no_swap_improves_the_end(seeds):
    for seed in seeds:
        instance = Instance(seed)
        found = instance.solve()

        assert found.complete, seed
        assert len(np.unique(found.chosen)) == len(instance.start), seed
        assert found.cost == pytest.approx(instance.cost(found.chosen), rel=1e-12, abs=1e-12), seed
        assert found.cost <= instance.cost(instance.start) * (1 + 1e-12), seed
        assert instance.is_settled(found), seed


def caught(seed):
    instance = Instance(seed)
    found = instance.solve()
    return not (math.isclose(found.cost, instance.cost(found.chosen), rel_tol=1e-9) and instance.is_settled(found))


def interpreted(monkeypatch, look):
    """Let the search run in Python, with another way to look for the nearest two."""
    monkeypatch.setattr(swap_moves, "look", look)
    for name in ("look_at_all", "_count", "_exchange", "sweep"):
        monkeypatch.setattr(swap_moves, name, getattr(swap_moves, name).py_func)


def test_a_second_nearest_that_is_not_updated_is_caught(monkeypatch):
    right, seen = swap_moves.look, {}

    def stale(problem, state, row):
        listed = right(problem, state, row)
        state.second[row] = max(seen.setdefault((id(state.chosen), row), state.second[row]), state.first[row])
        return listed

    interpreted(monkeypatch, stale)
    wrong = 0
    for seed in SEEDS[:100]:
        seen.clear()
        wrong += caught(seed)
    assert wrong >= 3


def test_prices_that_are_only_bounds_are_caught_if_taken_for_exact(monkeypatch):
    right = swap_moves.look

    def trusting(problem, state, row):
        right(problem, state, row)
        state.hidden[row] = False
        return True

    interpreted(monkeypatch, trusting)
    assert sum(map(caught, SEEDS[:30])) >= 3


def test_interpreted_search_is_the_compiled_one(monkeypatch):
    """The two tests above change one thing only."""
    before = [Instance(seed).solve().chosen for seed in range(30)]
    interpreted(monkeypatch, swap_moves.look)
    for seed in range(30):
        np.testing.assert_array_equal(Instance(seed).solve().chosen, before[seed])


def test_lists_of_rows_without_weight_are_never_made_longer():
    points = np.linspace(0, 1, 200)[:, None] ** 2
    weights = np.zeros(200)
    weights[:3] = 1.0
    lists = near_lists(points, rows=np.arange(200), columns=np.arange(200), count=2)
    found = swap_search(lists, weights, [150, 199])
    assert found.complete
    np.testing.assert_array_equal(np.diff(found.lists.starts)[3:], 2)
    assert np.diff(lists.starts).max() == 2
    assert swap_search(lists, np.zeros(200), [5]).cost == 0.0


def test_stopped_early_says_so():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 3))
    lists = near_lists(points, rows=np.arange(300), columns=np.arange(300), count=30)
    short, whole = (swap_search(lists, np.ones(300), np.arange(20), most_passes=k) for k in (1, 100))
    assert not short.complete
    assert short.passes == 1
    assert whole.complete
    assert whole.cost < short.cost
    again = swap_search(whole.lists, np.ones(300), whole.chosen)
    assert again.complete
    assert again.passes == 1
    np.testing.assert_array_equal(again.chosen, whole.chosen)


def test_costs_far_below_the_prices_end():
    """One slot, almost all weight on one point: prices are differences of numbers 10¹⁸ times the cost."""
    points = np.array([[0.0], [1e-9], [1.0]])
    lists = near_lists(points, rows=np.arange(3), columns=np.arange(3), count=3)
    found = swap_search(lists, np.array([1e9, 1.0, 1e-9]), [1])
    assert found.complete
    np.testing.assert_array_equal(found.chosen, [0])


def clustered(n, seed):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(40, 6)) * 2
    points = centres[rng.integers(0, 40, n)] + rng.normal(size=(n, 6)) * rng.exponential(size=(n, 1))
    return points, np.maximum(rng.normal(1.0, 1.5, n), 0.0), rng


def test_cost_is_within_two_percent_of_the_best_of_twenty_starts():
    points, weights, rng = clustered(2000, 3)
    every = np.arange(2000)
    lists = near_lists(points, rows=every, columns=every, count=48)
    costs = [swap_search(lists, weights, rng.choice(2000, 250, replace=False)).cost for _ in range(20)]
    assert max(costs) <= 1.02 * min(costs)


def test_as_good_as_fasterpam_on_equal_weights():
    kmedoids = pytest.importorskip("kmedoids")
    points, _, rng = clustered(800, 4)
    every = np.arange(800)
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    start = rng.choice(800, 60, replace=False)
    lists = near_lists(points, rows=every, columns=every, count=40)
    rival = kmedoids.fasterpam(distances, start.astype(np.uint64)).loss
    found = swap_search(lists, np.ones(800), start)
    assert found.cost == pytest.approx(distances[:, found.chosen].min(axis=1).sum(), rel=1e-12)
    assert found.cost <= 1.01 * rival


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"weights": -np.ones(6)}, "weight of at least 0"),
        ({"weights": np.full(6, np.nan)}, "weight of at least 0"),
        ({"weights": np.ones(5)}, "each of 6 rows"),
        ({"chosen": [0, 0]}, "distinct positions among 4"),
        ({"chosen": [4]}, "distinct positions among 4"),
        ({"chosen": [-1]}, "distinct positions among 4"),
        ({"chosen": []}, "at least one"),
        ({"tolerance": 0.0}, "tolerance=0"),
        ({"most_passes": 0}, "most_passes=0"),
    ],
)
def test_bad_arguments_are_refused(change, says):
    lists = near_lists(np.arange(6.0)[:, None], rows=np.arange(6), columns=np.arange(4), count=2, cap=2.0)
    arguments = {"weights": np.ones(6), "chosen": [0]} | change
    with pytest.raises(SpecError, match=says):
        swap_search(lists, arguments.pop("weights"), arguments.pop("chosen"), **arguments)
