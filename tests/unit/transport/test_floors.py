"""Holds "Floors" of docs/proofs/transport.md against all costs in float64."""

import math

import numpy as np
import pytest

from evomix.transport import floors as module
from evomix.transport.floors import HAS_ARC, Floors
from evomix.transport.missing_arcs import AllPairs
from evomix.transport.points import PointTransport


def distances(x, y, cap=math.inf):
    gaps = np.asarray(x, np.float64)[:, None] - np.asarray(y, np.float64)[None]
    return np.minimum(np.sqrt((gaps**2).sum(axis=2)), cap)


def made(x, y, cap=math.inf):
    return Floors.of(AllPairs(np.asarray(x, np.float64), y, cap=cap))


@pytest.mark.parametrize(
    ("dtype", "exponent"),
    [*((np.float64, exponent) for exponent in (-900, -500, -40, 0, 40, 490)), (np.float32, -40), (np.float32, 0)],
)
@pytest.mark.parametrize("cap", [0.1, 3.0, math.inf])
def test_no_floor_is_above_its_cost(dtype, exponent, cap):
    rng, scale = np.random.default_rng(1), math.ldexp(1.0, exponent)
    for shift, dimension in ((0.0, 1), (0.0, 40), (1e3, 7)):  # far from 0 products cancel
        x = (rng.normal(size=(70, dimension)) + shift).astype(dtype)
        y = (rng.normal(size=(50, dimension)) + shift).astype(dtype)
        y[:10] = x[:10]  # no gap at all
        y[10:20] = x[10:20] * (1.0 + 1e-6)
        x[69] += 1e4 * (dimension == 7)
        costs = distances(x, y, cap) * scale  # exact: powers of two
        floors = made(x * np.array(scale, dtype), y * np.array(scale, dtype), cap * scale)
        assert (floors.values < HAS_ARC).all()
        assert (floors.values * floors.unit <= costs).all()
        if dimension == 40:
            assert floors.values * floors.unit == pytest.approx(costs, abs=0.01 * scale)  # zero gaps are the worst
            assert np.abs(floors.values * floors.unit - costs)[30:, 30:].max() < 1e-3 * scale


def test_where_all_points_are_one_floors_are_zero():
    floors = made(np.full((4, 3), 7.0), np.full((5, 3), 7.0))
    assert (floors.values == 0).all()
    assert floors.unit > 0.0


def prices_just_short_of(costs, i, j):
    """Return prices by which the pair (i, j) gains a little, and no other does."""
    source, sink = np.full(len(costs), -9.0), np.zeros(costs.shape[1])
    source[i] = costs[i].min() - 0.5
    sink[j] = source[i] - costs[i, j] * (1.0 + 1e-11)
    return source, sink


def found(floors, source, sink):
    return list(zip(*floors.gaining(source, sink, margin=0.0, width=3), strict=True))


def test_a_pair_that_gains_least_is_found_and_a_floor_rounded_up_would_miss_it():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(30, 20)), rng.normal(size=(25, 20))
    costs, floors = distances(x, y), made(x, y)
    wrong = floors._replace(values=floors.values + np.uint16(1))
    missed = 0
    for i in range(30):
        j = (7 * i) % 25
        prices = prices_just_short_of(costs, i, j)
        assert found(floors, *prices) == [(i, j)]
        missed += found(wrong, *prices) == []
        prices[1][j] += 2e-11 * costs[i, j]  # it costs more than the prices differ by
        assert found(floors, *prices) == []
    assert missed > 20


def test_the_pairs_that_gain_are_those_of_the_products():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, y = np.round(rng.normal(size=(40, 2)), 1), np.round(rng.normal(size=(30, 2)), 1)
        cap = float(rng.choice([0.7, math.inf]))
        pairs = AllPairs(x, y, cap=cap)
        source, sink, margin = 2.0 * rng.random(40), rng.random(30), float(rng.choice([0.0, 0.1]))
        every = np.arange(40), np.arange(30)
        by_products = pairs.gaining(*every, source, sink, margin=margin, width=1200)
        floors = Floors.of(pairs)
        by_floors = floors.gaining(source, sink, margin=margin, width=1200)
        assert np.array_equal(by_products, by_floors)
        some = rng.random(by_floors[0].size) < 0.5
        floors.have_arcs(by_floors[0][some], by_floors[1][some])
        rest = floors.gaining(source, sink, margin=margin, width=1200)
        assert np.array_equal(rest, [side[~some] for side in by_floors])


def test_the_room_of_every_node_is_a_lower_bound_and_close():
    rng = np.random.default_rng(3)
    x, y, source, sink = rng.normal(size=(50, 6)), rng.normal(size=(40, 6)), rng.normal(size=50), rng.normal(size=40)
    floors = made(x, y)
    room = distances(x, y) - source[:, None] + sink[None]
    by_source, by_sink = floors.least(floors.whole(source, up=True), floors.whole(sink, up=False))
    for least, exact in ((by_source, room.min(axis=1)), (by_sink, room.min(axis=0))):
        assert (floors.real(least) <= exact).all()
        assert floors.real(least) == pytest.approx(exact, abs=1e-4 + 2.0 * floors.unit)


@pytest.mark.parametrize("values", [3, 60000])
def test_the_nearest_are_those_of_the_least_bounds(values, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 1)
    rng = np.random.default_rng(4)
    floors = made(rng.normal(size=(60, 2)), rng.normal(size=(45, 2)))
    floors.values[:] = rng.integers(values, size=(60, 45))
    expected = {(i, int(j)) for i in range(60) for j in np.argsort(floors.values[i], kind="stable")[:4]}
    expected |= {(int(i), j) for j in range(45) for i in np.argsort(floors.values[:, j], kind="stable")[:4]}
    tails, heads = floors.nearest(4)
    assert {(int(i), int(j)) for i, j in zip(tails, heads, strict=True)} == expected
    assert tails.size == len(expected)


def test_pairs_at_the_cap_are_no_neighbours():
    assert made(np.zeros((3, 1)), np.full((2, 1), 9.0), cap=1.0).nearest(2)[0].size == 0


def test_prices_out_of_range_leave_the_decision_to_products(monkeypatch):
    monkeypatch.setattr("evomix.transport.points._DENSE", 0)
    monkeypatch.setattr("evomix.transport.points._NEAREST", 1)
    rng = np.random.default_rng(5)
    x, y, supplies, demands = rng.normal(size=(40, 3)), rng.normal(size=(30, 3)), np.ones(40), np.full(30, 0.6)
    costs, rooms = [], []
    for largest in (1 << 28, 0):
        monkeypatch.setattr(module, "_LARGEST_PRICE", largest)
        problem = PointTransport(x, y, supplies, demands, slack_costs=np.zeros(40), repeated=True)
        problem.solve()
        costs.append(problem.flow.cost)
        rooms.append(problem.room().floors is None)
    assert costs[0] == pytest.approx(costs[1], rel=1e-12)
    assert rooms == [False, True]
