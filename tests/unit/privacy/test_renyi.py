"""Rényi divergences of rounds and what follows from them (docs/proofs/composition.md, section 3)."""

import math

import mpmath
import numpy as np
import pytest
from exact_rounds import divergence, draw_pair, moment, product
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SpecError
from evomix.privacy.renyi import best_tilt, log_conversion, log_delta, renyi_budget, renyi_delta, renyi_divergence
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound
from evomix.privacy.run_loss import run_loss


@settings(max_examples=150, deadline=None)
@given(st.floats(1e-6, 1 - 1e-6), st.integers(1, 10**9), st.integers(1, 10**5), st.floats(1e-9, 0.5), st.floats(-6, 4))
def test_mixing_in_closed_form_never_below_and_tight(beta, units, draws, floor, log_tilt):
    order = 1.0 + 10.0**log_tilt
    found = renyi_divergence(MixingRound(units, beta, draws, floor), order)
    with mpmath.workdps(80):
        weight, alpha = mpmath.mpf(beta), mpmath.mpf(order)
        down, up = weight * floor, weight * floor + (1 - weight) / units
        total = up**alpha * down ** (1 - alpha) + down**alpha * up ** (1 - alpha) + (1 - up - down)
        exact = draws * mpmath.log(total) / (alpha - 1)
    assert found >= exact
    assert found <= exact * (1 + mpmath.mpf(10) ** -8)


@settings(max_examples=100, deadline=None)
@given(st.floats(-2, 4), st.floats(-6, 4))
def test_laplace_in_closed_form_never_below_and_tight(log_scale, log_tilt):
    order = 1.0 + 10.0**log_tilt
    found = renyi_divergence(LaplaceRound(10.0**log_scale), order)
    with mpmath.workdps(80):
        pure, alpha = 1 / mpmath.mpf(10.0**log_scale), mpmath.mpf(order)
        p = mpmath.exp(pure) / (1 + mpmath.exp(pure))
        total = p**alpha * (1 - p) ** (1 - alpha) + (1 - p) ** alpha * p ** (1 - alpha)
        exact = 2 * mpmath.log(total) / (alpha - 1)
    assert found >= exact
    assert found <= exact * (1 + mpmath.mpf(10) ** -8)


@pytest.mark.parametrize("order", [1.001, 1.5, 2.0, 7.3, 60.0])
@pytest.mark.parametrize("scale", [0.6, 2.0, 9.0])
def test_discrete_gaussian_on_a_small_lattice(order, scale):
    """A unit of four micro-votes replaced: 4 down, 4 up. The closed form needs no lattice correction."""
    reach = int(scale * 40 + 5 * order)
    z = np.arange(-reach, reach + 1)

    def log_moment(move):
        exponents = -((z - order * move) ** 2) / (2 * scale**2)
        shift = order * (order - 1) * move**2 / (2 * scale**2)
        return (
            mpmath.log(mpmath.fsum(map(mpmath.exp, exponents)))
            - mpmath.log(mpmath.fsum(map(mpmath.exp, -(z**2) / (2 * scale**2))))
            + shift
        )

    exact = (log_moment(4) + log_moment(-4)) / (order - 1)
    found = renyi_divergence(GaussianRound(scale / 4), order)
    assert exact <= found * (1 + 1e-9)
    assert order > 2.0 or exact >= 0.99 * found
    assert exact > renyi_divergence(GaussianRound(scale / 4 * 1.5), order)  # too much noise assumed is caught


def test_both_orders_and_all_directions_are_covered():
    for first, second in ((0.02, 0.7), (0.1, 0.1), (0.05, 0.06)):
        for order in (1.1, 2.0, 8.0):
            pair = draw_pair(0.4, 5, first, second)
            both = [math.log(moment(order - 1, *sides)) / (order - 1) for sides in (pair, pair[::-1])]
            assert max(both) <= renyi_divergence(MixingRound(5, 0.4, 1, first, second), order) * (1 + 1e-12)
    # One direction only would be wrong: the two differ.
    pair = draw_pair(0.4, 5, 0.02, 0.7)
    assert moment(3.0, *pair) > 2.0 * moment(3.0, *pair[::-1])


def test_conversion_is_the_largest_value_and_the_bound_holds():
    x = np.linspace(1e-9, 60, 400_001)
    for tilt in (0.05, 1.0, 6.0, 40.0):
        assert math.exp(log_conversion(tilt)) == pytest.approx(np.max(np.exp(-tilt * x) * -np.expm1(-x)), rel=1e-5)
    pair = product(*[draw_pair(0.4, 5, 0.1, 0.1)] * 3)
    rounds = [MixingRound(5, 0.4, 3, 0.1)]
    for epsilon in (0.0, 0.5, 1.5, 2.5):
        exact = divergence(epsilon, *pair)
        assert exact <= renyi_delta(epsilon, run_loss(rounds))
        # Without the factor c the conversion is looser: that is what it is for.
        tilt = best_tilt(run_loss(rounds).log_moment, epsilon)
        assert renyi_delta(epsilon, run_loss(rounds)) <= math.exp(run_loss(rounds).log_moment(tilt) - tilt * epsilon)


def test_a_run_that_cannot_lose_more_has_no_delta():
    rounds = [LaplaceRound(2.0), MixingRound(10, 0.5, 3, 0.1)]
    largest = 1.0 + 3 * math.log(2)
    assert renyi_delta(largest * (1 + 1e-9), run_loss(rounds)) == 0.0
    assert renyi_delta(largest * (1 - 1e-6), run_loss(rounds)) > 0.0


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (1e-6, 1e-300), (50.0, 0.3), (3.0, 1e-12)])
@pytest.mark.parametrize("excess", [1.0001, 2.0, 50.0])
def test_the_budget_put_back_meets_delta(epsilon, delta, excess):
    order = 1.0 + excess * -math.log(delta) / epsilon
    budget = renyi_budget(epsilon, delta, order)
    assert 0.0 < budget < epsilon + 1.0 / (order - 1.0)
    assert log_delta((order - 1.0) * budget, epsilon, order - 1.0) <= math.log(delta)
    assert log_delta((order - 1.0) * budget * (1 + 1e-6), epsilon, order - 1.0) > math.log(delta)


def test_refusals_and_infinity():
    for order in (1.0, 0.5, math.nan, math.inf):
        with pytest.raises(SpecError, match="order="):
            renyi_divergence(GaussianRound(1.0), order)
    assert renyi_divergence(MixingRound(10, 0.5, 1, 0.0), 2.0) == math.inf
    assert renyi_divergence(MixingRound(10, 1.0, 1, 0.1), 2.0) == 0.0
    assert renyi_delta(1.0, run_loss([MixingRound(10, 0.5, 1, 0.0)])) == pytest.approx(0.05)
