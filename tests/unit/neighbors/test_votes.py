import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.core.errors import SpecError
from evomix.neighbors.vectors import VectorIndex
from evomix.neighbors.votes import tally


@st.composite
def ballots(draw):
    candidates = draw(st.integers(1, 12))
    count = draw(st.integers(1, candidates))
    rows = draw(st.lists(st.permutations(range(candidates)), max_size=8))
    return np.array([row[:count] for row in rows], dtype=np.int64).reshape(len(rows), count), candidates


@given(ballots(), st.integers(1, 50))
def test_votes_sum_to_the_mass_and_each_record_is_bounded(ballot, mass):
    nearest, candidates = ballot
    votes = tally(nearest, candidates, mass=mass)

    assert votes.dtype == np.int64
    assert votes.shape == (candidates,)
    assert votes.sum() == len(nearest) * mass
    alone = np.array([tally(row[None], candidates, mass=mass) for row in nearest]).reshape(-1, candidates)
    np.testing.assert_array_equal(alone.sum(axis=0), votes)
    assert (alone >= 0).all()
    assert ((alone**2).sum(axis=1) <= mass**2).all()
    shares = np.take_along_axis(alone, nearest, axis=1)
    assert (np.diff(shares, axis=1) <= 0).all()  # nearer ones take what is left over
    assert (shares.max(axis=1, initial=0) - shares.min(axis=1, initial=mass) <= 1).all()


def test_repeated_positions_keep_the_mass():
    assert tally(np.array([[1, 1, 0]]), 3, mass=4).tolist() == [1, 3, 0]


def test_totals_beyond_float64_stay_exact():
    mass = 2**61 + 1
    assert tally(np.array([[0, 1], [0, 1]]), 2, mass=mass).tolist() == [2**61 + 2, 2**61]


@pytest.mark.parametrize(
    ("nearest", "candidates", "mass", "message"),
    [
        (np.zeros((2, 0), np.int64), 3, 1, "count ≥ 1"),
        (np.zeros(2, np.int64), 3, 1, "shape"),
        (np.zeros((2, 1), np.int64), 3, 0, "mass=0"),
        (np.zeros((2, 1), np.int64), 3, 2**62, "mass="),
        (np.array([[3]]), 3, 1, "candidates=3"),
        (np.array([[-1]]), 3, 1, "candidates=3"),
    ],
)
def test_bad_arguments_are_refused(nearest, candidates, mass, message):
    with pytest.raises(SpecError, match=message):
        tally(nearest, candidates, mass=mass)


# Copies, all points in one place, equal distances, large coordinates, zero vectors.
HARD_SETS = {
    "copies": (
        [[0, 0.1], [0, 0.1], [1, 0], [1, 0], [5, 5]],
        [[0, 0], [0, 0.2], [1, 0.1], [0.5, 0.05], [5, 5]],
    ),
    "all_same": ([[1, 1]] * 6, [[1, 1]] * 7),
    "equidistant": ([[1, 0], [-1, 0], [0, 1], [0, -1]], [[0, 0]] * 8),
    "large_coordinates": ([[1e5, 1], [1e5, 1.001], [1e5, 2]], [[1e5, 1.0004], [1e5, 1.9]]),
    "zero_vectors": ([[0, 0], [1, 0]], [[0, 0], [0, 0], [1, 0]]),
}


def votes_of(candidates, records, count, metric):
    nearest = VectorIndex(np.array(candidates, float), metric=metric).nearest(np.array(records, float), count)
    return tally(nearest, len(candidates), mass=2)


@pytest.mark.parametrize(("name", "count", "metric", "expected"), [
    ("copies", 1, "l2", [6, 0, 2, 0, 2]),
    ("copies", 2, "l2", [3, 3, 2, 1, 1]),
    ("all_same", 1, "l2", [14, 0, 0, 0, 0, 0]),
    ("all_same", 2, "cosine", [7, 7, 0, 0, 0, 0]),
    ("equidistant", 1, "l2", [16, 0, 0, 0]),
    ("equidistant", 2, "l2", [8, 8, 0, 0]),
    ("equidistant", 1, "cosine", [16, 0, 0, 0]),
    ("large_coordinates", 1, "l2", [2, 0, 2]),
    ("zero_vectors", 1, "l2", [4, 2]),
    ("zero_vectors", 1, "cosine", [4, 2]),
])  # fmt: skip
def test_hard_sets_by_hand(name, count, metric, expected):
    assert votes_of(*HARD_SETS[name], count, metric).tolist() == expected


@pytest.mark.parametrize("name", HARD_SETS)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("metric", ["l2", "cosine"])
def test_hard_sets_under_permutation(name, count, metric):
    candidates, records = HARD_SETS[name]
    votes = votes_of(candidates, records, count, metric)
    rng = np.random.default_rng(0)

    assert votes.sum() == 2 * len(records)
    for _ in range(5):
        shuffled = [records[i] for i in rng.permutation(len(records))]
        np.testing.assert_array_equal(votes_of(candidates, shuffled, count, metric), votes)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("metric", ["l2", "cosine"])
def test_permuted_candidates_permute_the_votes_where_nothing_ties(count, metric):
    rng = np.random.default_rng(0)
    candidates, records = rng.normal(size=(40, 3)), rng.normal(size=(100, 3))
    order = rng.permutation(40)
    votes = votes_of(candidates, records, count, metric)
    np.testing.assert_array_equal(votes_of(candidates[order], records, count, metric), votes[order])
