"""Events are chosen in advance, counted on the right sides, and a broken mechanism is convicted."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from evomix.audit import Claim, WorstCaseDraws, WorstCaseVotes, audit
from evomix.audit.audit import MOST_TRIALS, WORK, affordable_trials
from evomix.audit.claim import epsilon_bounds
from evomix.audit.forecast import forecast, mistake_rate
from evomix.audit.worst_case import worst_case
from evomix.core.errors import SpecError
from evomix.privacy.gaussian_accounting import gaussian_epsilon
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.linmix import linmix
from evomix.privacy.randomness import SeededSource
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound


class KnownLaw:
    """Stands in for a release: losses are normal, around ±shift."""

    def __init__(self, shift, running=None):
        self.shift, self.running = shift, shift if running is None else running
        self.rng = np.random.default_rng(5)
        self.cost = 1

    def losses(self, side, trials, source):
        return self.claimed_losses(side, trials, self.rng, self.running)

    def claimed_losses(self, side, trials, rng, shift=None):
        shift = self.shift if shift is None else shift
        return rng.normal((shift, -shift)[side], math.sqrt(2.0 * self.shift), trials)


MU = 1.0  # two Gaussians at distance µ: the loss is N(±µ²/2, µ²)
EPSILON = gaussian_epsilon(0.01, stddev=math.sqrt(2.0) / MU)


def test_the_threshold_promises_no_less_than_any_other_and_what_it_promises_is_right():
    trials, mistake = 10**6, mistake_rate(0.999, deltas=1)
    event, expected = forecast([KnownLaw(MU**2 / 2)]).best(1, 0.01, trials=trials, mistake=mistake)

    def bounds(thresholds):
        likely, other = (trials * norm.sf(thresholds, sign * MU**2 / 2, MU) for sign in (1, -1))
        return epsilon_bounds(likely, other, trials=trials, delta=0.01, mistake=mistake)

    assert event.likely == 1
    assert expected == pytest.approx(bounds(np.array([event.threshold]))[0], abs=0.02)
    assert expected >= bounds(np.linspace(0.5, 4.0, 50)).max() - 0.02
    assert 0.9 * EPSILON < expected < EPSILON


def test_the_lower_thresholds_have_the_stated_shares():
    claimed = forecast([KnownLaw(MU**2 / 2)])
    for side in (0, 1):
        for share in (0.5, 0.2):
            assert norm.sf(claimed.exceeded(side, share).threshold, MU**2 / 2, MU) == pytest.approx(share, abs=0.01)


def test_the_choice_depends_on_public_parameters_only():
    release = WorstCaseDraws.of(linmix(1.0, 0.01, units=9, draws=12, candidates=4))
    chosen = [forecast([release]).events([0.01, 0.1], trials=1000, mistake=1e-4) for _ in range(2)]
    assert chosen[0] == chosen[1]
    assert len(chosen[0]) == 8


def test_the_chance_of_error_is_shared_among_all_bounds():
    # Two sides, an event for each δ and two more; two bounds each.
    assert mistake_rate(0.99, deltas=1) == pytest.approx(0.01 / 12)
    assert mistake_rate(0.99, deltas=2) == pytest.approx(0.01 / 16)


def test_counts_come_from_the_sides_they_should():
    found = audit([KnownLaw(MU**2 / 2)], [Claim(EPSILON, 0.01)], trials=200_000)
    assert {count.direction for count in found.counts} == {0, 1}
    for count in found.counts:
        for hits, sign in ((count.likely, 1), (count.other, -1)):
            p = norm.sf(count.threshold, sign * MU**2 / 2, MU)
            assert abs(hits - 200_000 * p) < 5.5 * math.sqrt(200_000 * p)
    assert 0.85 * EPSILON < found.tallies[0].lower_bound <= EPSILON
    assert not found.refuted


def test_either_direction_alone_convicts():
    for sign in (1, -1):

        class OneSided(KnownLaw):
            def losses(self, side, trials, source, lean=sign):
                return (
                    lean * np.abs(super().losses(side, trials, source))
                    if lean * (1, -1)[side] > 0
                    else np.zeros(trials)
                )

        assert audit([OneSided(MU**2 / 2)], [Claim(EPSILON, 0.01)], trials=20_000).refuted


def test_several_claims_share_runs_and_confidence():
    claims = [Claim(EPSILON, 0.01), Claim(gaussian_epsilon(0.1, stddev=math.sqrt(2.0)), 0.1)]
    alone = audit([KnownLaw(MU**2 / 2)], claims[:1], trials=50_000)
    both = audit([KnownLaw(MU**2 / 2)], claims, trials=50_000)
    assert len(both.tallies) == 2
    assert both.tallies[0].expected < alone.tallies[0].expected  # each bound has less room for error
    assert both.to_dict()["tallies"][1]["delta"] == 0.1


def test_losses_of_several_releases_add_up():
    twice = [KnownLaw(MU**2 / 4), KnownLaw(MU**2 / 4)]
    twice[1].rng = np.random.default_rng(6)
    found = audit(twice, [Claim(EPSILON, 0.01)], trials=200_000).tallies[0]
    assert 0.85 * EPSILON < found.lower_bound <= EPSILON


def test_progress_is_reported_to_the_end():
    seen = []
    release = WorstCaseDraws.of(linmix(1.0, 0.01, units=9, draws=12, candidates=4))
    audit([release], [Claim(1.0, 0.01)], trials=6000, source=SeededSource(1), report=lambda *row: seen.append(row))
    assert len(seen) > 2
    assert seen[-1] == ("audit", 12_000, 12_000)


def test_trials_are_what_a_few_minutes_allow():
    cheap = WorstCaseDraws.of(linmix(1.0, 0.01, units=9, draws=12, candidates=4))
    assert affordable_trials([cheap]) == MOST_TRIALS
    dear = WorstCaseDraws.of(linmix(1.0, 0.01, units=10**6, draws=10**5, candidates=4))
    assert affordable_trials([dear]) * dear.cost * 2 <= WORK
    assert affordable_trials([dear] * 10**6) == 1


@pytest.mark.parametrize("trials", [0, -1, True, 1.5])
def test_odd_trials_are_refused(trials):
    with pytest.raises(SpecError, match="trials"):
        audit([KnownLaw(0.5)], [Claim(1.0, 0.01)], trials=trials)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, math.nan])
def test_odd_confidence_is_refused(confidence):
    with pytest.raises(SpecError, match="confidence"):
        audit([KnownLaw(0.5)], [Claim(1.0, 0.01)], trials=10, confidence=confidence)


def test_nothing_to_audit_is_refused():
    with pytest.raises(SpecError, match="release"):
        audit([], [Claim(1.0, 0.01)])
    with pytest.raises(SpecError, match="claim"):
        audit([KnownLaw(0.5)], [])


def test_rounds_that_differ_in_draws_only_are_one_release():
    rounds = [MixingRound(50, 0.5, 10, 0.1), GaussianRound(2.0), MixingRound(50, 0.5, 30, 0.1), GaussianRound(2.0)]
    rounds += [MixingRound(50, 0.25, 5, 0.1), LaplaceRound(3.0)]
    first, second, third, fourth = worst_case(rounds, Claim(1.0, 0.01))
    assert (first.claimed.draws, third.claimed.draws, third.claimed.mixing_weight) == (40, 5, 0.25)
    assert (second.claimed.rounds, second.claimed.stddev) == (2, 2.0)
    assert (fourth.claimed.rounds, fourth.claimed.scale) == (1, 3.0)


def test_halved_noise_is_convicted_and_sound_noise_is_not():
    sound = GaussianHistogram.calibrate(2.0, 0.01, units=1, rounds=1)
    broken = GaussianHistogram(sound.stddev / 2.0, 1, 1, 2.0, 0.01)
    trials = 6000
    assert not audit([WorstCaseVotes.of(sound)], [Claim(2.0, 0.01)], trials=trials).refuted
    assert audit([WorstCaseVotes(sound, broken)], [Claim(2.0, 0.01)], trials=trials).refuted
