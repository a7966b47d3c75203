"""No group is lost for good."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.core.release import Draws, NoisyVotes
from evomix.selection.keeping import KeepingGroups
from evomix.selection.methods import make_selection


class First:
    """Takes the first candidate only."""

    def parents(self, release, candidates, size, rng):
        return np.zeros(size, np.int64)

    def shares(self, release, candidates, size, rng):
        return np.eye(len(candidates))[0]

    def describe(self, release):
        return {"first": True}


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20), st.integers(1, 12), st.integers(0, 99))
def test_each_group_keeps_its_best_as_far_as_there_is_room(groups, size, seed):
    groups, rng = np.array(groups), np.random.default_rng(seed)
    votes = rng.normal(size=len(groups))
    release = NoisyVotes(votes, 1.0, 10)
    chosen = KeepingGroups(First(), lambda _: groups).parents(release, groups, size, rng)
    assert chosen.shape == (size,)
    kept = set(groups[chosen].tolist())
    assert len(kept) == min(size, len(set(groups.tolist())))
    for position in chosen:
        best = votes[groups == groups[position]].max()
        assert position == 0 or votes[position] == best


def test_draws_count_by_their_counts_and_the_rest_is_the_selections():
    release = Draws(np.array([5, 1, 3]), 0.5, np.full(3, 1 / 3), 10)
    keeping = KeepingGroups(First(), lambda _: np.array([0, 1, 1]))
    rng = np.random.default_rng(0)
    assert sorted(keeping.parents(release, np.zeros(3), 4, rng)) == [0, 0, 0, 2]
    assert keeping.shares(release, np.zeros(3), 4, rng).tolist() == [1, 0, 0]
    assert keeping.describe(release) == {"first": True}


@pytest.mark.parametrize("name", ["rank", "subsample"])
def test_what_misses_no_group_stays_as_it_is(name):
    groups, rng = np.array([0, 1, 0, 1]), np.random.default_rng(1)
    release = NoisyVotes(np.array([9.0, 8.0, 7.0, 6.0]), 0.1, 30)
    selection = make_selection(name, vectors=lambda c: c, denoise=lambda r: r.votes / r.votes.sum())
    plain = selection.parents(release, np.zeros((4, 1)), 40, np.random.default_rng(1))
    assert set(groups[plain].tolist()) == {0, 1}
    kept = KeepingGroups(selection, lambda _: groups).parents(release, np.zeros((4, 1)), 40, rng)
    assert kept.tolist() == plain.tolist()
