import math

import numpy as np
import pytest
from scipy.stats import binom

from evomix.experiment.forecast import MixtureRelease, VotesRelease, forecast, uniform_noise
from evomix.experiment.stand_ins import StandIn

VOTES = np.array([0.4, 0.3, 0.2, 0.05, 0.05, 0.0])
PUBLIC = np.array([0.3, 0.3, 0.2, 0.1, 0.05, 0.05])
STAND_IN = StandIn(VOTES, PUBLIC)


def _expected(votes, law, draws):
    """Return the expected total variation of draws, from the binomial law of each count."""
    counts = np.arange(draws + 1)
    return 0.5 * sum(
        float(binom.pmf(counts, draws, p) @ np.abs(counts / draws - q)) for p, q in zip(law, votes, strict=True)
    )


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.9])
def test_the_error_of_draws_is_that_of_the_binomial_law(weight):
    release = MixtureRelease(weight, 50, 1000, uniform_noise)
    seen = forecast(release, [STAND_IN], repeats=4000).draws_tv
    expected, wrong = (_expected(VOTES, (1 - beta) * VOTES + beta / 6, 50) for beta in (weight, weight + 0.1))
    # One release's error lies in [0, 1]; by Hoeffding the mean of 4,000 is off by 0.045 with probability 1e-7.
    assert abs(seen - expected) < 0.045
    # The simulation is far sharper than that bound: it tells β from β + 0.1.
    assert abs(seen - expected) < 0.5 * abs(wrong - expected) or weight == 0.0


def test_an_estimate_takes_the_noise_out_again():
    release = MixtureRelease(0.6, 20_000, 10_000, uniform_noise)
    seen = forecast(release, [STAND_IN], repeats=20)
    assert seen.draws_tv == pytest.approx(0.6 * 0.5 * float(np.abs(VOTES - 1 / 6).sum()), rel=0.1)
    assert seen.estimate_tv < 0.1 * seen.draws_tv


def test_draws_that_are_all_noise_leave_the_public_votes():
    seen = forecast(MixtureRelease(1.0, 100, 10, uniform_noise), [STAND_IN])
    assert seen.estimate_tv == pytest.approx(0.5 * float(np.abs(VOTES - PUBLIC).sum()))


def test_more_noise_on_votes_misses_more():
    seen = [forecast(VotesRelease(stddev, 10_000, 1000), [STAND_IN], repeats=20) for stddev in (1e-9, 30.0, 1e9)]
    assert seen[0].estimate_tv < 1e-6
    assert seen[0].draws_tv == pytest.approx(_expected(VOTES, VOTES, 10_000), rel=0.3)
    assert seen[0].draws_tv < seen[1].draws_tv < seen[2].draws_tv
    assert seen[0].estimate_tv < seen[1].estimate_tv < seen[2].estimate_tv


@pytest.mark.parametrize("release", [MixtureRelease(0.5, 1, 0, uniform_noise), VotesRelease(1e300, 1, 0)])
@pytest.mark.parametrize("stand_in", [STAND_IN, StandIn(np.ones(1), None), StandIn(np.ones(1), np.ones(1))])
def test_nobody_and_nothing_make_no_trouble(release, stand_in):
    seen = forecast(release, [stand_in])
    assert 0.0 <= seen.draws_tv <= 1.0
    assert 0.0 <= seen.estimate_tv <= 1.0
    assert math.isfinite(seen.estimate_tv)


def test_a_seed_gives_a_forecast_once():
    release = MixtureRelease(0.2, 100, 100, uniform_noise)
    assert forecast(release, [STAND_IN], seed=4) == forecast(release, [STAND_IN], seed=4)
    assert forecast(release, [STAND_IN], seed=4) != forecast(release, [STAND_IN], seed=5)
