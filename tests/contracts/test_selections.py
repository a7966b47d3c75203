"""Every selection keeps its protocol's promises, for both kinds of release."""

import numpy as np
import pytest

from evomix.core.release import Draws, NoisyVotes
from evomix.selection import SELECTIONS

UNIFORM = np.full(6, 1 / 6)
RELEASES = {
    "noisy votes": NoisyVotes(np.array([40.0, 3.0, -2.0, 25.0, 0.0, 1.0]), 2.0, 67),
    "draws": Draws(np.array([400, 30, 20, 250, 20, 10]), 0.2, UNIFORM, 67),
    "all zero": NoisyVotes(np.zeros(6), 2.0, 67),
    "all negative": NoisyVotes(np.array([-5.0, -1.0, -900.0, -1.0, -2.0, -7.0]), 300.0, 67),
    "large noise": NoisyVotes(np.random.default_rng(0).normal(0, 1e9, 6), 1e9, 1),
    "nobody": NoisyVotes(np.array([1.0, -2.0, 0.5, 0.0, 0.0, 0.0]), 2.0, 0),
    "equal votes": NoisyVotes(np.full(6, 11.0), 2.0, 66),
    "no draws": Draws(np.zeros(6, np.int64), 0.2, UNIFORM, 67),
    "one draw": Draws(np.array([0, 0, 1, 0, 0, 0]), 0.2, UNIFORM, 67),
    "noise only": Draws(np.array([1, 2, 3, 4, 5, 6]), 1.0, UNIFORM, 67),
    "draws of nobody": Draws(np.array([1, 2, 3, 4, 5, 6]), 1.0, UNIFORM, 0),
    "noise in one place": Draws(np.array([0, 0, 0, 9, 0, 0]), 0.5, np.eye(6)[3], 67),
    "noisy votes beside public votes": NoisyVotes(np.array([40.0, 3, -2, 25, 0, 1]), 2.0, 67, np.eye(6)[5]),
    "draws beside public votes": Draws(np.array([400, 30, 20, 250, 20, 10]), 0.2, UNIFORM, 67, np.eye(6)[5]),
    "no draws beside public votes": Draws(np.zeros(6, np.int64), 0.2, UNIFORM, 67, np.eye(6)[5]),
    "one candidate": NoisyVotes(np.array([-3.0]), 2.0, 67),
    "one candidate, drawn": Draws(np.array([50]), 0.3, np.ones(1), 67),
}
CLEAR = ("noisy votes", "draws")


@pytest.fixture(params=SELECTIONS)
def select(request):
    return SELECTIONS[request.param]


@pytest.mark.parametrize("size", [1, 2, 6, 100])
@pytest.mark.parametrize("release", RELEASES)
def test_positions_are_in_range_and_as_many_as_asked_for(select, release, size):
    chosen = select(RELEASES[release], size, np.random.default_rng(1))
    assert chosen.dtype == np.int64
    assert chosen.shape == (size,)
    assert chosen.min() >= 0
    assert chosen.max() < len(RELEASES[release].estimate())


@pytest.mark.parametrize("release", RELEASES)
def test_the_same_randomness_gives_the_same_choice(select, release):
    first, second = (select(RELEASES[release], 50, np.random.default_rng(8)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_is_left_as_it_was(select, release):
    before = RELEASES[release].estimate().copy()
    select(RELEASES[release], 20, np.random.default_rng(1))
    np.testing.assert_array_equal(RELEASES[release].estimate(), before)


@pytest.mark.parametrize("release", CLEAR)
def test_what_got_most_votes_is_chosen_first_and_most(select, release):
    rng = np.random.default_rng(1)
    assert set(select(RELEASES[release], 2, rng)) <= {0, 3}
    counts = np.bincount(select(RELEASES[release], 600, rng), minlength=6)
    assert counts[0] == counts.max()
    assert counts[0] >= counts[3] >= counts[[1, 2, 4, 5]].max()


@pytest.mark.parametrize("release", CLEAR)
def test_the_order_of_the_candidates_does_not_matter(select, release):
    def counts(given):
        return np.bincount(select(given, 600, np.random.default_rng(1)), minlength=6)

    straight = RELEASES[release]
    if isinstance(straight, Draws):
        turned = Draws(straight.counts[::-1], straight.mixing_weight, straight.noise_distribution[::-1], 67)
    else:
        turned = NoisyVotes(straight.votes[::-1], straight.stddev, 67)
    np.testing.assert_allclose(counts(turned)[::-1], counts(straight), atol=1)
