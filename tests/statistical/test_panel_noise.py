"""Several histograms in one round each have the noise that their number asks for, and the test would notice less.

Proof: docs/proofs/gaussian.md. The noise is fresh at each run; each test fails once in a million runs.
"""

import numpy as np
import pytest
from scipy import stats

from evomix.privacy.adjacency import LATTICE
from evomix.privacy.mechanisms.gaussian import GaussianHistogram

CELLS = 6000
ONCE_IN_A_MILLION = 1e-6


@pytest.fixture(scope="module", params=[(2.0, 1), (2.0, 9), (0.05, 300)], ids=["one", "nine", "many"])
def released(request):
    stddev, blocks = request.param
    size = CELLS // blocks * blocks
    votes = np.arange(size, dtype=np.int64) * LATTICE
    release = GaussianHistogram(stddev, 1, 100, 1.0, 1e-6).privatise(votes, blocks=blocks)
    return stddev * np.sqrt(blocks), blocks, release, release.votes - np.arange(size)


def _spread_is(noise, stddev):
    """Return the p-value of a standard deviation, by the chi-square law of the squares, both sides."""
    statistic = float((noise**2).sum()) / stddev**2
    return 2.0 * min(stats.chi2.cdf(statistic, len(noise)), stats.chi2.sf(statistic, len(noise)))


def test_the_spread_is_that_of_one_histogram_times_the_root_of_their_number(released):
    stddev, blocks, release, noise = released
    assert release.stddev == pytest.approx(stddev, rel=1e-12)
    assert _spread_is(noise, stddev) > ONCE_IN_A_MILLION
    for wrong in (0.93, 1.07, np.sqrt(2.0), np.sqrt(0.5)):
        assert _spread_is(noise, stddev * wrong) < ONCE_IN_A_MILLION
    if blocks > 1:
        assert _spread_is(noise, stddev / np.sqrt(blocks)) < ONCE_IN_A_MILLION


def test_the_law_is_the_same_in_every_part(released):
    stddev, blocks, _, noise = released
    assert stats.kstest(noise, stats.norm(scale=stddev).cdf).pvalue > ONCE_IN_A_MILLION
    parts = noise.reshape(blocks, -1)
    # As many tests as parts: together they fail as seldom as one.
    assert min(_spread_is(part, stddev) for part in parts) > ONCE_IN_A_MILLION / blocks


def test_parts_do_not_repeat_each_other(released):
    stddev, blocks, _, noise = released
    if blocks == 1:
        return
    parts = noise.reshape(blocks, -1)
    first, second = parts[:-1].ravel(), parts[1:].ravel()
    assert stats.pearsonr(first, second).pvalue > ONCE_IN_A_MILLION
    assert np.unique(noise).size > 0.99 * noise.size or stddev < 1e-3
