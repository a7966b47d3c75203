"""Proof page: docs/proofs/transport.md."""

import math

import numpy as np
import pytest

import evomix.transport.points as module
from evomix.core.errors import SpecError
from evomix.transport import PointTransport, Transport
from evomix.transport.missing_arcs import AllPairs


def distances(x, y, cap=math.inf):
    gaps = np.asarray(x, np.float64)[:, None] - np.asarray(y, np.float64)[None]
    return np.minimum(np.sqrt((gaps**2).sum(axis=2)), cap)


def dense(x, y, supplies, demands, slack, cap):
    tails, heads = np.divmod(np.arange(len(x) * len(y)), len(y))
    flow = Transport(supplies, demands, tails, heads, distances(x, y, cap).ravel(), slack)
    flow.solve()
    return flow.cost


@pytest.fixture
def few_arcs(monkeypatch):
    """Start from hardly any arcs, so that the missing ones have to be found."""
    monkeypatch.setattr(module, "_DENSE", 0)
    monkeypatch.setattr(module, "_NEAREST", 1)
    monkeypatch.setattr(module, "_ADDED", 1)


def problem(seed):
    rng = np.random.default_rng(seed)
    p, q, dimension = rng.integers(2, 60), rng.integers(1, 40), rng.integers(1, 6)
    x, y = rng.normal(size=(p, dimension)), rng.normal(size=(q, dimension)) + rng.choice([0.0, 4.0])
    if seed % 3 == 0:  # ties and duplicates
        x, y = np.round(x), np.round(y)
    supplies, demands = rng.random(p) + 0.01, rng.random(q) + 0.01
    demands *= supplies.sum() / demands.sum() * rng.choice([1.0, 0.9, 0.3])
    cap = float(rng.choice([0.3, 1.5, 4.0, math.inf]))
    slack = np.minimum(cap, rng.choice([0.0, 1.0, 3.0]) * rng.random(p))
    return x, y, supplies, demands, slack, cap


@pytest.mark.parametrize("how", [{}, {"aligned": True}, {"repeated": True}])
def test_the_sparse_optimum_is_the_dense_one(few_arcs, how):
    for seed in range(150):
        x, y, supplies, demands, slack, cap = problem(seed)
        sparse = PointTransport(x, y, supplies, demands, slack_costs=slack, cap=cap, **how)
        sparse.solve()
        assert sparse.flow.unmet < 1e-9
        assert sparse.flow.cost == pytest.approx(dense(x, y, supplies, demands, slack, cap), abs=1e-9)
        assert sparse.certify() == 0


def test_without_the_certificate_the_cost_would_be_wrong(few_arcs, monkeypatch):
    monkeypatch.setattr(PointTransport, "certify", lambda _: 0)
    with pytest.raises(AssertionError):
        test_the_sparse_optimum_is_the_dense_one(None, {})


def test_a_reach_that_promises_too_much_is_caught(few_arcs, monkeypatch):
    near = module._near_pairs
    monkeypatch.setattr(module, "_near_pairs", lambda *given: (*near(*given)[:2], *(2.0 * r for r in near(*given)[2:])))
    with pytest.raises(AssertionError):
        test_the_sparse_optimum_is_the_dense_one(None, {})


def test_changed_slack_costs_are_certified_anew(few_arcs):
    added = 0
    for seed in range(40):
        x, y, supplies, demands, slack, cap = problem(seed)
        sparse = PointTransport(x, y, supplies, demands, slack_costs=slack, cap=cap)
        sparse.solve()
        slack = np.minimum(cap, 4.0 * np.random.default_rng(seed).random(len(x)))
        sparse.flow.set_slack_costs(np.arange(len(x)), slack)
        sparse.flow.solve()
        while more := sparse.certify():
            added += more
            sparse.flow.solve()
        assert sparse.flow.cost == pytest.approx(dense(x, y, supplies, demands, slack, cap), abs=1e-9)
    assert added > 0


def test_free_supply_fills_what_is_costliest(few_arcs):
    x, y = np.zeros((1, 1)), np.array([[1.0], [2.0], [5.0]])
    sparse = PointTransport(x, y, [3.0], [1.0, 1.0, 1.0], slack_costs=[0.0], free=1.5)
    sparse.solve()
    assert sparse.flow.cost == pytest.approx(1.0 + 0.5 * 2.0, abs=1e-12)
    assert sparse.kept.tolist() == [1.5]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gaining_pairs_are_found_however_near_to_the_limit(dtype):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(80, 40)) + 30.0).astype(dtype)  # far from 0, where products cancel
    y = (rng.normal(size=(70, 40)) + 30.0).astype(dtype)
    costs = distances(x, y)
    pairs = AllPairs(x.astype(np.float64), y, cap=math.inf)
    every = np.arange(80), np.arange(70)
    assert pairs.distances(np.repeat(every[0], 70), np.tile(every[1], 80)) == pytest.approx(costs.ravel(), rel=1e-13)
    for i, j in ((0, 0), (17, 5), (79, 69)):
        for relative, found in ((1e-11, True), (-1e-11, False)):
            source, sink = np.full(80, -1e3), np.zeros(70)
            source[i] = costs[i].min() - 1.0
            sink[j] = source[i] - costs[i, j] * (1.0 + relative)
            tails, heads = pairs.gaining(*every, source, sink, margin=0.0, width=3)
            others = (source[:, None] - sink[None] > costs) & (np.arange(70) != j)
            assert not others.any()
            assert list(zip(tails, heads, strict=True)) == ([(i, j)] if found else [])


def test_the_pairs_that_gain_most_are_kept():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(30, 3)), rng.normal(size=(20, 3))
    source, sink = 3.0 * rng.random(30), rng.random(20)
    gains = source[:, None] - sink[None] - distances(x, y, 2.0)
    found = set(
        zip(
            *AllPairs(x, y, cap=2.0).gaining(np.arange(30), np.arange(20), source, sink, margin=0.0, width=2),
            strict=True,
        )
    )
    wanted = {(i, j) for i in range(30) for j in np.argsort(-gains[i])[:2] if gains[i, j] > 0.0}
    wanted |= {(i, j) for j in range(20) for i in np.argsort(-gains[:, j])[:2] if gains[i, j] > 0.0}
    assert {(int(i), int(j)) for i, j in found} == {(int(i), int(j)) for i, j in wanted}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sources": np.zeros((0, 2))}, "sources as finite numbers"),
        ({"sinks": np.full((2, 2), np.nan)}, "sinks as finite numbers"),
        ({"sinks": np.zeros((2, 3))}, "one dimension"),
        ({"supplies": [0.5, 0.5]}, "cover the demands"),
        ({"supplies": [0.5]}, "supplies of shape"),
        ({"slack_costs": [0.5]}, "slack_costs of shape"),
        ({"cap": 0.0}, "positive cap"),
        ({"free": -1.0}, "free supply"),
    ],
)
def test_problems_that_are_none_are_refused(change, words):
    given = {"sources": np.zeros((2, 2)), "sinks": np.ones((2, 2)), "supplies": [1.0, 1.0], "demands": [1.0, 1.0]}
    given |= {"slack_costs": [0.0, 0.0]} | change
    with pytest.raises(SpecError, match=words):
        PointTransport(**given)
