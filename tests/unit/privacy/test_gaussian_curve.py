"""Proof: docs/proofs/gaussian.md, the continuous curve and its rounding."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from evomix.privacy.analytic_gaussian import _LIBRARY, TINY, _mills, _slope, gaussian_curve

mpmath.mp.dps = 60


def _exact(epsilon, mu):
    """The curve to at least 20 digits: the two terms agree in at most log10(1/δ) plus a few digits."""
    epsilon, mu = mpmath.mpf(epsilon), mpmath.mpf(mu)
    with mpmath.workdps(420):
        first = mpmath.erfc((epsilon / mu - mu / 2) / mpmath.sqrt(2)) / 2
        second = mpmath.exp(epsilon) * mpmath.erfc((epsilon / mu + mu / 2) / mpmath.sqrt(2)) / 2
        return first - second


@settings(max_examples=150, deadline=None)
@given(st.floats(-9, 3), st.floats(-8, 37))
def test_never_below_the_exact_curve_and_tight(log_mu, z):
    mu = 10.0**log_mu
    epsilon = (z + mu / 2) * mu
    bound, exact = gaussian_curve(epsilon, mu), _exact(epsilon, mu)
    assert bound >= exact
    assert bound <= exact * (1 + mpmath.mpf(1e-7)) + 4 * TINY


@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 1.0, 1e3, 1e9])
@pytest.mark.parametrize("mu", [1e-150, 1e-6, 1.0, 1e6, 1e100, math.inf])
def test_extremes_stay_within_zero_and_one(epsilon, mu):
    bound = gaussian_curve(epsilon, mu)
    assert TINY <= bound <= 1.0
    if mu >= 1e6:
        assert bound == 1.0 or epsilon > mu


def test_monotone_in_epsilon_and_mu():
    epsilons, mus = np.linspace(0, 30, 200), np.geomspace(0.01, 10, 200)
    assert np.all(np.diff([gaussian_curve(e, 1.7) for e in epsilons]) < 0)
    assert np.all(np.diff([gaussian_curve(2.0, m) for m in mus]) >= 0)


def test_the_library_functions_are_better_than_they_are_trusted_to_be():
    trusted = _LIBRARY / 2
    for x in np.concatenate([np.linspace(-37, 40, 150), np.geomspace(40, 1e9, 40)]):
        with mpmath.workdps(420):
            y = mpmath.mpf(x) / mpmath.sqrt(2)
            scaled = mpmath.exp(y * y) * mpmath.erfc(y) if y < 26 else _asymptotic(y)
            exact = scaled * mpmath.sqrt(mpmath.pi / 2)
        assert abs(_mills(float(x)) / exact - 1) < trusted
        assert _slope(float(x)) >= 1 - mpmath.mpf(x) * exact
    for x in np.linspace(0, 37, 100):
        assert abs(ndtr(x) / mpmath.ncdf(mpmath.mpf(x)) - 1) < trusted


def _asymptotic(x):
    """erfcx by its asymptotic series, far out; the terms left out are below 1e-20."""
    x, term, total = mpmath.mpf(x), mpmath.mpf(1), mpmath.mpf(1)
    for k in range(1, 40):
        term *= -(2 * k - 1) / (2 * x * x)
        total += term
    return total / (x * mpmath.sqrt(mpmath.pi))
