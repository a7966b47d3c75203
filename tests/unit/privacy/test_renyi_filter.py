"""The filter for rounds chosen on the way (docs/proofs/composition.md, section 4)."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from exact_rounds import draw_pair, product

from evomix.core.errors import BudgetExceeded, SpecError
from evomix.privacy.composition import composed_delta
from evomix.privacy.renyi import renyi_divergence
from evomix.privacy.renyi_filter import RenyiFilter
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, RoundShape

UNITS = 3


def pair_of(mixing):
    return product(*[draw_pair(mixing.mixing_weight, mixing.units, mixing.floor, mixing.floor)] * mixing.draws)


def adaptive_run(epsilon, delta, *, forget=False):
    """Return the joint laws of a run whose second round depends on the first outcome, and a fresh filter like its own.

    After an outcome that speaks for one neighbour the second round has few draws and a low floor, else many and a
    high one, each with the least noise that the filter lets it have. A filter that forgets lets the second have all.
    """
    shapes = RoundShape("mixing", 2, 0.05), RoundShape("mixing", 1, 0.02), RoundShape("mixing", 3, 0.2)
    fresh = RenyiFilter(epsilon, delta, units=UNITS, shapes=shapes)
    first = fresh.affordable(shapes[0], 1.0 if forget else 0.5)
    p, q = pair_of(first)
    ps, qs = [], []
    for left, right in zip(p, q, strict=True):
        run = RenyiFilter(epsilon, delta, units=UNITS, order=fresh.order)
        if not forget:
            run.spend(first)
        second = run.affordable(shapes[1] if left > right else shapes[2], 1.0 if forget else 0.5)
        run.spend(second)
        a, b = pair_of(second)
        ps.append(left * a)
        qs.append(right * b)
    return np.concatenate(ps), np.concatenate(qs), fresh


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-2), (3.0, 1e-5), (0.3, 1e-9)])
def test_an_adaptive_run_keeps_its_budget_and_a_forgetful_filter_does_not(epsilon, delta):
    p, q, fresh = adaptive_run(epsilon, delta)
    tilt = fresh.order - 1.0
    for left, right in ((p, q), (q, p)):
        assert math.fsum(np.maximum(left - math.exp(epsilon) * right, 0.0)) <= delta
        assert math.log(math.fsum(left * (left / right) ** tilt)) <= tilt * fresh.budget * (1 + 1e-9)
    spent = math.log(math.fsum(p * (p / q) ** tilt)) / tilt
    assert spent > 0.95 * fresh.budget  # the budget is used, not wasted
    p, q, fresh = adaptive_run(epsilon, delta, forget=True)
    assert math.log(math.fsum(p * (p / q) ** tilt)) > 1.8 * tilt * fresh.budget
    assert math.fsum(np.maximum(p - math.exp(epsilon) * q, 0.0)) > delta


def test_all_kinds_of_rounds_share_one_budget():
    shapes = [RoundShape("mixing", 300, 1e-3), RoundShape("gaussian"), RoundShape("laplace"), RoundShape("gaussian")]
    run, chosen = RenyiFilter(1.0, 1e-6, units=50_000, shapes=shapes), []
    for shape in shapes:
        chosen.append(run.affordable(shape, 0.25))
        assert run.admits(chosen[-1])
        run.spend(chosen[-1])
    assert 0.999999 * run.budget < run.spent <= run.budget
    assert run.affordable(shapes[1], 0.01) is None
    assert composed_delta(1.0, chosen) <= 1e-6
    # Ten rounds, each let through as if it were the first, are far beyond it.
    alone = RenyiFilter(1.0, 1e-6, units=50_000, order=run.order).affordable(shapes[1], 1.0)
    assert composed_delta(1.0, [alone] * 10) > 1e-6


def test_a_refused_round_is_not_counted():
    run = RenyiFilter(1.0, 1e-6, units=100)
    first = run.affordable(RoundShape("gaussian"), 0.7)
    run.spend(first)
    before = run.spent
    assert not run.admits(first)
    with pytest.raises(BudgetExceeded, match="order="):
        run.spend(first)
    with pytest.raises(BudgetExceeded):
        run.spend(MixingRound(100, 0.5, 1, 0.0))
    with pytest.raises(BudgetExceeded):
        run.forfeit(0.31)
    assert run.spent == before
    run.forfeit(0.2999)
    assert run.spent == pytest.approx(0.9999 * run.budget)
    assert run.affordable(RoundShape("laplace"), 0.001) is None


def test_shares_that_add_up_to_one_all_fit():
    for parts in (3, 7, 10, 49):
        run = RenyiFilter(2.0, 1e-9, units=100)
        for _ in range(parts):
            run.forfeit(1.0 / parts)
        assert run.spent <= run.budget
        with pytest.raises(BudgetExceeded):
            run.forfeit(1e-6)


def test_costs_are_added_upwards():
    run = RenyiFilter(1.0, 1e-6, units=10)
    rounds = [GaussianRound(40.0 + step) for step in range(3)] + [LaplaceRound(100.0)]
    for each in rounds:
        run.spend(each)
    assert run.spent >= math.fsum(renyi_divergence(each, run.order) for each in rounds)
    run.spend(MixingRound(10, 1.0, 500, 0.1))  # pure noise is free
    assert RenyiFilter(1.0, 1e-6, units=10).spent == 0.0


def test_what_is_affordable_at_the_edges():
    run = RenyiFilter(1.0, 1e-6, units=100)
    assert run.affordable(RoundShape("mixing", 10, 0.0), 0.5) is None
    assert run.affordable(RoundShape("mixing", 0, 0.1), 0.5).draws == 0
    assert run.affordable(RoundShape("mixing", 10, 0.1), 1e-300) is None
    for draws, share in itertools.product((1, 10_000), (1e-6, 1.0)):
        found = run.affordable(RoundShape("mixing", draws, 1e-4), share)
        assert renyi_divergence(found, run.order) <= share * run.budget


def test_refusals():
    with pytest.raises(SpecError, match="order="):
        RenyiFilter(1.0, 1e-6, units=10, order=2.0)
    with pytest.raises(SpecError, match="units="):
        RenyiFilter(1.0, 1e-6, units=0)
    with pytest.raises(SpecError, match="delta"):
        RenyiFilter(1.0, 0.0, units=10)
    run = RenyiFilter(1.0, 1e-6, units=10)
    with pytest.raises(SpecError, match="units=11"):
        run.admits(MixingRound(11, 0.999, 1, 0.1))
    for share in (0.0, 1.1, math.nan):
        with pytest.raises(SpecError, match="share="):
            run.affordable(RoundShape("gaussian"), share)
        with pytest.raises(SpecError, match="share="):
            run.forfeit(share)


def test_the_sum_is_exact_over_very_many_rounds():
    run = RenyiFilter(1.0, 1e-6, units=10)
    tiny, total = GaussianRound(1e3), Fraction(0)
    cost = Fraction(renyi_divergence(tiny, run.order))
    for _ in range(20_000):
        run.spend(tiny)
        total += cost
    assert Fraction(run.spent) >= total
    assert run.spent == pytest.approx(float(total), rel=1e-15)
