import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.core.release import Draws, NoisyVotes
from evomix.selection import rank, subsample
from evomix.selection.subsample import draw_systematic


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30).filter(any), st.integers(1, 200), st.integers(0, 99))
def test_systematic_counts_are_within_one_of_their_share(weights, size, seed):
    shares = np.array(weights) / sum(weights)
    drawn = draw_systematic(shares, size, np.random.default_rng(seed))
    counts = np.bincount(drawn, minlength=len(weights))
    assert drawn.dtype == np.int64
    assert counts.sum() == size
    assert (np.abs(counts - size * shares) < 1.0 + 1e-9).all()
    assert (counts[shares == 0.0] == 0).all()


def test_systematic_draws_are_unbiased_and_in_random_order():
    rng = np.random.default_rng(5)
    shares = np.array([0.05, 0.31, 0.0, 0.64])
    draws = np.array([draw_systematic(shares, 7, rng) for _ in range(20_000)])
    np.testing.assert_allclose((draws[..., None] == np.arange(4)).mean(axis=(0, 1)), shares, atol=0.003)
    # The law of any one place is that of the shares: nobody who keeps a part keeps a biased part.
    np.testing.assert_allclose((draws[:, :1, None] == np.arange(4)).mean(axis=(0, 1)), shares, atol=0.015)


class _AlmostOne:
    """Draws the largest number below one, where points round up to the end of the range."""

    def random(self):
        return 1.0 - 2.0**-53

    def permutation(self, positions):
        return positions


def test_rounding_at_the_end_draws_nothing_without_a_share():
    drawn = draw_systematic(np.array([0.5, 0.5, 0.0]), 5000, _AlmostOne())
    assert drawn.max() == 1


def test_subsample_follows_the_votes_and_drops_what_is_noise():
    votes = NoisyVotes(np.array([600.0, 300.0, 4.0, -6.0, 102.0]), 5.0, 1000)
    counts = np.bincount(subsample(votes, 1000, np.random.default_rng(0)), minlength=5)
    np.testing.assert_allclose(counts, [600, 300, 4, 0, 102], atol=2.0)


def test_subsample_of_draws_takes_the_noise_out():
    noise = np.array([0.0, 0.5, 0.5])
    release = Draws(np.array([500_000, 250_000, 250_000]), 0.5, noise, 10)
    counts = np.bincount(subsample(release, 1000, np.random.default_rng(0)), minlength=3)
    np.testing.assert_allclose(counts, [1000, 0, 0], atol=2)


def test_rank_orders_by_estimate_with_ties_to_the_lowest_position():
    votes = NoisyVotes(np.array([1.0, 5.0, 3.0, 5.0, -2.0]), 1.0, 10)
    rng = np.random.default_rng(0)
    assert rank(votes, 4, rng).tolist() == [1, 3, 2, 0]
    assert rank(votes, 7, rng).tolist() == [1, 3, 2, 0, 4, 1, 3]
    many = NoisyVotes(np.repeat([2.0, 1.0], 500)[np.arange(1000) * 7 % 1000], 1.0, 10)
    expected = sorted(range(1000), key=lambda position: -many.votes[position])  # Python's sort keeps ties in order
    assert rank(many, 1000, rng).tolist() == expected


def test_rank_reads_draws_without_their_noise():
    release = Draws(np.array([40, 35, 25]), 0.5, np.array([0.8, 0.1, 0.1]), 10)
    assert rank(release, 3, np.random.default_rng(0)).tolist() == [1, 2, 0]


def test_rank_uses_no_randomness():
    rng = np.random.default_rng(4)
    before = rng.bit_generator.state
    rank(NoisyVotes(np.zeros(3), 1.0, 3), 2, rng)
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("size", [1, 2, 5000])
def test_one_candidate_is_always_chosen(size):
    one = NoisyVotes(np.array([-9.0]), 3.0, 5)
    assert set(subsample(one, size, np.random.default_rng(0))) == {0}
    assert set(rank(one, size, np.random.default_rng(0))) == {0}
