"""Holds "After a small change: room" of docs/proofs/transport.md against the optimum over all pairs."""

import numpy as np
import pytest

from evomix.transport.network_simplex import Transport
from evomix.transport.points import PointTransport


def problem(rng, monkeypatch, *, cap, most_floors):
    """A problem with few arcs among many pairs, certified, and its dense twin."""
    monkeypatch.setattr("evomix.transport.points._DENSE", 0)
    monkeypatch.setattr("evomix.transport.points._NEAREST", 2)
    monkeypatch.setattr("evomix.transport.points.MOST_PAIRS", most_floors)
    sources, sinks = rng.normal(size=(40, 3)), rng.normal(size=(25, 3))
    supplies, demands = rng.uniform(0.5, 2.0, 40), rng.uniform(0.1, 1.0, 25)
    slack = rng.uniform(0.0, 1.0, 40)
    sparse = PointTransport(sources, sinks, supplies, demands, slack_costs=slack, cap=cap)
    sparse.solve()
    costs = np.minimum(np.sqrt(((sources[:, None] - sinks[None]) ** 2).sum(axis=2)), cap)
    tails, heads = np.divmod(np.arange(40 * 25), 25)
    dense = Transport(supplies, demands, tails, heads, costs.ravel(), slack)
    return sparse, dense


@pytest.mark.parametrize("cap", [1.0, np.inf])
@pytest.mark.parametrize("most_floors", [0, 1 << 20])
def test_the_cost_less_the_excess_is_a_lower_bound(cap, most_floors, monkeypatch):
    open_pairs, tight = 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sparse, dense = problem(rng, monkeypatch, cap=cap, most_floors=most_floors)
        room = sparse.room()
        for many in (1, 1, 2, 6, 6):
            changed = rng.choice(40, many, replace=False)
            values = rng.uniform(0.0, 3.0, many)
            sparse.flow.set_slack_costs(changed, values)
            dense.set_slack_costs(changed, values)
            sparse.flow.solve()
            dense.solve()
            excess = sparse.excess(room)
            assert sparse.flow.cost - excess <= dense.cost + 1e-9
            assert sparse.flow.cost >= dense.cost - 1e-9
            open_pairs += sparse.flow.cost > dense.cost + 1e-6  # without the excess the bound would be false
            tight += excess < 1e-4
    assert open_pairs >= 5
    assert tight >= 20 or not most_floors  # where costs are known nothing is taken off without need


@pytest.mark.parametrize("cap", [1.0, np.inf])
def test_adding_what_is_violated_ends_at_the_optimum_over_all_pairs(cap, monkeypatch):
    added = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sparse, dense = problem(rng, monkeypatch, cap=cap, most_floors=1 << 20)
        room = sparse.room()
        for many in (1, 2, 6):
            changed, values = rng.choice(40, many, replace=False), rng.uniform(0.0, 0.9, many)
            sparse.flow.mark()
            sparse.flow.set_slack_costs(changed, values)
            sparse.flow.solve()
            touched = np.unique(sparse.flow.touched)
            touched = touched[touched < 65]  # not the ground
            assert sparse.excess(room, touched) == pytest.approx(sparse.excess(room), abs=1e-12)
            while more := sparse.add_violated(room, touched):
                added += more
                sparse.flow.solve()
                touched = np.unique(sparse.flow.touched)
                touched = touched[touched < 65]
            dense.mark()
            dense.set_slack_costs(changed, values)
            dense.solve()
            assert sparse.flow.cost == pytest.approx(dense.cost, abs=1e-9)
            assert sparse.certify() == 0
            for flow in (sparse.flow, dense):
                flow.undo()
            sparse.flow.solve()
    assert added >= 5


def test_the_room_is_that_of_the_pairs_without_an_arc(monkeypatch):
    sparse, _ = problem(np.random.default_rng(1), monkeypatch, cap=np.inf, most_floors=1 << 20)
    room = sparse.room()
    points = sparse._pairs.sources, sparse._pairs.sinks
    costs = np.sqrt(((points[0][:, None] - points[1][None]) ** 2).sum(axis=2))
    reduced = costs - room.source_prices[:, None] + room.sink_prices[None]
    apart = np.ones(costs.shape, np.bool_)
    for arcs in sparse._arcs:
        apart[arcs] = False
    expected = np.where(apart, reduced, np.inf)
    some = np.isfinite(expected.min(axis=1))
    assert (room.source_room[some] <= expected.min(axis=1)[some] + 1e-9).all()
    assert room.source_room[some] == pytest.approx(expected.min(axis=1)[some], abs=1e-3)
    some = np.isfinite(expected.min(axis=0))
    assert (room.sink_room[some] <= expected.min(axis=0)[some] + 1e-9).all()
    assert room.sink_room[some] == pytest.approx(expected.min(axis=0)[some], abs=1e-3)


def test_with_all_arcs_there_is_nothing_to_take_off():
    rng = np.random.default_rng(0)
    sparse = PointTransport(
        rng.normal(size=(5, 2)), rng.normal(size=(4, 2)), np.ones(5), np.ones(4), slack_costs=np.zeros(5)
    )
    sparse.solve()
    assert sparse.room() is None
    assert sparse.excess(None) == 0.0
