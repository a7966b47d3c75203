"""The Gaussian histogram's noise is the calibrated one, in units of a private unit (docs/proofs/gaussian.md)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.core.errors import SpecError
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.gaussian_accounting import gaussian_delta, gaussian_stddev
from evomix.privacy.mechanisms.gaussian import GaussianHistogram, spread_over


@pytest.mark.parametrize("rounds", [1, 4, 16])
def test_all_rounds_together_meet_the_budget_and_less_noise_would_not(rounds):
    mechanism = GaussianHistogram.calibrate(1.0, 1e-6, units=100, rounds=rounds)
    assert mechanism.stddev == gaussian_stddev(1.0, 1e-6, rounds=rounds, adjacency="replace-one")
    spent = gaussian_delta(1.0, stddev=mechanism.stddev, rounds=rounds, adjacency="replace-one")
    assert spent <= 1e-6 < gaussian_delta(1.0, stddev=mechanism.stddev * 0.999, rounds=rounds, adjacency="replace-one")


def test_a_release_is_votes_plus_noise_on_the_lattice():
    mechanism = GaussianHistogram(0.25, 1, 30, 1.0, 1e-6)
    votes = np.arange(400, dtype=np.int64) * LATTICE
    release = mechanism.privatise(votes)
    noise = release.votes - np.arange(400)
    assert np.array_equal(release.votes * LATTICE, np.rint(release.votes * LATTICE))
    assert 0.15 < noise.std() < 0.35
    assert release.stddev == 0.25
    assert release.units == 30
    assert not np.array_equal(mechanism.privatise(votes).votes, release.votes)


@pytest.mark.parametrize("votes", [np.zeros(3), np.zeros((2, 2), np.int64)])
def test_votes_of_another_kind_are_refused(votes):
    with pytest.raises(SpecError, match="int64"):
        GaussianHistogram(1.0, 1, 5, 1.0, 1e-6).privatise(votes)


def test_no_unit_and_no_candidate():
    mechanism = GaussianHistogram.calibrate(1.0, 1e-6, units=0, rounds=2)
    assert mechanism.privatise(np.zeros(1, np.int64)).votes.shape == (1,)
    assert mechanism.privatise(np.zeros(0, np.int64)).votes.shape == (0,)


def test_what_is_described_is_what_is_used():
    described = GaussianHistogram(3.0, 2, 5, 1.0, 1e-6).describe()
    assert described["stddev"] == 3.0
    assert described["noise_multiplier"] * described["sensitivity"] == pytest.approx(3.0)
    assert described["sensitivity"] == pytest.approx(math.sqrt(2.0))


@given(st.floats(1e-150, 1e150), st.integers(1, 10**6))
def test_noise_of_several_histograms_is_never_less_than_their_number_asks(stddev, blocks):
    """σ' ≥ σ·√K as rational numbers: their squares compare exactly. And next to nothing more."""
    found = spread_over(stddev, blocks)
    exact = Fraction(stddev) ** 2 * blocks
    assert exact <= Fraction(found) ** 2 <= exact * (1 + Fraction(1, 2**48))
    assert blocks > 1 or found == stddev


@pytest.mark.parametrize("blocks", [0, -1])
def test_no_histogram_has_no_noise(blocks):
    with pytest.raises(SpecError, match=f"blocks={blocks}"):
        spread_over(1.0, blocks)


def test_several_histograms_are_released_with_the_noise_of_all_of_them():
    mechanism = GaussianHistogram(0.25, 1, 30, 1.0, 1e-6)
    release = mechanism.privatise(np.zeros(4000, np.int64), blocks=16)
    assert release.stddev == spread_over(0.25, 16)
    assert release.stddev == pytest.approx(1.0)
    assert 0.9 < release.votes.std() < 1.1
    assert mechanism.privatise(np.zeros(1, np.int64), blocks=1).stddev == 0.25
