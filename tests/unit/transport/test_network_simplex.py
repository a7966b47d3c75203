"""Proof page: docs/proofs/transport.md."""

import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import coo_array

import evomix.transport.network_simplex as solver
from evomix.core.errors import SpecError
from evomix.transport import Transport


def by_program(supplies, demands, tails, heads, costs, slack):
    """The least cost by HiGHS; None where demands cannot be met."""
    p, q, arcs = len(supplies), len(demands), len(tails)
    rows = np.concatenate([tails, np.arange(p), p + heads])
    columns = np.concatenate([np.arange(arcs), arcs + np.arange(p), np.arange(arcs)])
    balance = coo_array((np.ones(len(rows)), (rows, columns)), shape=(p + q, arcs + p)).tocsr()
    masses = np.concatenate([supplies, demands])
    done = linprog(np.concatenate([costs, slack]), A_eq=balance, b_eq=masses, method="highs")
    return done.fun if done.status == 0 else None


def small(rng):
    p, q = rng.integers(1, 12), rng.integers(1, 8)
    arcs = rng.integers(1, 2 * p * q)
    return [
        np.round(3.0 * rng.random(p), 1),
        np.round(2.0 * rng.random(q), 1) + 0.1,
        rng.integers(p, size=arcs),
        rng.integers(q, size=arcs),
        np.round(rng.normal(size=arcs), 1),
        np.round(rng.normal(size=p), 1),
    ]


def sparse(seed, p=400, q=300, degree=12):
    rng = np.random.default_rng(seed)
    tails, heads = rng.integers(p, size=degree * p), rng.integers(q, size=degree * p)
    tails, heads = np.append(tails, np.arange(q)), np.append(heads, np.arange(q))
    return [rng.random(p) + 1.0, rng.random(q), tails, heads, rng.random(len(tails)), 2.0 * rng.random(p)]


def check_flow(flow, supplies, demands, tails, heads, costs, slack):
    """What the flow says of itself fits the problem."""
    at, amounts = flow.shipped
    sent = np.bincount(tails[at], amounts, minlength=len(supplies))
    filled = np.bincount(heads[at], amounts, minlength=len(demands))
    assert sent + flow.kept == pytest.approx(supplies, abs=1e-12)
    assert filled + flow.lacking == pytest.approx(demands, abs=1e-12)
    assert (amounts > 0.0).all()
    assert (flow.kept >= 0.0).all()
    assert flow.cost == pytest.approx(costs[at] @ amounts + slack @ flow.kept, abs=1e-12)


def test_least_cost_equals_the_linear_program():
    rng = np.random.default_rng(0)
    met = 0
    for _ in range(300):
        problem = small(rng)
        flow = Transport(*problem)
        flow.solve()
        check_flow(flow, *problem)
        least = by_program(*problem)
        if least is None:
            assert flow.unmet > 0.05
        else:
            met += 1
            assert flow.unmet < 1e-12
            assert flow.cost == pytest.approx(least, abs=1e-9)
            assert flow.unmet or flow.bound() >= flow.cost - 1e-12
    assert met > 50


def test_prices_are_dual_feasible_and_their_value_is_the_cost():
    supplies, demands, tails, heads, costs, slack = problem = sparse(1)
    flow = Transport(*problem)
    flow.solve()
    source, sink = flow.source_prices, flow.sink_prices
    assert (source <= slack + flow.resolution).all()
    assert (source[tails] - sink[heads] <= costs + flow.resolution).all()
    assert supplies @ source - demands @ sink == pytest.approx(flow.cost, rel=1e-12)
    assert flow.bound() <= flow.cost <= flow.bound() + 1e-10


def test_the_bound_does_not_trust_the_solver():
    flow = Transport(*sparse(2))
    assert flow.bound() == -math.inf
    flow.solve()
    best = flow.cost
    flow.set_slack_costs([0, 1, 2], [-50.0, -50.0, -50.0])
    assert flow.bound() < best - 50.0  # prices of the old problem, made feasible for the new
    assert flow.bound() <= by_program(*sparse(2)[:5], np.append([-50.0] * 3, sparse(2)[5][3:]))


def test_warm_solves_after_changes_equal_cold_ones():
    rng = np.random.default_rng(3)
    problem = sparse(3)
    flow = Transport(*problem)
    flow.solve()
    for step in range(60):
        where = rng.choice(400, 1 + step % 7, replace=False)
        problem[5][where] = rng.normal(size=where.size) * (3.0 if step % 5 else 0.01)
        flow.set_slack_costs(where, problem[5][where])
        flow.solve()
        cold = Transport(*problem)
        cold.solve()
        assert flow.cost == pytest.approx(cold.cost, abs=1e-10)
        assert flow.bound() >= flow.cost - 1e-9
    check_flow(flow, *problem)


def test_a_repair_that_skips_pivots_is_caught(monkeypatch):
    monkeypatch.setattr(solver, "repair", lambda *_: True)
    with pytest.raises(AssertionError):
        test_warm_solves_after_changes_equal_cold_ones()


def basis(flow):
    """All that makes up the present basis."""
    tree = flow._tree
    parts = tree.parent, tree.arc, tree.flow, tree.depth, tree.child, tree.after, tree.before, tree.price, flow._costs
    return [part.copy() for part in parts]


def same(one, other):
    return all(np.array_equal(left, right) for left, right in zip(one, other, strict=True))


def test_a_trial_is_undone_to_the_last_bit():
    rng, problem = np.random.default_rng(4), sparse(4)
    flow = Transport(*problem)
    flow.solve()
    begin, cost = basis(flow), flow.cost
    for step in range(40):
        flow.mark()
        where = rng.choice(400, 1 + step % 9, replace=False)
        flow.set_slack_costs(where, 1.9 * rng.random(where.size))
        flow.solve()
        outer, middle, prices = basis(flow), flow.spent, flow.node_prices.copy()
        assert flow.spent == pytest.approx(flow.cost - cost, abs=1e-11)
        untouched = np.setdiff1d(np.arange(700), flow.touched)
        assert np.array_equal(prices[untouched], begin[-2][untouched])
        for _ in range(3):
            flow.mark()
            some = rng.choice(400, 5, replace=False)
            flow.set_slack_costs(some, 1.9 * rng.random(5))
            flow.solve()
            assert flow.spent == pytest.approx(flow.cost - cost, abs=1e-11)
            flow.undo()
            assert same(basis(flow), outer)
            assert flow.spent == middle
        flow.undo()
        assert same(basis(flow), begin)
        assert flow.cost == cost
    flow.solve()
    assert same(basis(flow), begin)


def test_what_is_kept_stays():
    problem = sparse(4)
    flow = Transport(*problem)
    flow.mark()
    flow.set_slack_costs([3], [9.0])
    flow.mark()
    flow.set_slack_costs([7, 9], [0.0, 0.1])
    flow.solve()
    flow.keep()
    flow.set_slack_costs([12], [0.5])
    flow.solve()
    problem[5][[3, 7, 9, 12]] = 9.0, 0.0, 0.1, 0.5
    cold = Transport(*problem)
    cold.solve()
    assert flow.cost == pytest.approx(cold.cost, abs=1e-10)
    assert flow.touched.size == 0


def test_undoing_survives_new_arcs_and_a_coarser_rounding():
    problem = sparse(5)
    flow = Transport(*problem)
    flow.solve()
    cost, kept = flow.cost, flow.kept
    flow.mark()
    flow.set_slack_costs(np.arange(200), np.full(200, -1e6))  # changes how all costs are rounded
    flow.solve()
    flow.mark()
    flow.set_slack_costs([5, 6], [-4.0, 9.0])
    flow.undo()
    flow.undo()
    flow.solve()
    assert flow.cost == pytest.approx(cost, abs=400 * flow.resolution)
    assert flow.bound() >= flow.cost - 1e-9 - 800 * flow.resolution
    before = flow.arcs
    flow.mark()
    flow.add_arcs([0], [0], [-10.0])
    flow.solve()
    flow.undo()
    assert flow.kept == pytest.approx(kept, abs=1e-9)
    flow.solve()
    assert flow.arcs == before + 1
    assert flow.cost < cost


def test_a_journal_that_misses_a_change_is_caught(monkeypatch):
    monkeypatch.setattr(solver, "unwind", lambda tree, records: tree.journal.state.__setitem__(0, records))
    with pytest.raises(AssertionError):
        test_a_trial_is_undone_to_the_last_bit()


def test_arcs_added_one_by_one_end_where_all_at_once_do():
    problem = sparse(6)
    supplies, demands, tails, heads, costs, slack = problem
    flow = Transport(supplies, demands, tails[-300:], heads[-300:], costs[-300:], slack)
    flow.solve()
    for part in np.array_split(np.arange(len(tails) - 300), 20):
        flow.add_arcs(tails[part], heads[part], costs[part])
        flow.solve()
    whole = Transport(*problem)
    whole.solve()
    assert flow.cost == pytest.approx(whole.cost, abs=1e-10)


def test_equal_masses_and_ties_end_in_an_optimal_assignment():
    rng = np.random.default_rng(7)
    for size, values in ((1, 2), (2, 1), (40, 2), (60, 3), (50, 1000)):
        costs = rng.integers(values, size=(size, size)).astype(float)
        tails, heads = np.divmod(np.arange(size * size), size)
        flow = Transport(np.ones(size), np.ones(size), tails, heads, costs.ravel(), np.zeros(size))
        flow.solve()
        assert flow.unmet == 0.0
        assert flow.cost == pytest.approx(costs[linear_sum_assignment(costs)].sum(), abs=1e-9)


def test_as_much_demand_as_possible_is_met():
    flow = Transport([1.0, 5.0], [2.0, 4.0], [0, 1], [0, 0], [1.0, 2.0], [0.0, 0.0])
    flow.solve()
    assert flow.unmet == 4.0
    assert flow.lacking.tolist() == [0.0, 4.0]
    assert flow.cost == 1.0 + 2.0
    assert flow.kept.tolist() == [0.0, 4.0]
    short = Transport([1.0], [1.0, 1.0], [0, 0], [0, 1], [1.0, 2.0], [9.0])
    short.solve()
    assert (short.unmet, short.cost) == (1.0, 1.0)
    assert short.source_prices[0] == -math.inf


def test_totals_equal_but_for_rounding_are_met():
    tails, heads = np.divmod(np.arange(6), 2)
    flow = Transport([0.1, 0.2, 0.3], [0.3, 0.1 + 0.2], tails, heads, np.ones(6), np.zeros(3))
    flow.solve()
    assert flow.unmet == 0.0
    assert flow.cost == pytest.approx(0.6, abs=1e-15)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e12, 1e200])
def test_scales_of_masses_and_costs_do_not_matter(scale):
    supplies, demands, tails, heads, costs, slack = sparse(8, 60, 40, 5)
    flow = Transport(supplies, demands, tails, heads, costs, slack)
    flow.solve()
    massive = Transport(scale * supplies, scale * demands, tails, heads, costs, slack)
    massive.solve()
    assert massive.cost == pytest.approx(scale * flow.cost, rel=1e-12)
    costly = Transport(supplies, demands, tails, heads, scale * costs, scale * slack)
    costly.solve()
    assert costly.cost == pytest.approx(scale * flow.cost, rel=1e-12)


def test_nothing_to_ship():
    flow = Transport([1.0, 0.0], [], [], [], [], [2.0, 3.0])
    flow.solve()
    assert (flow.cost, flow.unmet, flow.arcs) == (2.0, 0.0, 0)
    empty = Transport([], [1.0], [], [], [], [])
    empty.solve()
    assert (empty.cost, empty.unmet) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({0: [-1.0, 1.0]}, "supplies of at least 0"),
        ({1: [0.0]}, "positive demands"),
        ({0: [math.nan, 1.0]}, "finite supplies"),
        ({2: [0, 2]}, "tails as integers"),
        ({3: [0, 1]}, "heads as integers"),
        ({3: [0]}, "as many tails, heads and costs"),
        ({4: [1.0, math.inf]}, "finite costs"),
        ({5: [1.0]}, "slack_costs of shape"),
        ({0: [1e308, 1e308]}, "finite sum"),
    ],
)
def test_problems_that_are_none_are_refused(change, words):
    problem = {0: [1.0, 1.0], 1: [1.0], 2: [0, 1], 3: [0, 0], 4: [1.0, 1.0], 5: [0.0, 0.0]} | change
    with np.errstate(over="ignore"), pytest.raises(SpecError, match=words):
        Transport(*problem.values())


def test_changes_that_are_none_are_refused():
    flow = Transport([1.0], [1.0], [0], [0], [1.0], [0.0])
    with pytest.raises(SpecError, match="positions as integers"):
        flow.set_slack_costs([1], [0.0])
    with pytest.raises(SpecError, match="distinct positions"):
        flow.set_slack_costs([0, 0], [0.0, 1.0])
    with pytest.raises(SpecError, match="finite values"):
        flow.set_slack_costs([0], [math.inf])
    flow.solve()
    assert flow.cost == 1.0
