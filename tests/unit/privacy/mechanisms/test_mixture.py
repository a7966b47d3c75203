"""The mixture refuses whatever could not be sampled exactly as it is accounted for (docs/proofs/mixing.md)."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.core.errors import PrivacyError
from evomix.privacy.calibration import GRID
from evomix.privacy.mechanisms.mixture import Mixture, draw_noise
from evomix.privacy.randomness import SeededSource, SystemSource

INT64_MAX = 2**63 - 1


def mixture(*, weight=0.5, floor=0.1, draws=100, units=10):
    return Mixture("linmix", weight, floor, draws, units, 1.0, 1e-6)


@pytest.mark.parametrize(
    "wrong",
    [
        {"weight": -0.1},
        {"weight": 1.5},
        {"weight": float("nan")},
        {"weight": 2.0**-54},  # off the grid: it would be sampled as 0
        {"weight": 0.25 + 2.0**-54},
        {"floor": -0.1},
        {"floor": 0.6},
        {"floor": float("nan")},
        {"draws": -1},
        {"units": -1},
    ],
)
def test_parameters_that_cannot_be_sampled_exactly_are_refused(wrong):
    with pytest.raises(PrivacyError, match=r"2\^-53"):
        mixture(**wrong)


@pytest.mark.parametrize("numerator", [0, 1, 3**33, GRID // 3, GRID - 1, GRID])
def test_the_sampled_integer_is_the_accounted_weight(numerator):
    assert Fraction(mixture(weight=numerator / GRID).numerator, GRID) == Fraction(numerator / GRID)


@given(st.lists(st.integers(0, 40), min_size=2, max_size=12), st.floats(0.0, 0.5))
def test_weights_pass_exactly_when_every_mass_reaches_the_floor(weights, floor):
    total = sum(weights)
    fine = total > 0 and all(Fraction(weight, total) >= Fraction(floor) for weight in weights)
    if fine:
        mixture(floor=floor).check_weights(np.array(weights))
    else:
        with pytest.raises(PrivacyError):
            mixture(floor=floor).check_weights(np.array(weights))


def test_one_unit_in_the_last_place_below_the_floor_is_noticed():
    # 1/10 as a float lies above the rational 1/10, so ten equal weights do not reach it.
    with pytest.raises(PrivacyError, match="floor"):
        mixture(floor=0.1).check_weights(np.ones(10, np.int64))
    mixture(floor=np.nextafter(0.1, 0.0)).check_weights(np.ones(10, np.int64))


@pytest.mark.parametrize(
    "weights",
    [
        np.array([0, 0]),
        np.array([-1, 3]),
        np.array([0]),
        np.array([], np.int64),
        np.array([0.5, 0.5]),
        np.array([[1, 1]]),
        np.full(2, INT64_MAX),  # the int64 sum is -2
        np.full(5, 2**62),  # the int64 sum is 2⁶², and each mass would seem to be 1
    ],
    ids=["zero", "negative", "single zero", "none", "floats", "matrix", "overflow", "wrap-around"],
)
def test_weights_that_are_no_distribution_are_refused(weights):
    with pytest.raises(PrivacyError):
        mixture(floor=0.0).check_weights(weights)


def test_a_single_candidate_needs_no_floor():
    mixture(floor=0.5).check_weights(np.array([7]))


def test_no_unit_means_no_private_draw():
    assert mixture(units=0, weight=0.0).private_share(1000, SystemSource()) == 0


@pytest.mark.parametrize(("weight", "private"), [(0.0, 1000), (1.0, 0)])
def test_the_ends_of_the_weight_are_exact(weight, private):
    assert mixture(weight=weight).private_share(1000, SystemSource()) == private


def test_the_private_share_depends_on_the_source_and_on_no_record():
    one, other = mixture(units=3), mixture(units=10**9)
    assert one.private_share(5000, SeededSource(3)) == other.private_share(5000, SeededSource(3))


def test_noise_never_falls_on_a_candidate_without_weight():
    weights = np.array([0, 5, 0, 0, 3, 0])
    drawn = draw_noise(weights, 4000, SystemSource())
    assert set(drawn.tolist()) == {1, 4}
    assert draw_noise(weights, 0, SystemSource()).size == 0


def test_noise_with_the_largest_weights_stays_in_range():
    weights = np.array([2**62, 2**62 - 1])
    mixture(floor=0.4).check_weights(weights)
    assert set(draw_noise(weights, 200, SystemSource()).tolist()) == {0, 1}


def test_what_is_described_is_what_is_used():
    described = mixture(weight=0.375, floor=0.05, draws=77).describe()
    assert {key: described[key] for key in ("mixing_weight", "floor", "draws")} == {
        "mixing_weight": 0.375,
        "floor": 0.05,
        "draws": 77,
    }
