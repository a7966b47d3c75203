"""Accounting and calibrating runs whose rounds differ (docs/proofs/composition.md)."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from exact_rounds import draw_pair, product
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SpecError
from evomix.privacy.calibration import GRID, delta, mixing_weight
from evomix.privacy.composition import accountant_of, calibrate_rounds, composed_delta, composed_epsilon
from evomix.privacy.gaussian_accounting import gaussian_delta, gaussian_epsilon, gaussian_stddev
from evomix.privacy.laplace_accounting import laplace_delta, laplace_epsilon, laplace_scale
from evomix.privacy.renyi import renyi_budget, renyi_divergence
from evomix.privacy.renyi_noise import best_order, least_noise
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, RoundShape

MIXING = MixingRound(1000, 0.5, 200, 1e-3)
FREE = MixingRound(1000, 1.0, 200, 1e-3)
SHAPES = (
    RoundShape("mixing", draws=2000, floor=1 / 500),
    RoundShape("mixing", draws=5000, floor=1 / 8000, share=2.0),
    RoundShape("gaussian"),
    RoundShape("laplace", share=0.5),
)


@pytest.mark.parametrize(
    ("rounds", "accountant"),
    [
        ([], "draws"),
        ([FREE], "draws"),
        ([MIXING, MixingRound(1000, 0.5, 7, 0.1)], "draws"),
        ([MIXING, MixingRound(1000, 0.6, 7, 0.1)], "pld"),
        ([MIXING, MixingRound(999, 0.5, 7, 0.1)], "pld"),
        ([GaussianRound(2.0), FREE, GaussianRound(3.0)], "gaussian"),
        ([LaplaceRound(2.0), LaplaceRound(2.0)], "laplace"),
        ([LaplaceRound(2.0), LaplaceRound(3.0)], "pld"),
        ([LaplaceRound(2.0), GaussianRound(2.0)], "pld"),
        ([MIXING, GaussianRound(2.0)], "pld"),
    ],
)
def test_which_account(rounds, accountant):
    assert accountant_of(rounds) == accountant
    assert composed_delta(1.0, rounds) == composed_delta(1.0, rounds, accountant=accountant)


def test_exact_accounts_are_the_ones_of_their_own_files():
    assert composed_delta(1.0, [GaussianRound(2.0), GaussianRound(3.0)]) == gaussian_delta(1.0, stddev=[2.0, 3.0])
    assert composed_delta(1.0, [LaplaceRound(9.0)] * 5) == laplace_delta(1.0, scale=9.0, rounds=5)
    usual = {"mixing_weight": 0.5, "n": 1000}
    rounds = [MIXING, MixingRound(1000, 0.5, 50, 1e-2), FREE]
    assert composed_delta(1.0, rounds) == delta(1.0, draws=250, floor=1e-3, **usual)
    one = MixingRound(1000, 0.5, 50, 1e-3, 0.4)
    assert composed_delta(1.0, [one]) == delta(1.0, draws=50, floor=1e-3, second_floor=0.4, **usual)
    assert composed_delta(1.0, [one, one]) == delta(1.0, draws=100, floor=1e-3, **usual)
    assert composed_delta(1.0, []) == composed_delta(1.0, [FREE]) == composed_epsilon(1e-6, [FREE]) == 0.0


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0.01, 8.0),
    st.floats(0.05, 0.95),
    st.integers(1, 10**6),
    st.lists(st.tuples(st.integers(1, 3000), st.floats(1e-5, 0.1)), min_size=1, max_size=4),
)
def test_never_below_the_draws_budget(epsilon, beta, units, parts):
    rounds = [MixingRound(units, beta, draws, floor) for draws, floor in parts]
    exact = [
        delta(epsilon, mixing_weight=beta, n=units, draws=sum(draws for draws, _ in parts), floor=floor)
        for floor in (max(floor for _, floor in parts), min(floor for _, floor in parts))
    ]
    # Between the draws budgets at the largest and at the smallest floor.
    for accountant in ("pld", "renyi"):
        assert composed_delta(epsilon, rounds, accountant=accountant) >= exact[0] * (1 - 1e-8) - 1e-300
    assert composed_delta(epsilon, rounds, accountant="pld") <= exact[1] * (1 + 1e-2) + 1e-300


def test_never_below_the_exact_histogram_accounts():
    for epsilon, stddev in itertools.product((0.1, 1.0, 5.0), (0.8, 5.0, 20.0)):
        gaussian, laplace = [GaussianRound(stddev), GaussianRound(2 * stddev)], [LaplaceRound(stddev)] * 3
        for rounds in (gaussian, laplace):
            exact = composed_delta(epsilon, rounds)
            found = composed_delta(epsilon, rounds, accountant="pld")
            assert exact * (1 - 1e-9) - 1e-300 <= found <= exact * (1 + 1e-6) + 1e-300
            assert composed_delta(epsilon, rounds, accountant="renyi") >= exact - 1e-300


def adaptive_delta(epsilon, first, choices):
    """Return δ of the worst two-round mechanism whose second round is chosen after the first outcome."""
    p, q = first
    total = 0.0
    for left, right in zip(p, q, strict=True):
        total += max(math.fsum(np.maximum(left * a - math.exp(epsilon) * right * b, 0.0)) for a, b in choices)
    return total


def test_adaptive_second_rounds_by_brute_force():
    """The second round's votes, sides and noise masses follow from the first outcome, its β and floor are fixed."""
    rng = np.random.default_rng(8)
    tight = 0.0
    for _ in range(60):
        units, epsilon = int(rng.integers(1, 6)), rng.uniform(0.0, 3.0)
        one, two = (
            MixingRound(units, rng.uniform(0.1, 0.9), int(rng.integers(1, 3)), rng.uniform(0.02, 0.3)) for _ in range(2)
        )
        first = product(*[draw_pair(one.mixing_weight, units, one.floor, one.floor)] * one.draws)
        choices = []
        for _ in range(12):
            second = rng.uniform(two.floor, 1 - two.floor) if rng.random() < 0.5 else two.floor
            sides = (two.floor, second) if rng.random() < 0.5 else (second, two.floor)
            pair = product(*[draw_pair(two.mixing_weight, units, *sides)] * two.draws)
            choices.append(pair if rng.random() < 0.5 else pair[::-1])
        exact = adaptive_delta(epsilon, first, choices)
        bound = composed_delta(epsilon, [one, two])
        assert exact <= bound * (1 + 1e-9) + 1e-15
        if exact > 1e-6:
            tight = max(tight, exact / bound)
        # An account that forgets the second round is exceeded.
        if exact > 1e-6 and two.mixing_weight < 0.5:
            assert exact > composed_delta(epsilon, [one]) or one.mixing_weight < two.mixing_weight
    assert tight > 0.95


@pytest.mark.parametrize("rounds", [
    [MIXING, GaussianRound(3.0)], [LaplaceRound(3.0), LaplaceRound(5.0)], [MIXING] * 2, [GaussianRound(3.0)] * 3,
    [LaplaceRound(3.0)] * 3,
])  # fmt: skip
@pytest.mark.parametrize("target", [1e-300, 1e-6])
def test_epsilon_is_the_inverse(rounds, target):
    for accountant in ("auto", "pld", "renyi"):
        epsilon = composed_epsilon(target, rounds, accountant=accountant)
        assert composed_delta(epsilon, rounds, accountant=accountant) <= target
        assert composed_delta(epsilon * (1 - 1e-4), rounds, accountant=accountant) > target


def test_epsilon_agrees_with_the_exact_inverses():
    assert composed_epsilon(1e-6, [GaussianRound(3.0)] * 4) == pytest.approx(
        gaussian_epsilon(1e-6, stddev=3.0, rounds=4), rel=1e-8
    )
    assert composed_epsilon(1e-6, [LaplaceRound(3.0)] * 4) == pytest.approx(
        laplace_epsilon(1e-6, scale=3.0, rounds=4), rel=1e-8
    )
    assert composed_epsilon(0.9, [GaussianRound(3.0)]) == 0.0
    assert composed_epsilon(1e-6, [MixingRound(100, 0.5, 3, 0.0), GaussianRound(9.0)]) == math.inf
    exposing = [MixingRound(100, 0.5, 3, 0.0), GaussianRound(9.0)]
    assert 0.0 < composed_epsilon(0.02, exposing) < composed_epsilon(0.0151, exposing) < 5.0


@pytest.mark.parametrize(("epsilon", "target"), [(1.0, 1e-6), (4.0, 1e-12), (0.05, 1e-300), (30.0, 1e-3)])
def test_calibrated_rounds_meet_the_budget_and_hardly_less_noise_does(epsilon, target):
    rounds = calibrate_rounds(epsilon, target, SHAPES, units=100_000)
    assert accountant_of(rounds) == "pld"
    assert composed_delta(epsilon, rounds) <= target
    assert composed_epsilon(target, rounds) == pytest.approx(epsilon, rel=1e-4)
    for each in rounds[:2]:
        assert each.mixing_weight * GRID == int(each.mixing_weight * GRID)
    cautious = calibrate_rounds(epsilon, target, SHAPES, units=100_000, accountant="renyi")
    assert all(less.mixing_weight < more.mixing_weight for less, more in zip(rounds[:2], cautious[:2], strict=True))
    assert rounds[2].stddev < cautious[2].stddev
    assert composed_delta(epsilon, cautious, accountant="renyi") <= target * (1 + 1e-5)


def test_each_round_gets_its_share():
    order = best_order(1.0, 1e-6, SHAPES, units=100_000)
    costs = [renyi_divergence(each, order) for each in calibrate_rounds(1.0, 1e-6, SHAPES, units=100_000)]
    assert np.array(costs) / sum(costs) == pytest.approx(np.array([1, 2, 1, 0.5]) / 4.5, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "target"), [(1.0, 1e-6), (4.0, 1e-9)])
def test_equal_rounds_get_what_the_exact_calibration_gives(epsilon, target):
    for accountant, within in (("auto", 1e-8), ("pld", 1e-6)):
        one, two = calibrate_rounds(
            epsilon, target, [RoundShape("mixing", 500, 1e-3)] * 2, units=9000, accountant=accountant
        )
        assert one == two
        assert one.mixing_weight == pytest.approx(
            mixing_weight(epsilon, target, n=9000, draws=1000, floor=1e-3), rel=within
        )
        gaussian = calibrate_rounds(epsilon, target, [RoundShape("gaussian")] * 3, units=9, accountant=accountant)
        assert gaussian[0].stddev == pytest.approx(gaussian_stddev(epsilon, target, rounds=3), rel=within)
        laplace = calibrate_rounds(epsilon, target, [RoundShape("laplace")] * 9, units=9, accountant=accountant)
        assert laplace[0].scale == pytest.approx(laplace_scale(epsilon, target, rounds=9), rel=within)


@pytest.mark.parametrize("shape", SHAPES[:3])
def test_no_order_nearby_leaves_less_noise(shape):
    def noise(order):
        found = least_noise(shape, renyi_budget(1.0, 1e-6, order), order=order, units=100_000)
        return next(getattr(found, name) for name in ("mixing_weight", "stddev", "scale") if hasattr(found, name))

    best = best_order(1.0, 1e-6, [shape], units=100_000)
    assert noise(best) < noise(1 + (best - 1) * 0.9)
    assert noise(best) < noise(1 + (best - 1) * 1.2)


def test_orders_where_the_plan_says_little():
    # A single Laplace round is at its best as a pure one, at an order without end.
    pure = RoundShape("laplace")
    order = best_order(1.0, 1e-12, [pure], units=5)
    assert least_noise(pure, renyi_budget(1.0, 1e-12, order), order=order, units=5).scale < 2.0 * (1 + 1e-4)
    gaussian = best_order(1.0, 1e-6, [RoundShape("gaussian")], units=5)
    assert best_order(1.0, 1e-6, [], units=5) == gaussian
    assert best_order(1.0, 1e-6, [RoundShape("mixing", 9, 0.0)], units=5) == gaussian


@pytest.mark.parametrize("cost", [1e-12, 0.3, 40.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_least_noise_put_back_costs_no_more(cost, shape):
    found = least_noise(shape, cost, order=7.0, units=1000)
    assert 0.0 < renyi_divergence(found, 7.0) <= cost
    assert renyi_divergence(found, 7.0) > cost * 0.999 or found.mixing_weight > 1 - 1e-9 or found.mixing_weight < 1e-12


def test_edges_of_calibration():
    assert calibrate_rounds(1.0, 1e-6, [RoundShape("mixing", 50, 0.0)], units=100)[0].mixing_weight == 1.0
    assert calibrate_rounds(1.0, 1e-6, [RoundShape("mixing", 0, 0.1)], units=100)[0].mixing_weight == 0.0
    free, noisy = calibrate_rounds(1.0, 1e-6, [RoundShape("mixing", 0, 0.1), RoundShape("gaussian")], units=100)
    assert (free.draws, noisy.stddev > 1.0) == (0, True)
    # Hardly any draws of very many units: a draw betrays a unit with less than δ, no noise is needed.
    (almost,) = calibrate_rounds(1.0, 0.01, [RoundShape("mixing", 5, 1e-3)], units=10**6)
    assert almost.mixing_weight < 1e-6
    (alone,) = calibrate_rounds(1e-6, 1e-6, [RoundShape("mixing", 1, 0.5)], units=1)
    assert 0.999 < alone.mixing_weight < 1.0
    assert composed_delta(50.0, calibrate_rounds(50.0, 1e-6, SHAPES, units=1)) <= 1e-6


def test_refusals():
    for epsilon in (-1.0, math.nan, math.inf):
        with pytest.raises(SpecError, match="epsilon="):
            composed_delta(epsilon, [MIXING])
    for target in (0.0, 1.0, math.nan):
        with pytest.raises(SpecError, match="delta="):
            composed_epsilon(target, [MIXING])
    with pytest.raises(SpecError, match="accountant='moments'"):
        composed_delta(1.0, [MIXING], accountant="moments")
    with pytest.raises(SpecError, match="accountant='draws'"):
        composed_delta(1.0, [MIXING, GaussianRound(1.0)], accountant="draws")
    with pytest.raises(SpecError, match="round=str"):
        composed_delta(1.0, ["linmix"])
    with pytest.raises(SpecError, match="shapes="):
        calibrate_rounds(1.0, 1e-6, [], units=10)
    with pytest.raises(SpecError, match="units="):
        calibrate_rounds(1.0, 1e-6, SHAPES, units=0)
    with pytest.raises(SpecError, match="accountant="):
        calibrate_rounds(1.0, 1e-6, SHAPES, units=10, accountant="draws")
    with pytest.raises(SpecError, match="epsilon="):
        calibrate_rounds(0.0, 1e-6, SHAPES, units=10)


def test_numpy_numbers_count_as_what_they_are():
    """A sum of small NumPy integers wraps around."""
    plain = composed_delta(1.0, [MixingRound(10, 0.5, 100, 0.1)] * 3)
    assert composed_delta(1.0, [MixingRound(10, 0.5, np.int8(100), 0.1)] * 3) == plain


def test_many_rounds_without_a_floor_lose_no_digit():
    weights = [0.1] * 999 + [0.1 + 1e-9]
    hidden = math.prod(1 - (1 - Fraction(weight)) / 10**9 for weight in weights)
    bound = composed_delta(1.0, [MixingRound(10**9, weight, 1, 0.0) for weight in weights])
    assert 0 <= Fraction(bound) / (1 - hidden) - 1 < Fraction(1, 10**13)


@pytest.mark.parametrize(
    "small", [MixingRound(10**9, 0.999, 1, 0.1), LaplaceRound(1e20), MixingRound(2**40, 1 - 1e-15, 1, 0.1)]
)
def test_a_part_that_loses_next_to_nothing_adds_next_to_nothing(small):
    alone = composed_delta(1.0, [GaussianRound(1.0)])
    assert alone <= composed_delta(1.0, [small, GaussianRound(1.0)]) * (1 + 1e-9) <= alone * (1 + 1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "shapes", "units"),
    [
        (23.336709995727396, 7.834367862913267e-5, [RoundShape("laplace")], 100),
        (
            1.169381998484596e-9,
            5.755890663473425e-35,
            [RoundShape("laplace"), RoundShape("mixing", draws=2000, floor=0.5)],
            1,
        ),
    ],
)
def test_calibrated_rounds_meet_the_target_by_their_own_account(epsilon, delta, shapes, units):
    rounds = calibrate_rounds(epsilon, delta, shapes, units=units, accountant="pld")
    assert composed_delta(epsilon, rounds, accountant="pld") <= delta


def test_more_draws_than_the_exact_account_can_count_are_composed():
    rounds = [MixingRound(10**6, 0.9, 10**7, 0.1)] * 2
    assert accountant_of(rounds) == "pld"
    assert composed_delta(0.01, rounds) >= composed_delta(0.01, rounds[:1]) > 0


@pytest.mark.parametrize(("epsilon", "stddev", "least"), [(1.0, 1.1e-149, 1.0), (1e300, 1.0, 0.0)])
def test_absurd_figures_give_a_bound(epsilon, stddev, least):
    assert least <= composed_delta(epsilon, [GaussianRound(stddev), LaplaceRound(1.0)]) <= 1.0
