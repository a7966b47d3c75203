import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.stats import wasserstein_distance

import evomix.transport.points as module
from evomix.core.errors import SpecError
from evomix.transport import wasserstein_cost


def distances(x, y):
    return np.sqrt(((x[:, None] - y[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("nearest", [1, 32])
@pytest.mark.parametrize("size", [1, 2, 7, 60])
def test_equal_sets_of_equal_weights_cost_an_assignment(monkeypatch, size, nearest):
    monkeypatch.setattr(module, "_DENSE", 0 if nearest == 1 else module._DENSE)
    monkeypatch.setattr(module, "_NEAREST", nearest)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(size, 5)), rng.normal(size=(size, 5)) + seed
        if seed % 2:
            x, y = np.round(x), np.round(y)
        costs = distances(x, y)
        least = costs[linear_sum_assignment(costs)].sum() / size
        assert wasserstein_cost(x, y) == pytest.approx(least, rel=1e-11, abs=1e-12)


def test_many_points_cost_an_assignment_too():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(700, 16)), rng.normal(size=(700, 16)) + 0.5
    costs = distances(x, y)
    assert len(x) * len(y) > module._DENSE
    assert wasserstein_cost(x, y) == pytest.approx(costs[linear_sum_assignment(costs)].sum() / 700, rel=1e-11)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 9), (30, 20), (600, 500)])
def test_weights_on_a_line_cost_the_area_between_distributions(sizes):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=sizes[0]), 1.0 + 2.0 * rng.normal(size=sizes[1])
    a, b = rng.random(sizes[0]) + 0.1, rng.integers(0, 3, size=sizes[1]) + 0.0
    b[0] = 1.0
    found = wasserstein_cost(x[:, None], y[:, None], x_weights=a, y_weights=b)
    assert found == pytest.approx(wasserstein_distance(x, y, a, b), rel=1e-10)


def test_equal_sets_cost_nothing():
    x = np.random.default_rng(2).normal(size=(700, 4))
    x[:300] = x[0]
    assert wasserstein_cost(x, x[::-1]) == 0.0
    assert wasserstein_cost(x, np.repeat(x, 2, axis=0)) == pytest.approx(0.0, abs=1e-12)


def test_the_cap_truncates_distances():
    x, y = np.zeros((1, 2)), np.array([[3.0, 4.0], [0.0, 1.0]])
    assert wasserstein_cost(x, y) == 3.0
    assert wasserstein_cost(x, y, cap=2.0) == 1.5


def test_it_is_symmetric_and_moves_with_the_points():
    rng = np.random.default_rng(3)
    x, y, weights = rng.normal(size=(40, 3)), rng.normal(size=(50, 3)), rng.random(50)
    cost = wasserstein_cost(x, y, y_weights=weights)
    assert wasserstein_cost(y, x, x_weights=weights) == pytest.approx(cost, rel=1e-11)
    assert wasserstein_cost(x + 5.0, y + 5.0, y_weights=7.0 * weights) == pytest.approx(cost, rel=1e-11)
    assert wasserstein_cost(x.astype(np.float32), y, y_weights=weights) == pytest.approx(cost, rel=1e-6)


def test_pot_agrees():
    ot = pytest.importorskip("ot")
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(600, 10)), rng.normal(size=(500, 10)) + 1.0
    a, b = rng.dirichlet(np.ones(600)), rng.dirichlet(np.ones(500))
    found = wasserstein_cost(x, y, x_weights=a, y_weights=b)
    assert found == pytest.approx(float(ot.emd2(a, b, distances(x, y), numItermax=10**7)), rel=1e-9)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([0.0, 0.0], "above 0"),
        ([-1.0, 2.0], "at least 0"),
        ([1.0], "x_weights of shape"),
        ([math.nan, 1.0], "finite x_weights"),
    ],
)
def test_weights_that_are_none_are_refused(weights, words):
    with pytest.raises(SpecError, match=words):
        wasserstein_cost(np.zeros((2, 1)), np.zeros((2, 1)), x_weights=weights)


@pytest.mark.parametrize("points", [np.zeros((0, 2)), np.zeros(3), np.full((2, 2), np.inf), np.zeros((2, 3))])
def test_points_that_are_none_are_refused(points):
    with pytest.raises(SpecError):
        wasserstein_cost(points, np.zeros((2, 2)))
