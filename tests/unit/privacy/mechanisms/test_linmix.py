"""LinMix's floor is 1/d rounded down, and its weight is certified (docs/proofs/linmix.md)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.core.errors import PrivacyError
from evomix.privacy.calibration import GRID, delta
from evomix.privacy.mechanisms.linmix import linmix, uniform_mass, uniform_weights


@given(st.integers(2, 10**12))
def test_the_floor_is_the_largest_float_not_above_one_over_d(candidates):
    mass = uniform_mass(candidates)
    assert Fraction(mass) <= Fraction(1, candidates) < Fraction(math.nextafter(mass, 1.0))


def test_one_candidate_counts_as_two():
    assert uniform_mass(1) == uniform_mass(0) == uniform_mass(2) == 0.5


@pytest.mark.parametrize("candidates", [1, 2, 3, 7, 10, 49, 1000])
def test_uniform_weights_pass_the_exact_check_and_more_candidates_do_not(candidates):
    mechanism = linmix(1.0, 1e-6, units=500, draws=200, candidates=candidates)
    for fewer in {1, 2, candidates}:
        if fewer <= max(candidates, 2):
            mechanism.check_weights(uniform_weights(fewer))
    with pytest.raises(PrivacyError, match="floor"):
        mechanism.check_weights(uniform_weights(max(candidates, 2) + 1))


@pytest.mark.parametrize(("epsilon", "draws", "candidates"), [(0.01, 50, 5), (1.0, 1000, 100), (8.0, 20_000, 1000)])
def test_the_weight_meets_the_budget_and_hardly_less_would_not(epsilon, draws, candidates):
    mechanism = linmix(epsilon, 1e-6, units=2000, draws=draws, candidates=candidates)
    assert Fraction(mechanism.mixing_weight) * GRID == mechanism.numerator

    def spent(weight):
        return delta(epsilon, mixing_weight=weight, n=2000, draws=draws, floor=mechanism.floor)

    assert spent(mechanism.mixing_weight) <= 1e-6 < spent(mechanism.mixing_weight * (1 - 1e-6))


def test_no_unit_is_planned_as_one():
    empty = linmix(1.0, 1e-6, units=0, draws=10, candidates=4)
    assert empty.units == 0
    assert empty.mixing_weight == linmix(1.0, 1e-6, units=1, draws=10, candidates=4).mixing_weight


def test_uniform_weights_are_integers():
    assert uniform_weights(3).dtype == np.int64
    assert uniform_weights(3).tolist() == [1, 1, 1]
