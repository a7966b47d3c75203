import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.core.release import Draws, NoisyVotes
from evomix.selection.denoising import BALANCED, DENOISINGS, choose_denoising, shrunk, signed
from evomix.selection.methods import Gape, Projection, Rank, Subsample
from evomix.selection.rank import rank
from evomix.selection.shares import vote_shares

TWO_CLUSTERS = np.concatenate([np.linspace(0.0, 0.9, 10), np.linspace(100.0, 100.9, 10)])[:, None]


def _points(candidates):
    return np.asarray(candidates)


def _rng(seed=0):
    return np.random.default_rng(seed)


def _unbalanced():
    """Noisy votes of two clusters, 9 to 1; the small one is spread evenly and outranked by each of the large one."""
    votes = np.concatenate([np.full(10, 90.0), np.full(10, 10.0)])
    votes[[2, 7, 13]] -= 25.0
    return NoisyVotes(votes, 2.0, 1000)


def test_gape_keeps_the_cluster_that_rank_drops():
    release = _unbalanced()
    kept = Gape(vectors=_points).parents(release, TWO_CLUSTERS, 4, _rng())
    assert (kept >= 10).any()
    assert (kept < 10).any()
    assert (Rank().parents(release, TWO_CLUSTERS, 4, _rng()) < 10).all()


def test_gape_takes_all_above_the_threshold_and_repeats_them_by_what_flows_to_them():
    release = NoisyVotes(np.array([60.0, 3.0, -3.0, 40.0, 0.0]), 5.0, 100)
    places = np.array([[0.0], [1.0], [99.0], [100.0], [50.0]])
    gape = Gape(vectors=_points)
    assert gape.describe(release) == {"above_threshold": 2}
    counts = np.bincount(gape.parents(release, places, 100, _rng()), minlength=5)
    np.testing.assert_array_equal(counts, [63, 0, 0, 37, 0])  # each takes its neighbour's votes, the negative ones too
    np.testing.assert_allclose(gape.shares(release, places, 100, _rng()), counts / 100)
    assert sorted(gape.parents(release, places, 2, _rng())) == [0, 3]


def test_each_selected_candidate_stands_there_once_however_little_flows_to_it():
    release = NoisyVotes(np.array([980.0, 10.0, 10.0]), 1.0, 1000)
    places = np.array([[0.0], [100.0], [200.0]])
    counts = np.bincount(Gape(vectors=_points).parents(release, places, 10, _rng()), minlength=3)
    np.testing.assert_array_equal(counts, [8, 1, 1])


@pytest.mark.parametrize(
    ("release", "why"),
    [
        (NoisyVotes(np.array([1.0, 3.0, 2.0]), 50.0, 6), "no candidate above"),
        (NoisyVotes(np.array([-900.0, 120.0, 300.0]), 50.0, 6), "missing"),
        (Draws(np.array([3, 9, 5]), 1.0, np.array([0.2, 0.5, 0.3]), 17), "no candidate above"),
        (Draws(np.zeros(3, np.int64), 0.5, np.array([0.2, 0.5, 0.3]), 17), "no candidate above"),
    ],
    ids=["none above", "more missing than there", "all noise", "no draws"],
)
def test_where_nothing_can_be_moved_the_ranking_stands_in_and_it_is_told(release, why):
    gape, places = Gape(vectors=_points), np.arange(3.0)[:, None]
    assert why in gape.describe(release)["fallback"]
    np.testing.assert_array_equal(gape.parents(release, places, 5, _rng()), rank(release, 5, _rng(), denoise=signed))
    np.testing.assert_array_equal(gape.shares(release, places, 5, _rng()), vote_shares(release, signed))


def test_the_threshold_is_in_standard_deviations_of_the_noise():
    release = NoisyVotes(np.array([29.0, 31.0, 41.0]), 10.0, 101)
    above = [Gape(vectors=_points, threshold=tau).describe(release)["above_threshold"] for tau in (0.0, 2.0, 3.0, 4.05)]
    assert above == [3, 3, 2, 1]
    # Whatever the votes that are moved: public votes must not lift a candidate over a threshold that is about noise.
    informed = NoisyVotes(release.votes, 10.0, 101, np.array([1.0, 0.0, 0.0]))
    assert 0 not in Gape(vectors=_points, denoise=shrunk, threshold=3.0).parents(
        informed, np.arange(3.0)[:, None], 9, _rng()
    )


def test_a_radius_that_is_given_is_used():
    """With R small all distances count alike, and the candidates of most votes are as good as any that are apart."""
    votes = np.array([100.0, 99.0, 98.0, 50.0])
    release, places = NoisyVotes(votes, 1.0, 347), np.array([[0.0], [1.0], [2.0], [1000.0]])
    near = Gape(vectors=_points, radius=0.003).parents(release, places, 2, _rng())
    far = Gape(vectors=_points, radius=1e9).parents(release, places, 2, _rng())
    assert sorted(near) == [0, 1]
    assert 3 in far


def test_projection_takes_negative_votes_off_their_neighbours():
    release = NoisyVotes(np.array([60.0, -20.0, 60.0]), 5.0, 100)
    places = np.array([[0.0], [1.0], [100.0]])
    projection = Projection(vectors=_points)
    shares = projection.shares(release, places, 1000, _rng())
    np.testing.assert_allclose(shares, [0.4, 0.0, 0.6], atol=1e-9)
    np.testing.assert_allclose(Subsample(denoise=signed).shares(release, places, 9, _rng()), [0.5, 0.0, 0.5])
    counts = np.bincount(projection.parents(release, places, 1000, _rng()), minlength=3)
    np.testing.assert_allclose(counts, 1000 * shares, atol=1)


def test_places_are_asked_for_only_by_those_that_need_them():
    def never(_candidates):
        raise AssertionError

    release, places = _unbalanced(), TWO_CLUSTERS
    for select in (Subsample(), Rank()):
        select.parents(release, places, 4, _rng())
        select.shares(release, places, 4, _rng())
    for select in (Projection(vectors=never), Gape(vectors=never)):
        with pytest.raises(AssertionError):
            select.parents(release, places, 4, _rng())
    Gape(vectors=never).describe(release)


def test_votes_that_are_moved_must_be_whole():
    """Those points sum to one (noisy votes: up to their noise), the others do not."""
    draws = Draws(np.array([400, 30, 20, 250, 20, 10]), 0.4, np.full(6, 1 / 6), 67, np.eye(6)[5])
    votes = NoisyVotes(np.array([40.0, 3.0, -9.0, 25.0, 5.0, 3.0]), 4.0, 67, np.eye(6)[5])
    whole = {
        name
        for name, denoise in DENOISINGS.items()
        if all(denoise(release).sum() == pytest.approx(1.0) for release in (draws, votes))
    }
    loud = Draws(np.array([400, 30, 20, 250, 0, 0]), 0.4, np.full(6, 1 / 6), 67)
    assert DENOISINGS["likelihood"](loud).sum() < 0.99
    assert whole - {"likelihood"} == set(BALANCED)
    for name in DENOISINGS:
        if name in BALANCED:
            assert choose_denoising(name, informed=True, geometric=True) == name
        else:
            with pytest.raises(SpecError, match="signed, shrunk, bayes"):
                choose_denoising(name, informed=True, geometric=True)
    assert choose_denoising("auto", informed=True, geometric=True) == "signed"
