"""Proof page: docs/proofs/transport.md."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from transport_oracle import clustered, cost_by_program

import evomix.transport.points as sparse
from evomix.core.errors import SpecError
from evomix.selection.ls_cost import ls_cost


def instance(seed):
    """Points with ties and duplicates, signed votes, a selection that may hold negative and zero votes."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 16))
    points = rng.normal(scale=2.0, size=(size, 2))
    if seed % 2:
        points = np.round(points)
    votes = np.round(rng.normal(size=size) + rng.choice([-0.2, 0.3, 1.0]), 1)
    if seed % 7 == 0:  # a sum of 0, up to rounding
        votes[0] -= votes.sum()
    chosen = rng.choice(size, rng.integers(0, size + 1), replace=False)
    return points, votes, chosen, float(rng.choice([1.0, 4.0, 12.0, 1e9]))


@pytest.mark.parametrize("few_arcs", [False, True])
def test_the_cost_is_the_linear_program_over_all_flows(few_arcs, monkeypatch):
    if few_arcs:
        monkeypatch.setattr(sparse, "_DENSE", 0)
        monkeypatch.setattr(sparse, "_NEAREST", 1)
    kinds = set()
    for seed in range(200):
        points, votes, chosen, radius = instance(seed)
        votes[np.abs(votes) < 1e-12] = 0.0
        expected = cost_by_program(points, votes, chosen, radius)
        found = ls_cost(points, votes, chosen, radius=radius)
        assert found == pytest.approx(expected, abs=1e-8)
        kinds |= {(math.isinf(found), bool((votes[chosen] < 0.0).any()), abs(votes.sum()) < 1e-9)}
    assert kinds >= {(True, False, False), (True, True, False), (False, False, False), (False, True, False)}
    assert any(balanced and not infinite for infinite, _, balanced in kinds)


def test_direct_flows_need_a_metric():
    # With squared distances, which are none, a flow through the candidate between is cheaper than the direct one.
    costs = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]]).ravel()
    balance = np.zeros((3, 9))
    for node in range(3):
        out = np.zeros((3, 3))
        out[node] += 1.0
        out[:, node] -= 1.0
        balance[node] = out.ravel()
    general = linprog(costs, A_eq=balance, b_eq=[1.0, 0.0, -1.0], method="highs").fun
    assert general == pytest.approx(2.0)
    assert costs.reshape(3, 3)[0, 2] == 4.0
    # The truncated distance is one: both ways cost the same.
    points = np.array([[0.0], [1.0], [2.0]])
    assert ls_cost(points, [1.0, 0.0, -1.0], [], radius=math.inf) == 2.0
    assert ls_cost(points, [1.0, 0.0, -1.0], [], radius=4.5) == 1.5


def test_a_large_instance_equals_the_dense_one(monkeypatch):
    points, votes = clustered(np.random.default_rng(0), 1500, dimension=8)
    votes += 0.05
    chosen = np.argsort(-votes)[:50]
    assert (votes > 0).sum() * (votes < 0).sum() > sparse._DENSE
    found = ls_cost(points, votes, chosen, radius=20.0)
    monkeypatch.setattr(sparse, "_DENSE", 1 << 40)
    assert found == pytest.approx(ls_cost(points, votes, chosen, radius=20.0), rel=1e-12)


def test_a_chosen_negative_is_filled_and_takes_more():
    points = np.array([[0.0], [1.0], [3.0]])
    assert ls_cost(points, [5.0, -2.0, 0.0], [1], radius=math.inf) == 5.0
    assert ls_cost(points, [5.0, -2.0, 0.0], [0], radius=math.inf) == 2.0
    assert ls_cost(points, [5.0, -2.0, 0.0], [2], radius=math.inf) == 2.0 + 9.0
    assert ls_cost(points, [5.0, -2.0, 0.0], [2], radius=6.0) == 2.0 + 6.0


def test_where_no_flow_exists_the_cost_is_infinite():
    points = np.array([[0.0], [1.0]])
    assert ls_cost(points, [1.0, -2.0], [0, 1], radius=1.0) == math.inf
    assert ls_cost(points, [1.0, 1.0], [], radius=1.0) == math.inf
    assert ls_cost(points, [0.0, -1.0], [0], radius=1.0) == math.inf
    assert ls_cost(points, [0.0, 0.0], [], radius=1.0) == 0.0
    assert ls_cost(points, [1.0, -1.0], [], radius=math.inf) == 1.0
    thirds = np.array([0.1, 0.2, -0.3, -0.1, -0.2, 0.3])  # sums to something near 1e-17
    assert ls_cost(np.zeros((6, 1)), thirds, [], radius=1.0) == 0.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"votes": [1.0]}, "points .* and votes"),
        ({"points": np.zeros(2)}, "expected points"),
        ({"votes": [1.0, math.nan]}, "finite votes"),
        ({"chosen": [0, 0]}, "distinct positions"),
        ({"chosen": [2]}, "chosen from 0 to 1"),
        ({"chosen": [0.5]}, "chosen as integers"),
        ({"radius": 0.0}, "radius above 0"),
        ({"radius": math.nan}, "radius above 0"),
    ],
)
def test_bad_arguments_are_refused(change, words):
    given = {"points": np.zeros((2, 1)), "votes": [1.0, 1.0], "chosen": [0], "radius": 1.0} | change
    with pytest.raises(SpecError, match=words):
        ls_cost(**given)


def test_slack_far_larger_than_every_arc_is_rounded_with_the_arcs():
    points = np.array([[0.1], [0.0], [10.0]])
    assert ls_cost(points, [2.0, -1.0, 0.0], [2], radius=99.0) == pytest.approx(10.0)
