import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix import privacy
from evomix.core.errors import SpecError
from evomix.experiment.stand_ins import ASSUMED_PROXIMITY, MOST_STAND_INS, falling_votes, public_votes

NEAR, FAR = [0.5, 0.3, 0.2, 0.0], [0.1, 0.1, 0.3, 0.5]


def _distance(p, q):
    return 0.5 * float(np.abs(np.asarray(p) - np.asarray(q)).sum())


@given(st.integers(2, 40), st.floats(0.0, 0.6), st.integers(0, 2**32))
def test_a_single_histogram_is_moved_by_its_proximity_exactly(size, gamma, seed):
    rng = np.random.default_rng(seed)
    public = rng.dirichlet(np.full(size, 0.5))
    for one in public_votes(public, gamma).stand_ins(rng):
        assert one.public is not None
        assert one.votes.min() >= 0.0
        assert one.votes.sum() == pytest.approx(1.0)
        # At most the mass of all candidates but one can move.
        assert _distance(one.votes, public) <= gamma + 1e-9
        if gamma <= 1.0 - public.max():
            assert _distance(one.votes, public) == pytest.approx(gamma, abs=1e-9)


def test_directions_differ_and_come_back_with_the_seed():
    votes = public_votes(np.full(50, 0.02), 0.3)
    first, again = (votes.stand_ins(np.random.default_rng(3)) for _ in range(2))
    assert all((a.votes == b.votes).all() for a, b in zip(first, again, strict=True))
    assert _distance(first[0].votes, first[1].votes) > 0.1


def test_proximity_one_moves_as_much_as_can_be_moved():
    (one, *_) = public_votes([0.25, 0.75], 1.0).stand_ins(np.random.default_rng(0))
    assert _distance(one.votes, [0.25, 0.75]) in (pytest.approx(0.25), pytest.approx(0.75))
    (point, *_) = public_votes([1.0, 0.0, 0.0], 0.4).stand_ins(np.random.default_rng(0))
    assert point.votes.sum() == pytest.approx(1.0)


def test_one_candidate_has_nowhere_to_go():
    assert [one.votes.tolist() for one in public_votes([1.0], 0.5).stand_ins(np.random.default_rng(0))] == [[1.0]] * 5


def test_of_several_histograms_each_is_held_out_beside_the_mean_of_the_others():
    rows = [NEAR, FAR, [0.25] * 4]
    found = public_votes(rows, "auto").stand_ins(np.random.default_rng(0))
    assert [one.votes.tolist() for one in found] == rows
    assert found[0].public == pytest.approx((np.array(FAR) + 0.25) / 2)


def test_no_more_histograms_are_held_out_than_tell_something_new():
    rows = np.random.default_rng(0).dirichlet(np.ones(5), size=20)
    assert len(public_votes(list(rows), "auto").stand_ins(np.random.default_rng(0))) == MOST_STAND_INS


def test_proximity_comes_from_the_user_or_from_the_histograms():
    assert public_votes(NEAR, "auto").proximity == ASSUMED_PROXIMITY == 0.5
    assert public_votes([NEAR, FAR], "auto").proximity == privacy.proximity([NEAR, FAR]) == pytest.approx(0.6)
    assert public_votes([NEAR, FAR], 0.2).proximity == 0.2
    assert public_votes(None, 0.2) is None


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10])
def test_coarsening_joins_neighbours_and_never_takes_distributions_apart(size):
    rows = list(np.random.default_rng(1).dirichlet(np.ones(10), size=3))
    fine = public_votes(rows, "auto")
    coarse = fine.coarsened(size)
    assert coarse.candidates == size
    assert coarse.proximity == fine.proximity
    for before, after in zip(fine.histograms, coarse.histograms, strict=True):
        assert after.sum() == pytest.approx(1.0)
        assert np.isin(np.cumsum(after).round(9), np.cumsum(before).round(9)).all()
    assert _distance(coarse.histograms[0], coarse.histograms[1]) <= _distance(rows[0], rows[1]) + 1e-12
    assert fine.coarsened(99) is fine


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([NEAR, [0.5, 0.5]], "found lengths 4, 2"),
        ([NEAR, 0.5], "mixture of both"),
        ([0.5, [0.5]], "mixture of both"),
        ("x", "other things than numbers"),
        (["0.5", "0.5"], "other things than numbers"),
        ([True], "other things than numbers"),
        ([10**400, 1], "other things than numbers"),
        (5, "other things than numbers"),
        ([NEAR, FAR, NEAR], "1 and 3 are the same"),
        ([], "public_histogram"),
        ([0.5, 0.4], "must sum to 1"),
        ([NEAR, [0.5, 0.5, 0.5, -0.5]], r"public_histogram\[1\]"),
    ],
)
def test_what_is_no_histogram_is_refused(wrong, said):
    with pytest.raises(SpecError, match=said):
        public_votes(wrong, "auto")


def test_without_public_votes_the_votes_fall_off():
    one = falling_votes(4)
    assert one.public is None
    assert one.votes == pytest.approx(np.array([12, 6, 4, 3]) / 25)
