import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from evomix.core.errors import SpecError
from evomix.core.release import Draws, NoisyVotes
from evomix.selection.threshold import theory_multiple, vote_threshold


def uniform_draws(rng, *, draws=2000, candidates=1000, weight=0.5, units=10_000):
    """Draws in which every private record votes for candidate 0, so that all others are drawn by noise alone."""
    noise = np.full(candidates, 1.0 / candidates)
    law = weight * noise
    law[0] += 1.0 - weight
    return Draws(rng.multinomial(draws, law), weight, noise, units)


def test_gaussian_threshold_is_a_multiple_of_the_noise():
    release = NoisyVotes(np.zeros(3), 4.0, 100)
    assert np.array_equal(vote_threshold(release, multiple=1.5), [6.0, 6.0, 6.0])


@pytest.mark.parametrize("multiple", [0.0, 1.0, 2.0, 3.0])
def test_a_count_at_the_threshold_is_not_above_it(multiple):
    for draws, candidates, weight, units in ((500, 4000, 0.05, 12345), (777, 333, 0.3, 54321), (90, 7, 0.9, 11)):
        noise = np.full(candidates, 1.0 / candidates)
        for count in range(4):
            counts = np.zeros(candidates, np.int64)
            counts[0], counts[1] = count, draws - count
            release = Draws(counts, weight, noise, units)
            limit = vote_threshold(release, multiple=multiple)
            allowed = binom.isf(norm.sf(multiple), draws, weight / candidates)
            assert (release.estimate() > limit)[0] == (count > allowed)


@pytest.mark.parametrize("multiple", [0.0, 1.0, 2.0, 3.0])
def test_few_candidates_without_votes_pass(multiple):
    rng = np.random.default_rng(0)
    passed, tried = 0, 0
    for _ in range(200):
        release = uniform_draws(rng)
        passed += int((release.estimate() > vote_threshold(release, multiple=multiple))[1:].sum())
        tried += 999
    allowed = norm.sf(multiple)
    # Counts of one release are negatively associated, so the binomial spread bounds theirs; 5.2 of it is 1e-7.
    assert passed / tried <= allowed + 5.2 * math.sqrt(allowed / tried)


def test_one_draw_less_would_let_too_many_pass():
    rng = np.random.default_rng(1)
    passed, tried = 0, 0
    for _ in range(200):
        release = uniform_draws(rng)
        one = release.units / release.draws / (1.0 - release.mixing_weight)
        lower = vote_threshold(release, multiple=2.0) - one
        passed += int((release.estimate() > lower)[1:].sum())
        tried += 999
    assert passed / tried > 1.5 * norm.sf(2.0)


def test_each_candidate_has_the_threshold_of_its_own_noise():
    noise = np.array([0.9, 0.1, 0.0])
    release = Draws(np.array([50, 40, 10]), 0.5, noise, 1000)
    high, low, none = vote_threshold(release)
    assert high > low > none == 0.0


def test_draws_of_noise_alone_pass_nothing():
    for release in (
        Draws(np.array([3, 1]), 1.0, np.array([0.5, 0.5]), 10),
        Draws(np.zeros(2, int), 0.1, np.ones(2) / 2, 10),
    ):
        assert not (release.estimate() > vote_threshold(release)).any()


def test_theory_multiple_bounds_the_tail_of_all_rounds():
    multiple = theory_multiple(5000, 10, failure=0.01)
    assert 50_000 * norm.sf(multiple) < 0.01
    assert 50_000 * norm.sf(multiple - 0.5) > 0.01


@pytest.mark.parametrize("multiple", [-1.0, math.nan, math.inf, "2", None, True, 1j, [2.0], 10**400])
def test_bad_multiples_are_refused(multiple):
    with pytest.raises(SpecError, match="multiple"):
        vote_threshold(NoisyVotes(np.zeros(3), 4.0, 100), multiple=multiple)


@pytest.mark.parametrize(
    ("wrong", "values"),
    [
        ("candidates", [0, math.nan, 1.5, "3", None, True]),
        ("rounds", [0, math.nan, 1.5, "3", None, True]),
        ("failure", [0.0, 1.0, math.nan, "0.1", None, 1j, 10**400]),
    ],
)
def test_bad_theory_arguments_are_refused(wrong, values):
    for value in values:
        given = {"candidates": 1, "rounds": 1, "failure": 0.1} | {wrong: value}
        with pytest.raises(SpecError, match=wrong):
            theory_multiple(**given)


def test_numbers_of_any_size_have_a_theory():
    assert theory_multiple(np.int8(100), np.int8(100)) == theory_multiple(100, 100)
    assert theory_multiple(10**400, 1, failure=5e-324) == pytest.approx(
        math.sqrt(2.0 * (400 * math.log(10.0) + 1074 * math.log(2.0)))
    )


def test_noise_without_bound_passes_nothing():
    assert vote_threshold(NoisyVotes(np.zeros(3), math.inf, 100), multiple=0.0).tolist() == [math.inf] * 3
