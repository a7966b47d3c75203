"""The worst pair for histograms: the losses of real noisy votes have the law that their claim implies."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp, kstest, norm

from evomix.audit.votes import WorstCaseVotes
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.laplace import LaplaceHistogram
from evomix.privacy.randomness import SystemSource

TRIALS = 4000


def gaussian(stddev=1.5, rounds=1):
    return GaussianHistogram(stddev, rounds, 1, 1.0, 0.01)


def laplace(scale=1.5, rounds=1):
    return LaplaceHistogram(scale, rounds, 1, 1.0, 0.01)


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_gaussian_loss_is_normal_around_half_its_variance(rounds):
    pair = WorstCaseVotes.of(gaussian(rounds=rounds))
    variance = 2.0 * rounds / 1.5**2  # µ², at ℓ2 sensitivity √2
    for side, sign in ((0, 1.0), (1, -1.0)):
        law = norm(sign * variance / 2.0, math.sqrt(variance)).cdf
        swapped = norm(-sign * variance / 2.0, math.sqrt(variance)).cdf
        for losses in (
            pair.losses(side, TRIALS, SystemSource()),
            pair.claimed_losses(side, TRIALS, np.random.default_rng(side)),
        ):
            assert kstest(losses, law).pvalue > 1e-6
            assert kstest(losses, swapped).pvalue < 1e-6


def test_the_laplace_loss_is_bounded_by_its_pure_epsilon_and_leans_to_its_side():
    pair = WorstCaseVotes.of(laplace())
    first, second = (pair.losses(side, TRIALS, SystemSource()) for side in (0, 1))
    assert np.abs(first).max() <= 2.0 / 1.5 + 1e-9
    # e^(−loss) turns the law of one side into that of the other; its mean there is 1.
    for losses in (first, -second):
        assert abs(np.exp(-losses).mean() - 1.0) < 5.0 * np.exp(-losses).std() / math.sqrt(TRIALS)
        assert losses.mean() > 0.1
    assert ks_2samp(first, pair.claimed_losses(0, TRIALS, np.random.default_rng(0))).pvalue > 1e-6
    assert ks_2samp(first, pair.claimed_losses(1, TRIALS, np.random.default_rng(0))).pvalue < 1e-6


@pytest.mark.parametrize("make", [gaussian, laplace])
def test_the_statistic_is_the_claimed_one_whatever_runs(make):
    pair = WorstCaseVotes(make(1.5), make(0.001))
    # Votes with hardly any noise: the loss is what the claimed noise would make of exact votes.
    exact = 1.0 / 1.5**2 if make is gaussian else 2.0 / 1.5
    assert pair.losses(0, 100, SystemSource()) == pytest.approx(exact, abs=0.1)


def test_a_trial_costs_two_noises_a_round():
    assert WorstCaseVotes.of(gaussian(rounds=3)).cost == 3 * WorstCaseVotes.of(gaussian()).cost
