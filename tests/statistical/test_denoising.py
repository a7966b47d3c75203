"""The signed estimate of draws is unbiased with the error it states, and a wrong one is noticed.

Proof: docs/proofs/post_processing.md, section 2. All bounds are at six standard errors or more, which a right estimate
exceeds with probability below 1e-6.
"""

import numpy as np
import pytest

from evomix.core.release import Draws

BETA, DRAWS, RELEASES = 0.6, 40, 20_000
PRIVATE = np.array([0.5, 0.3, 0.15, 0.05, 0.0])
NOISE = np.array([0.05, 0.05, 0.1, 0.2, 0.6])


@pytest.fixture(scope="module")
def releases():
    law = (1 - BETA) * PRIVATE + BETA * NOISE
    counts = np.random.default_rng(20).multinomial(DRAWS, law, size=RELEASES)
    return [Draws(row, BETA, NOISE, 1000) for row in counts]


def largest_deviation(estimates):
    """Return the largest distance of the estimates' mean from the private shares, in its standard errors."""
    estimates = np.array(estimates)
    spread = estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
    return float((np.abs(estimates.mean(axis=0) - PRIVATE) / spread).max())


def test_the_signed_estimate_is_unbiased(releases):
    assert largest_deviation([release.shares() for release in releases]) < 6.0
    np.testing.assert_allclose(releases[0].estimate(), 1000 * releases[0].shares())


def test_an_estimate_that_forgets_the_noise_or_its_weight_is_noticed(releases):
    assert largest_deviation([release.counts / DRAWS for release in releases]) > 12.0
    assert largest_deviation([release.counts / DRAWS - BETA * NOISE for release in releases]) > 12.0
    slightly = [Draws(release.counts, BETA + 0.02, NOISE, 1000).shares() for release in releases]
    assert largest_deviation(slightly) > 6.0


def test_cutting_at_zero_is_biased_and_noticed(releases):
    cut = [np.maximum(release.shares(), 0.0) for release in releases]
    assert largest_deviation([shares / shares.sum() for shares in cut]) > 12.0


@pytest.mark.parametrize("draws", [2, 40])
def test_the_stated_error_is_unbiased_and_wrong_formulas_are_noticed(draws):
    law = (1 - BETA) * PRIVATE + BETA * NOISE
    counts = np.random.default_rng(21).multinomial(draws, law, size=RELEASES)
    made = [Draws(row, BETA, NOISE, 1000) for row in counts]
    exact = (1 - (law**2).sum()) / draws / (1 - BETA) ** 2
    found = np.array([((release.shares() - PRIVATE) ** 2).sum() for release in made])
    stated = np.array([release.error() for release in made])

    def deviation(values):
        return abs(values.mean() - exact) / (values.std(ddof=1) / np.sqrt(RELEASES))

    assert deviation(found) < 6.0
    assert deviation(stated) < 6.0
    assert deviation(stated * (draws - 1) / draws) > 12.0  # the plug-in formula, without the correction for one draw
    assert deviation(stated * (1 - BETA) ** 2) > 12.0  # that the noise is divided out makes it larger
