"""Proof page: docs/proofs/bl_projection.md."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import evomix.selection.projection as module
import evomix.transport.points as sparse
from evomix.core.errors import SpecError
from evomix.selection.projection import project


def distances(points, diameter):
    """Pairwise distances, scaled to a diameter."""
    gaps = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    return diameter * gaps / max(float(gaps.max()), 1e-12)


def bl_norm(measure, costs):
    """The greatest integral of a function within [−1, 1] that no two points' distance is exceeded by."""
    i, j = np.nonzero(~np.eye(len(measure), dtype=bool))
    rows = np.zeros((len(i), len(measure)))
    rows[np.arange(len(i)), i], rows[np.arange(len(i)), j] = 1.0, -1.0
    return -linprog(-measure, A_ub=rows, b_ub=costs[i, j], bounds=(-1.0, 1.0), method="highs").fun


def least_distance(measure, costs):
    """The least distance of any probability measure, by moves between all pairs, creation and deletion."""
    size = len(measure)
    balance = np.zeros((size + 1, size * size + 3 * size))
    for node in range(size):
        into = np.zeros((size, size))
        into[:, node] += 1.0
        into[node] -= 1.0
        balance[node, : size * size] = into.ravel()
    moves = size * size
    balance[:size, moves:] = np.hstack([np.eye(size), -np.eye(size), -np.eye(size)])  # created, deleted, the result
    balance[size, moves + 2 * size :] = 1.0
    prices = np.concatenate([costs.ravel(), np.ones(2 * size), np.zeros(size)])
    return linprog(prices, A_eq=balance, b_eq=np.append(-measure, 1.0), method="highs").fun


def instance(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 13))
    points = rng.normal(size=(size, 2))
    if seed % 2:
        points = np.round(points)
    votes = np.round(rng.normal(size=size) + rng.choice([-0.5, 0.2, 1.0]), 1)
    units = (0.5, 1.0, 3.0, 20.0, None)[seed % 5]
    if units is None and votes.sum() < 0.05:
        votes[0] += 0.5 - votes.sum()
    return points, votes, units, votes / (votes.sum() if units is None else units)


@pytest.mark.parametrize("diameter", [1.0, 2.0])
def test_no_probability_measure_is_nearer(diameter):
    creating, deleting = 0, 0
    for seed in range(200):
        points, votes, units, measure = instance(seed)
        found = project(points, votes, units=units)
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        assert (found >= 0.0).all()
        costs = distances(points, diameter)
        assert bl_norm(found - measure, costs) == pytest.approx(least_distance(measure, costs), abs=1e-7)
        creating += 1.0 - measure.sum() > 0.01 and measure.min() < 0.0
        deleting += measure.sum() - 1.0 > 0.01 and measure.min() < 0.0
    assert creating > 20
    assert deleting > 20


def test_cutting_votes_at_zero_is_not_the_projection(monkeypatch):
    def cut(_, votes, *, units):
        left = np.maximum(votes, 0.0)
        return left / left.sum() if left.any() else np.full(left.size, 1.0 / left.size)

    monkeypatch.setitem(globals(), "project", cut)
    with pytest.raises(AssertionError):
        test_no_probability_measure_is_nearer(1.0)


def test_filling_just_any_for_free_is_caught(monkeypatch):
    whole = module.PointTransport

    def unequal(sources, sinks, supplies, demands, *, slack_costs, free):
        # What is created fills in the order of position, not where filling is costly.
        filled = np.minimum(np.maximum(free - (np.cumsum(demands) - demands), 0.0), demands)
        return whole(sources, sinks, supplies, np.maximum(demands - filled, 1e-14), slack_costs=slack_costs)

    monkeypatch.setattr(module, "PointTransport", unequal)
    with pytest.raises(AssertionError):
        test_no_probability_measure_is_nearer(1.0)


def test_diameters_beyond_two_would_be_another_problem():
    points, votes = np.array([[0.0], [1.0], [1.1]]), np.array([1.0, -0.5, 0.5])
    found = project(points, votes, units=1.0)
    assert found == pytest.approx([1.0, 0.0, 0.0])
    far = np.array([[0.0, 9.0, 9.0], [9.0, 0.0, 9.0], [9.0, 9.0, 0.0]])  # creating and deleting is cheaper here
    assert least_distance(votes, far) < 0.5 * 9.0


def test_hand_computed_cases():
    points = np.array([[0.0], [1.0], [4.0], [4.5]])
    assert project(points, [0.5, 0.25, 0.25, 0.0], units=1.0).tolist() == [0.5, 0.25, 0.25, 0.0]
    # The negative takes from its neighbour; what is left, 2, shrinks to 1.
    assert project(points, [1.0, 0.0, 2.0, -1.0], units=1.0) == pytest.approx([0.5, 0.0, 0.5, 0.0])
    # One unit is missing: it fills the negative that is the dearer to fill, at 4.
    assert project(points, [1.5, -0.5, -1.0, 0.0], units=1.0) == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert project(points, [4.0, 2.0, -1.0, -1.0]).sum() == pytest.approx(1.0)


def test_where_nothing_remains_it_is_uniform():
    points = np.arange(4.0)[:, None]
    assert project(points, np.zeros(4), units=3.0).tolist() == [0.25] * 4
    assert project(points, [-1.0, -2.0, 0.0, 0.0], units=1.0).tolist() == [0.25] * 4
    assert project(points[:1], [7.0]).tolist() == [1.0]


def test_many_points_are_projected_without_a_dense_problem(monkeypatch):
    rng = np.random.default_rng(0)
    points, votes = rng.normal(size=(1400, 6)), rng.normal(size=1400) + 0.3
    for units in (votes.sum() * 1.5, votes.sum() / 1.5):
        found = project(points, votes, units=units)
        with monkeypatch.context() as patch:
            patch.setattr(sparse, "_DENSE", 1 << 40)
            assert found == pytest.approx(project(points, votes, units=units), abs=1e-12)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"votes": [1.0]}, "points .* and votes"),
        ({"points": np.zeros((0, 1)), "votes": []}, "n ≥ 1"),
        ({"votes": [1.0, math.inf]}, "finite votes"),
        ({"votes": [1.0, -1.0]}, "give units"),
        ({"units": 0.0}, "positive units"),
        ({"units": math.nan}, "positive units"),
    ],
)
def test_bad_arguments_are_refused(change, words):
    given = {"points": np.zeros((2, 1)), "votes": [1.0, 1.0], "units": None} | change
    with pytest.raises(SpecError, match=words):
        project(**given)
