"""The released distance has the law that is accounted for, and its interval the coverage that is stated.

Proof: docs/proofs/distance.md. The noise is fresh at each run; each test fails once in a million runs.
"""

import numpy as np
import pytest
from scipy import stats

from evomix.privacy.adjacency import LATTICE
from evomix.privacy.mechanisms.distance import NoisyDistance

TIMES = 4000
UNITS, EXACT = 1000, 0.5
ONCE_IN_A_MILLION = 1e-6
EPSILONS = (0.05, 0.5)


@pytest.fixture(scope="module", params=EPSILONS)
def released(request):
    mechanism = NoisyDistance.calibrate(request.param, units=UNITS)
    votes, public = np.array([UNITS, 0]) * LATTICE, mechanism.public_votes(np.array([0.5, 0.5]))
    return request.param, [mechanism.release(votes, public) for _ in range(TIMES)]


def test_the_right_noise_is_accepted_and_others_are_rejected(released):
    epsilon, found = released
    noise = np.array([one.estimate for one in found]) - EXACT
    scale = 1.0 / (epsilon * UNITS)
    assert stats.kstest(noise, stats.laplace(scale=scale).cdf).pvalue > ONCE_IN_A_MILLION
    for wrong in (2 / 3, 3 / 2):
        assert stats.kstest(noise, stats.laplace(scale=scale * wrong).cdf).pvalue < ONCE_IN_A_MILLION


def test_the_interval_covers_as_often_as_it_says(released):
    inside = sum(one.low <= EXACT <= one.high for one in released[1])
    assert stats.binomtest(inside, TIMES, 0.95).pvalue > ONCE_IN_A_MILLION
    narrow = sum(abs(one.estimate - EXACT) <= 0.8 * (one.high - one.low) / 2 for one in released[1])
    assert stats.binomtest(narrow, TIMES, 0.95).pvalue < ONCE_IN_A_MILLION
