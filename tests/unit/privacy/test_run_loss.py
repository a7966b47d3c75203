"""The independent parts that dominate a run (docs/proofs/composition.md, sections 1 and 2)."""

import math

import numpy as np
import pytest
from exact_rounds import divergence, draw_pair, product

from evomix.privacy.composition import composed_delta
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound
from evomix.privacy.run_loss import costs, run_loss


def test_the_parts():
    loss = run_loss([MixingRound(10, 0.5, 3, 0.1), LaplaceRound(2.0), GaussianRound(4.0), MixingRound(10, 0.5, 4, 0.1)])
    mixing, laplace = loss.walks
    assert (mixing.steps, laplace.steps, laplace.stay) == (7, 2, 0.0)
    assert (mixing.up, mixing.down, mixing.stay) == pytest.approx((0.1, 0.05, 0.85), rel=1e-14)
    for walk in loss.walks:
        assert walk.up + walk.down + walk.stay == pytest.approx(1.0, abs=1e-15)
        assert math.log(walk.up / walk.down) == pytest.approx(walk.gain, rel=1e-14)
    assert 2 / 16 <= loss.variance <= 2 / 16 * (1 + 1e-12)
    assert loss.largest == math.inf
    assert run_loss([LaplaceRound(2.0)]).largest == pytest.approx(1.0)
    assert run_loss([MixingRound(10, 0.5, 3, 0.1)]).largest == pytest.approx(3 * math.log(2))


def test_what_tells_nothing_costs_nothing():
    free = [MixingRound(10, 1.0, 50, 0.1), MixingRound(10, 0.5, 0, 0.1)]
    assert not any(costs(each) for each in free)
    assert run_loss(free) == run_loss([])
    assert run_loss([]).largest == 0.0


@pytest.mark.parametrize(("units", "draws"), [(1, 1), (5, 1), (5, 7)])
def test_without_a_floor_a_unit_may_be_exposed(units, draws):
    loss = run_loss([MixingRound(units, 0.25, draws, 0.0)])
    assert loss.exposed == pytest.approx(1 - (1 - 0.75 / units) ** draws, rel=1e-12)
    assert loss.walks == ()
    assert run_loss([MixingRound(1, 0.0, 1, 0.3), GaussianRound(1.0)]).exposed == 1.0
    assert run_loss([LaplaceRound(1e-4)]).exposed == 1.0


def mixed_orders(beta, units, floors, epsilon):
    """Return δ of two draws in the orders (first, first), (second, second) and (first, second)."""
    one, two = draw_pair(beta, units, *floors), draw_pair(beta, units, *floors[::-1])
    return [divergence(epsilon, *product(*pairs)) for pairs in ((one, one), (two, two), (one, two))]


def test_the_worse_side_may_change_from_round_to_round():
    beta, floors, epsilon = 0.475, (0.078, 0.771), 1.94
    same, opposite, mixed = mixed_orders(beta, 1, floors, epsilon)
    # "The larger of two orders, each kept throughout" would be wrong, and is what a run must not be accounted by.
    assert mixed > 1.2 * max(same, opposite)
    rounds = [MixingRound(1, beta, 1, *floors), MixingRound(1, beta, 1, *floors)]
    for accountant in ("auto", "pld", "renyi"):
        assert composed_delta(epsilon, rounds, accountant=accountant) >= mixed


def test_no_choice_of_sides_beats_the_bound():
    rng = np.random.default_rng(5)
    for _ in range(200):
        units, epsilon = int(rng.integers(1, 8)), rng.uniform(0.0, 4.0)
        rounds, pairs = [], []
        for _ in range(2):
            beta, first = rng.uniform(0.05, 0.95), rng.uniform(0.01, 0.3)
            second = rng.uniform(first, 1 - first)
            rounds.append(MixingRound(units, beta, 1, first, second))
            sides = (first, second) if rng.random() < 0.5 else (second, first)
            pairs.append(draw_pair(beta, units, *sides))
        assert divergence(epsilon, *product(*pairs)) <= composed_delta(epsilon, rounds) * (1 + 1e-12)


def test_one_round_of_two_floors_has_two_directions():
    """The sharper account of a single round is the larger direction; the smaller alone would be exceeded."""
    pair = draw_pair(0.5, 4, 0.05, 0.6)
    there, back = divergence(0.7, *pair), divergence(0.7, *pair[::-1])
    bound = composed_delta(0.7, [MixingRound(4, 0.5, 1, 0.05, 0.6)])
    assert min(there, back) < 0.5 * max(there, back)
    assert max(there, back) <= bound <= max(there, back) * (1 + 1e-9)
