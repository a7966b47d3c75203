"""Mixing with an estimator of bounded sensitivity against enumeration (docs/proofs/bounded_sensitivity.md)."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from exact_divergence import divergence, exact_pair
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SpecError
from evomix.privacy.bounded_sensitivity import (
    bounded_delta,
    bounded_mixing_weight,
    lemma_h1_delta,
    lemma_h1_weight,
)
from evomix.privacy.calibration import GRID, delta, mixing_weight
from evomix.privacy.hockey_stick import pair_delta

UP = 1 + 1e-12  # covers the rounding of what a test itself computes


@st.composite
def neighbours(draw):
    """Two laws of an estimator, noise, β, and what bounds their difference: (P̄, P̄', noise, β, s, r)."""
    d = draw(st.integers(2, 5))
    shape = st.lists(st.floats(0.0, 1.0), min_size=d, max_size=d).filter(lambda x: sum(x) > 0.1)
    one, other = (np.array(draw(shape)) for _ in range(2))
    one, other = one / one.sum(), other / other.sum()
    near = draw(st.floats(0.01, 1.0))
    other = (1 - near) * one + near * other
    moved = np.abs(one - other)
    floor = draw(st.floats(0.1, 1.0)) / d
    noise = np.full(d, floor)
    noise[draw(st.integers(0, d - 1))] += 1 - floor * d
    return one, other, noise, draw(st.floats(0.02, 0.95)), moved.max(), moved.sum() / 2


def exceeds(case, epsilon, draws, bound):
    one, other, noise, beta, _, _ = case
    p, q = ((1 - beta) * law + beta * noise for law in (one, other))
    return max(divergence(p, q, draws, epsilon), divergence(q, p, draws, epsilon)) - bound


@settings(max_examples=250, deadline=None)
@given(neighbours(), st.floats(0.01, 3.0), st.integers(1, 3), st.sampled_from([1.0, 1.3, 4.0]), st.booleans())
def test_no_pair_of_laws_beats_the_bound(case, epsilon, draws, generous, spread_known):
    _, _, noise, beta, s, r = case
    bound = bounded_delta(
        epsilon,
        mixing_weight=beta,
        sensitivity=min(1.0, s * generous * UP),
        draws=draws,
        floor=noise.min() / UP,
        spread=min(1.0, r * generous * UP) if spread_known else None,
    )
    assert exceeds(case, epsilon, draws, bound) <= 1e-11


def worst_laws(sensitivity, groups, noise_floor):
    """``groups`` candidates with s each, as many others with s under the neighbour, one with all that remains."""
    d = 2 * groups + 1
    one, other = np.zeros(d), np.zeros(d)
    one[:groups] = other[groups : 2 * groups] = sensitivity
    one[-1] = other[-1] = 1 - groups * sensitivity
    noise = np.full(d, noise_floor)
    noise[-1] = 1 - 2 * groups * noise_floor
    return one, other, noise


@pytest.mark.parametrize(("groups", "sensitivity", "floor"), [(1, 0.3, 0.2), (2, 0.2, 0.15), (3, 0.25, 0.1)])
@pytest.mark.parametrize("draws", [1, 3])
def test_the_bound_is_attained_and_wrong_variants_are_caught(groups, sensitivity, floor, draws):
    beta, epsilon = 0.4, 0.3
    one, other, noise = worst_laws(sensitivity, groups, floor)
    p, q = ((1 - beta) * law + beta * noise for law in (one, other))
    worst = divergence(p, q, draws, epsilon)
    spread = groups * sensitivity
    known = {"mixing_weight": beta, "draws": draws, "floor": floor}
    bound = bounded_delta(epsilon, sensitivity=sensitivity, spread=spread, **known)
    assert bound == pytest.approx(worst, rel=1e-9)

    def variant(base, gap):
        rest = 1 - 2 * base - gap
        return pair_delta(epsilon, draws=draws, gap=gap, bases=(base, base), rest=rest)

    base, gap = beta * floor * spread / sensitivity, (1 - beta) * spread
    assert variant(base, gap) == pytest.approx(worst, rel=1e-9)
    assert variant(min(2 * base, (1 - gap) / 2), gap) < 0.98 * worst  # base masses twice as large as they are
    if groups > 1:
        assert variant(base, (1 - beta) * sensitivity) < 0.9 * worst  # g from s, though r is larger
    else:
        assert variant(base, (1 - beta) * sensitivity / 2) < 0.9 * worst


def test_a_kernel_that_is_less_even_than_stated_is_caught():
    """κ stated as half of what it is: base masses too large."""
    n, beta, epsilon, draws, floor = 2, 0.3, 0.5, 3, 0.2
    one, other, noise = worst_laws(1 / n, 1, floor)
    p, q = ((1 - beta) * law + beta * noise for law in (one, other))
    known = {"mixing_weight": beta, "draws": draws, "floor": floor}
    assert divergence(p, q, draws, epsilon) > 1.05 * bounded_delta(epsilon, sensitivity=0.5 / n, spread=1 / n, **known)


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 4), st.integers(1, 3), st.integers(1, 3), st.floats(0.05, 0.95), st.floats(0.05, 2.0), st.data())
def test_votes_spread_by_a_kernel_cost_no_more_than_votes(candidates, n, draws, beta, epsilon, data):
    """Any row-stochastic kernel is covered by the account of plain votes, and by the sharper one that knows κ."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    kernel = rng.dirichlet(np.full(candidates, data.draw(st.sampled_from([0.2, 1.0, 10.0]))), candidates)
    noise = np.full(candidates, 1 / candidates)
    floor, largest = float(noise.min()) / UP, float(kernel.max())
    known = {"mixing_weight": beta, "draws": draws, "floor": floor}
    plain = delta(epsilon, n=n, **known)
    sharp = bounded_delta(epsilon, sensitivity=min(1.0, largest * UP / n), spread=min(1.0, UP / n), **known)
    records = rng.integers(candidates, size=n)
    worst = 0.0
    for left, entered in itertools.permutations(range(candidates), 2):
        rows = []
        for record in (left, entered):
            records[0] = record
            rows.append((1 - beta) * kernel[records].mean(0) + beta * noise)
        worst = max(worst, divergence(*rows, draws, epsilon))
    assert worst <= sharp * UP + 1e-12
    assert sharp <= plain * (1 + 1e-9) + 1e-12


def test_what_the_published_bound_would_cost_for_smoothed_votes():
    """1200 votes, 1000 draws, floor 1e-3: the figures of the proof page."""
    known = {"draws": 1000, "floor": 1e-3}
    figures = []
    for share in (1.0, 0.25):
        s = share / 1200
        ours = bounded_mixing_weight(5.0, 1 / 1200, sensitivity=s, spread=1 / 1200, **known)
        figures.append((round(ours, 3), round(lemma_h1_weight(5.0, 1 / 1200, sensitivity=s, **known), 3)))
    assert figures == [(0.288, 0.957), (0.107, 0.849)]


@settings(max_examples=60, deadline=None)
@given(
    epsilon=st.floats(0.01, 12.0),
    beta=st.floats(0.01, 0.99),
    n=st.integers(2, 10**6),
    draws=st.integers(1, 3000),
    floor=st.floats(1e-5, 0.5),
)
def test_votes_are_the_case_of_one_over_n(epsilon, beta, n, draws, floor):
    known = {"mixing_weight": beta, "draws": draws, "floor": floor}
    votes = delta(epsilon, n=n, **known)
    assert bounded_delta(epsilon, sensitivity=1 / n, spread=1 / n, **known) == pytest.approx(
        votes, rel=1e-9, abs=1e-300
    )


def randomised_response(epsilon, eta, draws):
    """E_{e^ε} of m-fold randomised response with likelihood ratio 1 + η, in many digits."""
    with mpmath.workdps(50):
        eta = mpmath.mpf(eta)
        loss, yes = mpmath.log1p(eta), (1 + eta) / (2 + eta)
        return mpmath.fsum(
            mpmath.binomial(draws, k)
            * yes**k
            * (1 - yes) ** (draws - k)
            * -mpmath.expm1(epsilon - (2 * k - draws) * loss)
            for k in range(draws + 1)
            if (2 * k - draws) * loss > epsilon
        )


@settings(max_examples=120, deadline=None)
@given(
    epsilon=st.floats(0.01, 20.0),
    beta=st.floats(0.05, 0.99),
    sensitivity=st.floats(1e-4, 1.0),
    draws=st.integers(1, 60),
    floor=st.floats(1e-3, 0.5),
)
def test_ours_is_below_randomised_response_which_is_below_the_published_bound(epsilon, beta, sensitivity, draws, floor):
    known = {"mixing_weight": beta, "sensitivity": sensitivity, "draws": draws, "floor": floor}
    response = randomised_response(epsilon, (1 - beta) * sensitivity / (beta * floor), draws)
    assert bounded_delta(epsilon, **known) <= response * (1 + mpmath.mpf(10) ** -8) + 1e-300
    assert response <= lemma_h1_delta(epsilon, **known)


def test_without_a_third_outcome_the_pair_is_randomised_response():
    """s = 2t and r = 1: nothing is left but two groups, and the exact binomial sum is the answer."""
    epsilon, beta, floor, draws = 1.5, 0.8, 0.125, 40
    found = bounded_delta(epsilon, mixing_weight=beta, sensitivity=2 * floor, draws=draws, floor=floor)
    exact = randomised_response(epsilon, (1 - beta) * 2 / beta, draws)
    assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -10)


def test_where_only_the_sensitivity_is_known_no_more_than_all_candidates_move():
    """Ten candidates with noise 0.1 each: at most five gain s, so r = 5s, and half of the noise is on either side."""
    beta, s, floor, draws = 0.6, 0.05, 0.1, 8
    found = bounded_delta(0.3, mixing_weight=beta, sensitivity=s, draws=draws, floor=floor)
    exact = exact_pair(0.3, draws, (1 - beta) * 5 * s, (beta / 2, beta / 2))
    assert found == pytest.approx(float(exact), rel=1e-12)


def chernoff(epsilon, eta, draws, alpha):
    with mpmath.workdps(50):
        eta = mpmath.mpf(eta)
        moment = (eta + 1) / (eta + 2) * (eta + 1) ** -alpha + (1 + eta) ** alpha / (eta + 2)
        return moment**draws * mpmath.exp(-(alpha - 1) * epsilon)


@pytest.mark.parametrize(
    ("epsilon", "beta", "s", "draws", "floor"), [(2.0, 0.6, 0.01, 50, 0.05), (9.0, 0.9, 1e-3, 9000, 0.02)]
)
def test_the_published_bound_is_the_least_over_its_orders(epsilon, beta, s, draws, floor):
    eta = (1 - beta) * s / (beta * floor)
    ratio = math.log1p(eta)
    best = math.log((eta + 1) * (draws * ratio + epsilon) / (draws * ratio - epsilon)) / (2 * ratio)
    found = lemma_h1_delta(epsilon, mixing_weight=beta, sensitivity=s, draws=draws, floor=floor)
    assert found == pytest.approx(float(chernoff(epsilon, eta, draws, best)), rel=1e-9)
    assert found >= chernoff(epsilon, eta, draws, best)
    for other in (0.9 * best + 0.1, 1.1 * best):
        assert found < chernoff(epsilon, eta, draws, other)


@settings(max_examples=40, deadline=None)
@given(
    epsilon=st.floats(0.05, 10.0),
    target=st.floats(1e-12, 0.3),
    sensitivity=st.floats(1e-6, 1.0),
    draws=st.integers(1, 3000),
    floor=st.floats(1e-4, 0.5),
    spread=st.none() | st.floats(1e-6, 1.0),
)
def test_weights_invert_their_bounds(epsilon, target, sensitivity, draws, floor, spread):
    known = {"sensitivity": sensitivity, "draws": draws, "floor": floor}
    ours = bounded_mixing_weight(epsilon, target, spread=spread, **known)
    published = lemma_h1_weight(epsilon, target, **known)
    assert ours <= published * (1 + 1e-9)
    for beta, spent in (
        (ours, lambda b: bounded_delta(epsilon, mixing_weight=b, spread=spread, **known)),
        (published, lambda b: lemma_h1_delta(epsilon, mixing_weight=b, **known)),
    ):
        assert (beta * GRID).is_integer()
        assert spent(beta) <= target
        less = beta * (1 - 1e-9) - 2 / GRID
        assert less <= 0 or spent(less) > target


@pytest.mark.parametrize("sensitivity", [5e-324, 1e-300, 2.0**-101, 1e-25, 1e-12])
@pytest.mark.parametrize("floor", [0.5, 1e-12, 1e-290, 5e-324])
def test_moves_and_floors_at_the_ends_of_the_floats(sensitivity, floor):
    beta, epsilon, draws = 0.5, 1e-6, 3
    found = bounded_delta(epsilon, mixing_weight=beta, sensitivity=sensitivity, draws=draws, floor=floor)
    published = lemma_h1_delta(epsilon, mixing_weight=beta, sensitivity=sensitivity, draws=draws, floor=floor)
    with mpmath.workdps(700):
        s, t = mpmath.mpf(sensitivity), mpmath.mpf(floor)
        r = min(mpmath.mpf(1), s / (2 * t))
        least = exact_pair(epsilon, draws, (1 - mpmath.mpf(beta)) * r, (beta * t * r / s,) * 2)
    assert found >= least
    assert published >= least
    assert bounded_delta(0.0, mixing_weight=beta, sensitivity=sensitivity, draws=1, floor=floor) > 0.0


def test_edges():
    known = {"sensitivity": 0.1, "draws": 10, "floor": 0.05}
    assert bounded_delta(1.0, mixing_weight=1.0, **known) == lemma_h1_delta(1.0, mixing_weight=1.0, **known) == 0.0
    assert lemma_h1_delta(1.0, mixing_weight=0.0, **known) == 1.0
    assert bounded_delta(1.0, mixing_weight=0.0, spread=0.2, **known) == pytest.approx(1 - 0.8**10)
    assert bounded_delta(1.0, mixing_weight=0.5, sensitivity=0.0, draws=10, floor=0.05) == 0.0
    assert bounded_delta(1.0, mixing_weight=0.5, **known, spread=0.0) == 0.0
    assert bounded_delta(1.0, mixing_weight=0.5, sensitivity=0.1, draws=0, floor=0.05) == 0.0
    assert bounded_delta(math.inf, mixing_weight=0.5, **known) == 0.0
    # A unit that moves no more than r in all moves no candidate by more.
    assert bounded_delta(1.0, mixing_weight=0.5, **known, spread=0.02) == bounded_delta(
        1.0, mixing_weight=0.5, sensitivity=0.02, draws=10, floor=0.05, spread=0.02
    )
    assert mixing_weight(1.0, 1e-3, n=10, draws=10, floor=0.05) == pytest.approx(
        bounded_mixing_weight(1.0, 1e-3, spread=0.1, **known), rel=1e-9
    )


@pytest.mark.parametrize("function", [bounded_delta, lemma_h1_delta])
@pytest.mark.parametrize(
    "bad",
    [
        {"sensitivity": -0.1},
        {"sensitivity": 1.1},
        {"sensitivity": math.nan},
        {"mixing_weight": 1.5},
        {"draws": 1.5},
        {"draws": 10**9},
        {"floor": 0.6},
        {"epsilon": -1.0},
        {"epsilon": math.nan},
    ],
)
def test_bad_arguments_are_refused_by_name(function, bad):
    name, value = next(iter(bad.items()))
    arguments = {"epsilon": 1.0, "mixing_weight": 0.5, "sensitivity": 0.1, "draws": 10, "floor": 0.05} | bad
    with pytest.raises(SpecError, match=f"found {name}={value}"):
        function(arguments.pop("epsilon"), **arguments)


def test_a_bad_spread_is_refused():
    with pytest.raises(SpecError, match=r"spread=1\.5"):
        bounded_delta(1.0, mixing_weight=0.5, sensitivity=0.1, draws=10, floor=0.05, spread=1.5)
