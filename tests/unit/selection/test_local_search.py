"""Holds docs/proofs/ls_cost.md against the definition of the cost and against trying every swap."""

import sys

import numpy as np
import pytest
from transport_oracle import clustered, cost_by_program

from evomix.core.errors import SpecError
from evomix.selection.gape import gape
from evomix.selection.local_search import TOLERANCE, local_search
from evomix.selection.ls_cost import ls_cost


def every_swap(points, votes, chosen, *, radius, threshold):
    """Return the cost after each swap of a chosen against an unchosen candidate above the threshold."""
    rest = np.setdiff1d(np.flatnonzero(votes > threshold), chosen)
    return np.array(
        [
            ls_cost(points, votes, np.append(np.delete(chosen, out), into), radius=radius)
            for out in range(len(chosen))
            for into in rest
        ]
    )


@pytest.mark.parametrize("seed", range(60))
def test_the_cost_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    points, votes = clustered(rng, int(rng.integers(2, 26)))
    radius = float(rng.choice([3.0, 12.0, 1e6]))
    found = local_search(points, votes, size=int(rng.integers(1, 6)), radius=radius, threshold=0.0, rng=rng)
    if found.indices.size:
        expected = cost_by_program(points, votes, found.indices, radius)
        assert found.cost == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("seed", range(25))
def test_no_swap_lowers_the_cost(seed):
    rng = np.random.default_rng(seed)
    points, votes = clustered(rng, int(rng.integers(20, 61)))
    radius, threshold = float(rng.choice([6.0, 1e6])), float(rng.choice([0.0, 0.3]))
    size = int(rng.integers(2, 6))
    found = local_search(points, votes, size=size, radius=radius, threshold=threshold, rng=rng)
    assert found.gap == 0.0
    if len(found.indices) == size:
        others = every_swap(points, votes, found.indices, radius=radius, threshold=threshold)
        assert (others >= found.cost * (1.0 - 2.0 * TOLERANCE) - 1e-9).all()


def test_the_weights_left_alone_would_stop_too_early():
    """Without the exact trials some searches end where a swap still helps: the certificate is not idle."""
    stopped = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        points, votes = clustered(rng, 50, negative=0.45)
        if votes.sum() <= 0.0:
            continue
        found = local_search(points, votes, size=4, radius=1e6, threshold=0.0, rng=rng, trials=0)
        others = every_swap(points, votes, found.indices, radius=1e6, threshold=0.0)
        assert (others >= found.cost * (1.0 - found.gap) * (1.0 - TOLERANCE) - 1e-9).all()
        stopped += bool((others < found.cost * (1.0 - 1e-4)).any())
    assert stopped >= 3


@pytest.mark.parametrize("seed", range(20))
def test_all_votes_flow_to_the_chosen(seed):
    rng = np.random.default_rng(seed)
    points, votes = clustered(rng, 40)
    found = local_search(points, votes, size=5, radius=1e6, threshold=0.0, rng=rng)
    assert (found.weights >= 0.0).all()
    assert found.weights.sum() == pytest.approx(votes.sum())
    assert len(set(found.indices.tolist())) == len(found.indices) <= 5
    assert (votes[found.indices] > 0.0).all()


def test_all_candidates_above_the_threshold_are_taken_when_they_are_few():
    points, votes = np.eye(5), np.array([5.0, -1.0, 2.0, 1.0, 3.0])
    found = local_search(points, votes, size=3, radius=3.0, threshold=1.5, rng=np.random.default_rng(0))
    assert found.indices.tolist() == [0, 2, 4]
    assert found.weights.sum() == pytest.approx(10.0)
    assert gape(points, votes, size=9, threshold=10.0).tolist() == []


def test_each_candidate_may_have_its_own_threshold():
    points, votes = np.eye(3), np.array([2.0, 2.0, 2.0])
    assert gape(points, votes, size=3, threshold=np.array([1.0, 3.0, 1.0])).tolist() == [0, 2]


def test_more_missing_than_there_is_leaves_no_flow():
    points, votes = np.arange(4.0)[:, None], np.array([1.0, 2.0, -5.0, -1.0])
    found = local_search(points, votes, size=1, radius=30.0, threshold=0.0, rng=np.random.default_rng(0))
    assert found.cost == np.inf
    assert found.indices.tolist() == [1]  # the heaviest: nothing else is known
    assert found.weights.tolist() == [0.0]


def test_a_small_cluster_far_away_is_kept():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(200, 2)), 100.0 + rng.normal(size=(10, 2))])
    votes = np.concatenate([np.full(200, 10.0), np.full(10, 5.0)]) + rng.normal(scale=2.0, size=210)
    chosen = gape(points, votes, size=3)
    assert (chosen >= 200).sum() == 1


def test_the_same_arguments_give_the_same_choice():
    rng = np.random.default_rng(0)
    points, votes = clustered(rng, 300)
    one = gape(points, votes, size=20, rng=np.random.default_rng(5))
    assert np.array_equal(one, gape(points, votes, size=20, rng=np.random.default_rng(5)))
    assert np.array_equal(one, gape(points.astype(np.float64), votes, size=20, rng=np.random.default_rng(5)))


@pytest.mark.parametrize("seed", range(15))
def test_candidates_without_votes_may_be_allowed(seed):
    rng = np.random.default_rng(seed)
    points, votes = clustered(rng, 30, negative=0.3)
    allowed = np.where(rng.random(30) < 0.3, -np.inf, np.inf)
    found = local_search(points, votes, size=3, radius=9.0, threshold=allowed, rng=rng)
    assert (allowed[found.indices] < 0.0).all()
    if np.isfinite(found.cost):
        assert found.cost == pytest.approx(cost_by_program(points, votes, found.indices, 9.0), rel=1e-8, abs=1e-8)
        others = every_swap(points, votes, found.indices, radius=9.0, threshold=allowed)
        assert (others >= found.cost * (1.0 - 2.0 * TOLERANCE) - 1e-9).all()


@pytest.mark.parametrize("radius", [3.0, 1e6])
@pytest.mark.parametrize("seed", range(5))
def test_no_swap_lowers_the_cost_where_pairs_have_no_arc(seed, radius, monkeypatch):
    """Short lists and few arcs, as with many candidates: what they leave out may not be missed."""
    monkeypatch.setattr("evomix.transport.points._DENSE", 0)
    monkeypatch.setattr("evomix.transport.points._NEAREST", 2)
    monkeypatch.setattr("evomix.selection.serving._SHORTEST", 1)
    rng = np.random.default_rng(100 + seed)
    points, votes = clustered(rng, 60, negative=0.45)
    if votes.sum() > 0.0:
        found = local_search(points, votes, size=5, radius=radius, rng=rng)
        assert found.gap == 0.0
        others = every_swap(points, votes, found.indices, radius=radius, threshold=0.0)
        assert (others >= found.cost * (1.0 - 2.0 * TOLERANCE) - 1e-9).all()


def test_where_lists_would_be_too_long_some_candidates_are_considered(monkeypatch):
    # The package's name for the function hides the module.
    monkeypatch.setattr(sys.modules["evomix.selection.local_search"], "_MOST_ENTRIES", 2000)
    rng = np.random.default_rng(0)
    points, votes = clustered(rng, 300)
    found = local_search(points, votes, size=4, radius=1e6, rng=rng)
    assert 4 <= found.considered < (votes > 0.0).sum()
    assert found.cost == pytest.approx(ls_cost(points, votes, found.indices, radius=1e6))


def test_votes_that_all_lie_on_selected_points_cost_nothing():
    rng = np.random.default_rng(0)
    points, votes = np.repeat(np.arange(3.0), 400)[:, None], rng.normal(1.0, 2.0, 1200)
    found = local_search(points, votes, size=3, radius=9.0)
    assert (found.cost, found.gap) == (0.0, 0.0)
    assert local_search(np.zeros((3, 1)), [3.0, -1.0, 2.0], size=1, radius=9.0, trials=0).gap == 0.0


@pytest.mark.parametrize(("scale", "radius"), [(1.0, 3e13), (1e-12, np.inf), (1e-12, 1e3), (1e9, np.inf)])
def test_the_only_selected_candidate_is_the_best_at_any_scale(scale, radius):
    points, votes = scale * np.array([[5.0], [1.0], [7.0], [4.0], [8.0]]), np.array([3.0, 3.0, -2.0, 3.0, -4.0])
    found = local_search(points, votes, size=1, radius=radius)
    assert found.indices.tolist() == [1]
    assert found.cost == pytest.approx(19.0 * scale)


def test_a_sum_of_votes_that_is_rounding_counts_as_nothing():
    points, votes = np.arange(3.0)[:, None], [0.3, -0.1, -0.2]
    found = local_search(points, votes, size=1, radius=9.0)
    assert found.cost == pytest.approx(ls_cost(points, votes, [0], radius=9.0)) == pytest.approx(0.5)


@pytest.mark.slow
def test_the_cost_is_within_two_percent_of_the_best_of_twenty_random_starts():
    rng = np.random.default_rng(0)
    points, votes = clustered(rng, 2000, clusters=40, dimension=8)
    above = np.flatnonzero(votes > 0.0)
    ours = local_search(points, votes, size=250, radius=1e6)
    starts = [rng.choice(above, 250, replace=False) for _ in range(20)]
    best = min(local_search(points, votes, size=250, radius=1e6, start=start).cost for start in starts)
    assert ours.gap == 0.0
    assert ours.cost <= 1.02 * best


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"points": np.ones(3)}, "points"),
        ({"points": np.full((3, 2), np.nan)}, "finite"),
        ({"votes": np.ones(2)}, "votes"),
        ({"votes": np.array([1.0, np.inf, 1.0])}, "finite"),
        ({"size": 0}, "size"),
        ({"radius": 0.0}, "radius"),
        ({"radius": np.nan}, "radius"),
        ({"start": [0, 0]}, "start"),
        ({"start": [0, 2], "threshold": np.array([0.0, 0.0, 2.0])}, "start"),
        ({"threshold": np.nan}, "threshold"),
        ({"threshold": np.ones(2)}, "threshold"),
    ],
)
def test_bad_arguments_are_refused(change, word):
    arguments = {"points": np.eye(3), "votes": np.ones(3), "size": 2, "radius": 1.0, "threshold": 0.0} | change
    points, votes = arguments.pop("points"), arguments.pop("votes")
    with pytest.raises(SpecError, match=word):
        local_search(points, votes, **arguments)
