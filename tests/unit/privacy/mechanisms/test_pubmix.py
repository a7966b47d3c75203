"""PubMix's privacy rests on β, draws and floor alone, whatever the public votes are (docs/proofs/pubmix.md)."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import PrivacyError
from evomix.privacy.calibration import GRID, delta
from evomix.privacy.mechanisms.linmix import linmix
from evomix.privacy.mechanisms.pubmix import public_weights, pubmix

SKEWED = np.array([0.7, 0.2, 0.05, 0.05, 0.0, 0.0])


def calibrated(public=SKEWED, *, epsilon=1.0, units=400, draws=300, proximity=0.2):
    return pubmix(epsilon, 1e-6, units=units, draws=draws, public=public, proximity=proximity)


@pytest.mark.parametrize("proximity", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_mechanism_meets_its_budget(epsilon, proximity):
    mechanism = calibrated(epsilon=epsilon, proximity=proximity)
    assert Fraction(mechanism.mixing_weight) * GRID == mechanism.numerator
    assert delta(epsilon, mixing_weight=mechanism.mixing_weight, n=400, draws=300, floor=mechanism.floor) <= 1e-6


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=6).filter(any),
    st.floats(0.0, 1.0),
)
def test_any_public_votes_of_a_later_round_are_raised_to_the_floor(votes, proximity):
    mechanism = calibrated()
    public = np.array(votes) / sum(votes)
    weights = public_weights(public, mixture=mechanism, proximity=proximity)
    total = sum(weights.tolist())
    assert len(weights) == len(votes)
    if len(votes) > 1:
        assert all(Fraction(weight, total) >= Fraction(mechanism.floor) for weight in weights.tolist())
    mechanism.check_weights(weights)


def test_more_candidates_than_the_floor_has_room_for_are_refused():
    mechanism = calibrated()
    too_many = np.full(int(1 / mechanism.floor) + 1, 1.0)
    with pytest.raises(Exception, match="floor"):
        mechanism.check_weights(public_weights(too_many / too_many.sum(), mixture=mechanism, proximity=0.2))
    with pytest.raises(PrivacyError, match="floor"):
        mechanism.check_weights(np.ones(len(too_many), np.int64))


def test_near_public_votes_need_less_noise_mass_far_from_uniform():
    near, far = calibrated(proximity=0.01), calibrated(proximity=1.0)
    assert near.floor <= far.floor
    assert far.floor == pytest.approx(1 / 6, rel=1e-3)  # nothing is known: uniform


def test_one_candidate_and_no_unit():
    single = calibrated(np.array([1.0]))
    assert single.name == "pubmix"
    assert single.floor == linmix(1.0, 1e-6, units=400, draws=300, candidates=1).floor
    single.check_weights(public_weights(np.array([1.0]), mixture=single, proximity=0.5))
    empty = calibrated(units=0)
    assert empty.units == 0
    assert empty.mixing_weight == calibrated(units=1).mixing_weight
