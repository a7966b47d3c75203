"""δ and β_min where floats are at their ends, against many digits (docs/proofs/mixing.md, section 4)."""

import itertools

import mpmath
import numpy as np
import pytest
from exact_divergence import ALLOWANCE, exact_delta, one_order, vote_pair

from evomix.privacy.calibration import GRID, MAX_UNITS, delta, max_draws, mixing_weight
from evomix.privacy.hockey_stick import MAX_DRAWS, pair_delta

EPSILONS = (1e-6, 1e-3, 0.1, 1.0, 10.0, 50.0)
UNITS = (1, 2, 1000, MAX_UNITS)
FLOORS = ((0.5, 0.5), (1 / 7, 1 / 7), (1e-3, 0.2), (1e-18, 1e-18), (1e-18, 0.5), (1e-40, 1e-39), (2**-53, 1 - 2**-53))
WEIGHTS = (1 / GRID, 1e-9, 0.3, 1 - 1e-9, 1 - 1 / GRID)


def relative(draws):
    """How far above the truth the proof page lets the bound be."""
    return mpmath.mpf(3) * (draws + 10) / 10**14


def check(found, exact, highest, draws):
    assert exact <= found
    assert found <= highest * (1 + relative(draws)) + mpmath.mpf(2) ** -1047


@pytest.mark.parametrize("draws", [1, 2, 6])
@pytest.mark.parametrize("floors", FLOORS)
def test_never_below_the_truth_and_as_near_as_the_page_says(floors, draws):
    for epsilon, n, beta in itertools.product(EPSILONS, UNITS, WEIGHTS):
        if beta * floors[0] < 2**-140 * (1 - beta) / n:
            continue  # there the bound is that of base mass 0
        found = delta(epsilon, mixing_weight=beta, n=n, draws=draws, floor=floors[0], second_floor=floors[1])
        exact, highest = (exact_delta(epsilon, beta, n, draws, floors, extra) for extra in (0, ALLOWANCE))
        check(found, exact, highest, draws)


@pytest.mark.parametrize("target", [1e-300, 1e-100, 1e-9, 0.4])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 3.0, 50.0])
@pytest.mark.parametrize(("n", "floors"), [(1, (0.5, 0.5)), (50, (1 / 7, 0.4)), (MAX_UNITS, (1e-19, 1e-19))])
def test_the_weight_is_private_and_hardly_less_is_not(epsilon, target, n, floors):
    draws = 25
    known = {"n": n, "draws": draws, "floor": floors[0], "second_floor": floors[1]}
    beta = mixing_weight(epsilon, target, **known)
    assert delta(epsilon, mixing_weight=beta, **known) <= target
    assert exact_delta(epsilon, beta, n, draws, floors) <= target
    if beta > 0.0:
        grid = int(beta * GRID)
        lower = (grid - max(1, min(grid, GRID - grid) >> 42)) / GRID  # two strides of the search
        assert delta(epsilon, mixing_weight=lower, **known) > target
        less = beta - 1e-10 * min(beta, 1 - beta) - 2 / GRID
        assert less <= 0.0 or exact_delta(epsilon, less, n, draws, floors) > target


@pytest.mark.parametrize(
    ("epsilon", "n", "draws", "floor"),
    [(18.0, MAX_UNITS, 20, 1e-19), (23.2, 10**9, 40, 1e-9), (50.0, 20_000, 86, 5e-5)],
)
def test_a_delta_of_1e_300_keeps_its_digits(epsilon, n, draws, floor):
    found = delta(epsilon, mixing_weight=0.5, n=n, draws=draws, floor=floor)
    exact = exact_delta(epsilon, 0.5, n, draws, (floor, floor))
    assert 1e-301 < exact < 1e-295
    assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -8)


@pytest.mark.parametrize("epsilon", [25.0, 40.0])
def test_a_delta_beyond_the_floats_is_not_called_zero(epsilon):
    exact = exact_delta(epsilon, 0.5, MAX_UNITS, 40, (1e-19, 1e-19))
    assert 0 < exact < 1e-320
    assert exact <= delta(epsilon, mixing_weight=0.5, n=MAX_UNITS, draws=40, floor=1e-19) < 1e-314


def test_epsilon_right_below_the_largest_loss():
    """Rounding a loss down to ε would say that nothing is lost."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        beta, n, floor = rng.uniform(0.05, 0.95), int(rng.integers(1, 500)), rng.uniform(1e-3, 0.5)
        draws = int(rng.integers(1, 6))
        with mpmath.workdps(60):
            gap, (base, _) = vote_pair(beta, n, (floor, floor))
            largest = draws * mpmath.log1p(gap / base)
            epsilon = float(largest)
            if epsilon >= largest:
                epsilon = np.nextafter(epsilon, 0.0)
        exact = exact_delta(float(epsilon), beta, n, draws, (floor, floor))
        assert 0 < exact <= delta(float(epsilon), mixing_weight=beta, n=n, draws=draws, floor=floor)


def binomial_divergence(epsilon, draws, yes):
    """E_{e^ε} where nothing but two mirrored outcomes is left: one sum of ``draws`` terms, in many digits."""
    with mpmath.workdps(60):
        loss = mpmath.log(yes / (1 - yes))
        return mpmath.fsum(
            mpmath.binomial(draws, k)
            * yes**k
            * (1 - yes) ** (draws - k)
            * -mpmath.expm1(epsilon - (2 * k - draws) * loss)
            for k in range(draws // 2, draws + 1)
            if (2 * k - draws) * loss > epsilon
        )


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("draws", "beta"), [(1, 0.5), (300, 0.01), (3000, 0.9), (3000, 0.999999)])
def test_one_unit_and_two_candidates_against_the_binomial_sum(epsilon, draws, beta):
    """n = 1 and floor 1/d = ½, which also stands for d = 1: the third outcome never comes."""
    with mpmath.workdps(60):
        yes = 1 - mpmath.mpf(beta) / 2
    exact = binomial_divergence(epsilon, draws, yes)
    found = delta(epsilon, mixing_weight=beta, n=1, draws=draws, floor=0.5)
    assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -8) + mpmath.mpf(2) ** -1047


@pytest.mark.parametrize("n", UNITS)
@pytest.mark.parametrize("draws", [1, 7, 10**5, MAX_DRAWS])
@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
def test_no_noise_and_nothing_but_noise(n, draws, epsilon):
    """β = 0: a record's outcome betrays it, 1 − (1 − 1/n)^m at every ε. β = 1: nothing is released."""
    with mpmath.workdps(60):
        exact = 1 - (1 - mpmath.mpf(1) / n) ** draws
    found = delta(epsilon, mixing_weight=0.0, n=n, draws=draws, floor=1 / 7)
    assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -8)
    assert delta(epsilon, mixing_weight=1.0, n=n, draws=draws, floor=1 / 7) == 0.0


@pytest.mark.parametrize("beta", [1 / GRID, 0.3, 1 - 1 / GRID])
@pytest.mark.parametrize("floors", [(0.5, 0.5), (0.1, 0.6), (1e-9, 1e-3)])
@pytest.mark.parametrize("n", UNITS)
def test_one_draw_in_closed_form(beta, floors, n):
    """m = 1: one outcome in two counts, b + g − e^ε·b, the smaller base mass the worse."""
    for epsilon in EPSILONS:
        found = delta(epsilon, mixing_weight=beta, n=n, draws=1, floor=floors[0], second_floor=floors[1])
        with mpmath.workdps(60):
            gap, (base, _) = vote_pair(beta, n, floors)
            exact = max(mpmath.mpf(0), base + gap - mpmath.exp(mpmath.mpf(epsilon)) * base)
            slack = base * mpmath.mpf(2) ** -45 if gap > base * mpmath.expm1(epsilon) * 0.99 else 0
        assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -8) + slack + mpmath.mpf(2) ** -1047


@pytest.mark.parametrize("rest", [0.0, 1e-320, 2.0**-260, 2.0**-240, 1e-30])
def test_a_third_outcome_that_hardly_ever_comes(rest):
    """As rare as it likes to be: never below the pair without it, which has a little less to lose."""
    gap, bases = 0.3, (0.5, 0.2)
    found = pair_delta(0.4, draws=9, gap=gap, bases=bases, rest=rest)
    exact = max(one_order(0.4, 9, gap, *order) for order in (bases, bases[::-1]))
    assert found == pytest.approx(float(exact), rel=1e-10)


def test_the_most_units_may_draw_as_often_as_is_accounted_for():
    assert max_draws(1.0, 1e-9, n=MAX_UNITS, mixing_weight=0.5, floor=1e-3) == MAX_DRAWS
    assert max_draws(1.0, 1e-300, n=1, mixing_weight=0.0, floor=0.5) == 0
    assert max_draws(50.0, 1e-300, n=1, mixing_weight=0.5, floor=0.5) == 45  # 45 losses of ln 3 are below 50


@pytest.mark.parametrize("draws", [10**5, 10**6])
def test_many_draws_against_the_normal_law(draws):
    """δ of so many draws is that of a Gaussian with the loss's mean and spread, to a few per mille."""
    n, beta, floor, epsilon = 20_000, 0.9, 0.02, 0.1
    gap, (base, _) = (float(x) if not isinstance(x, tuple) else x for x in vote_pair(beta, n, (floor, floor)))
    loss = np.log1p(gap / float(base))
    mean, square = gap * loss, (2 * float(base) + gap) * loss**2
    mu = np.sqrt(draws * (square - mean**2))
    upper, lower = mpmath.ncdf(mu / 2 - epsilon / mu), mpmath.ncdf(-mu / 2 - epsilon / mu)
    found = delta(epsilon, mixing_weight=beta, n=n, draws=draws, floor=floor)
    assert found == pytest.approx(float(upper - mpmath.exp(epsilon) * lower), rel=0.01)
