"""Every selection keeps its protocol's promises, for both kinds of release."""

import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.core.release import Draws, NoisyVotes
from evomix.selection import SELECTIONS, make_selection
from evomix.selection.denoising import BALANCED, DENOISINGS
from evomix.selection.methods import GEOMETRIC

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


PLACES = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0], [9.0, 9.0], [4.0, 5.0]])
PAIRS = [(name, way) for name in SELECTIONS for way in (BALANCED if name in GEOMETRIC else DENOISINGS)]


def _selection(name, way="signed"):
    return make_selection(name, vectors=lambda candidates: candidates, denoise=DENOISINGS[way])


def _candidates(release):
    return PLACES[: release.estimate().size]


@pytest.fixture(params=SELECTIONS)
def select(request):
    return _selection(request.param)


@pytest.mark.parametrize("size", [1, 2, 6, 100])
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_positions_are_in_range_and_as_many_as_asked_for(pair, release, size):
    given = RELEASES[release]
    chosen = _selection(*pair).parents(given, _candidates(given), size, np.random.default_rng(1))
    assert chosen.dtype == np.int64
    assert chosen.shape == (size,)
    assert chosen.min() >= 0
    assert chosen.max() < len(given.estimate())


@pytest.mark.parametrize("size", [1, 2, 6, 100])
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_rows_have_a_law(pair, release, size):
    given = RELEASES[release]
    shares = _selection(*pair).shares(given, _candidates(given), size, np.random.default_rng(1))
    assert shares.dtype == np.float64
    assert shares.shape == given.estimate().shape
    assert shares.min() >= 0.0
    assert shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("release", RELEASES)
def test_the_same_randomness_gives_the_same_choice(select, release):
    given = RELEASES[release]
    first, second = (select.parents(given, _candidates(given), 50, np.random.default_rng(8)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_and_its_candidates_are_left_as_they_were(select, release):
    given = RELEASES[release]
    before, candidates = given.estimate().copy(), _candidates(given).copy()
    select.parents(given, candidates, 20, np.random.default_rng(1))
    select.shares(given, candidates, 20, np.random.default_rng(1))
    np.testing.assert_array_equal(given.estimate(), before)
    np.testing.assert_array_equal(candidates, _candidates(given))


@pytest.mark.parametrize("release", CLEAR)
def test_what_got_most_votes_is_chosen_first_and_most(select, release):
    rng, given = np.random.default_rng(1), RELEASES[release]
    assert set(select.parents(given, PLACES, 2, rng)) <= {0, 3}
    counts = np.bincount(select.parents(given, PLACES, 600, rng), minlength=6)
    shares = select.shares(given, PLACES, 600, rng)
    for found in (counts, shares):
        assert found[0] == found.max()
        assert found[0] >= found[3] >= found[[1, 2, 4, 5]].max()


@pytest.mark.parametrize("release", CLEAR)
def test_the_order_of_the_candidates_does_not_matter(select, release):
    def counts(given, places):
        return np.bincount(select.parents(given, places, 600, np.random.default_rng(1)), minlength=6)

    straight, places = RELEASES[release], PLACES + np.arange(6)[:, None] / 100  # no two ways that are equally good
    if isinstance(straight, Draws):
        turned = Draws(straight.counts[::-1], straight.mixing_weight, straight.noise_distribution[::-1], 67)
    else:
        turned = NoisyVotes(straight.votes[::-1], straight.stddev, 67)
    np.testing.assert_allclose(counts(turned, places[::-1])[::-1], counts(straight, places), atol=1)


@pytest.mark.parametrize("release", RELEASES)
def test_what_is_told_is_plain(select, release):
    told = select.describe(RELEASES[release])
    assert all(type(value) in (int, str) for value in told.values())


def test_a_selection_that_is_none_is_refused():
    with pytest.raises(SpecError, match="subsample, rank, projection, gape"):
        _selection("best")
