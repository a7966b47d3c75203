"""What all releases say together; proof: docs/proofs/post_processing.md, section 7."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.core.release import Draws, NoisyVotes
from evomix.selection.pooling import RESIDUE, pooled_shares
from evomix.selection.shares import vote_shares

UNITS = 2000
LAW = np.array([0.4, 0.1, 0.2, 0.05, 0.25, 0.0])
CELLS = [np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 2, 2]), np.array([0, 1, 2, 2, 1, 0])]
"""Three rounds of three candidates, and which of them is nearest to each of six pooled ones."""


def _shares(law, cells):
    return np.bincount(cells, weights=law, minlength=3)


def _votes(law, cells, stddev, rng):
    return NoisyVotes(UNITS * _shares(law, cells) + rng.normal(0.0, stddev, 3), stddev, UNITS)


def _draws(law, cells, weight, rng, noise=None):
    noise = np.full(3, 1 / 3) if noise is None else noise
    return Draws(rng.multinomial(1500, (1 - weight) * _shares(law, cells) + weight * noise), weight, noise, UNITS)


def _residues(releases, cells, law):
    """Squared residues in variances of the noise, and their number, written out once more."""
    total, count = 0.0, 0
    for release, of in zip(releases, cells, strict=True):
        found = release.shares()
        missed = found - np.bincount(of, weights=law, minlength=len(found))
        total += float((missed**2).sum()) * len(found) / release.error()
        count += len(found)
    return total, count


def test_without_noise_every_round_is_met():
    releases = [NoisyVotes(UNITS * _shares(LAW, of), 0.0, UNITS) for of in CELLS]
    found = pooled_shares(releases, CELLS)
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0.0).all()
    for of in CELLS:
        np.testing.assert_allclose(_shares(found, of), _shares(LAW, of), atol=2e-3)


def test_rounds_together_tell_what_no_round_tells_alone():
    """Cells 0 and 1 of the first round are split by the second: neither knows candidate 0's share by itself."""
    releases = [NoisyVotes(UNITS * _shares(LAW, of), 0.0, UNITS) for of in CELLS]
    together = pooled_shares(releases, CELLS)
    alone = [pooled_shares([release], [of]) for release, of in zip(releases, CELLS, strict=True)]
    assert np.abs(together - LAW).sum() < 0.5 * min(np.abs(one - LAW).sum() for one in alone)


@pytest.mark.parametrize("kind", ["votes", "draws", "shaped draws", "both"])
def test_more_rounds_come_nearer_than_the_last_alone(kind):
    """Twelve rounds ask the same question: their mean has a twelfth of the variance. 40 sums of independent errors."""
    made = {
        "votes": lambda rng, _: _votes(LAW, CELLS[0], 300.0, rng),
        "draws": lambda rng, _: _draws(LAW, CELLS[0], 0.9, rng),
        "shaped draws": lambda rng, _: _draws(LAW, CELLS[0], 0.9, rng, np.array([0.1, 0.7, 0.2])),
        "both": lambda rng, index: _votes(LAW, CELLS[0], 300.0, rng) if index % 2 else _draws(LAW, CELLS[0], 0.9, rng),
    }[kind]
    errors = np.zeros(2)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        releases = [made(rng, index) for index in range(12)]
        found = _shares(pooled_shares(releases, [CELLS[0]] * 12), CELLS[0])
        truth = _shares(LAW, CELLS[0])
        errors += [np.abs(found - truth).sum(), np.abs(vote_shares(releases[-1]) - truth).sum()]
    assert errors[0] < 0.7 * errors[1]


def test_a_precise_round_counts_more_than_a_noisy_one():
    rng = np.random.default_rng(0)
    away = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    precise, noisy = _votes(LAW, CELLS[0], 1.0, rng), _votes(away, CELLS[0], 4000.0, rng)
    for order in ([precise, noisy], [noisy, precise]):
        found = _shares(pooled_shares(order, [CELLS[0]] * 2), CELLS[0])
        np.testing.assert_allclose(found, _shares(LAW, CELLS[0]), atol=0.01)


def test_the_fit_stops_where_noise_explains_what_is_left():
    rng = np.random.default_rng(1)
    cells = [rng.integers(0, 50, 2000) for _ in range(10)]
    law = rng.dirichlet(np.full(2000, 0.05))
    releases = [
        NoisyVotes(UNITS * np.bincount(of, weights=law, minlength=50) + rng.normal(0.0, 8.0, 50), 8.0, UNITS)
        for of in cells
    ]
    total, count = _residues(releases, cells, pooled_shares(releases, cells))
    assert 0.7 * RESIDUE * count < total <= RESIDUE * count
    assert _residues(releases, cells, np.full(2000, 1 / 2000))[0] > 2.0 * count  # it had somewhere to go


def test_releases_that_tell_nothing_change_nothing():
    rng = np.random.default_rng(2)
    telling = _votes(LAW, CELLS[0], 10.0, rng)
    noise = np.array([0.8, 0.1, 0.1])
    empty = [Draws(np.array([9, 1, 0]), 1.0, noise, UNITS), Draws(np.zeros(3, np.int64), 0.1, noise, UNITS)]
    with_them = pooled_shares([telling, *empty], CELLS)
    np.testing.assert_allclose(with_them, pooled_shares([telling], CELLS[:1]), rtol=1e-9)
    np.testing.assert_allclose(pooled_shares(empty, CELLS[:2]), 1 / 6)


def _beside(prior, stddev, rng):
    return [
        NoisyVotes(release.votes, release.stddev, UNITS, _shares(prior, of))
        for release, of in ((_votes(LAW, of, stddev, rng), of) for of in CELLS)
    ]


def test_public_votes_are_where_the_fit_starts_and_give_way_where_they_are_wrong():
    rng = np.random.default_rng(3)
    vague = _beside(LAW, 4000.0, rng)
    near = pooled_shares(vague, CELLS, public_voters=5000)
    assert np.abs(near - LAW).sum() < 0.7 * np.abs(pooled_shares(vague, CELLS) - LAW).sum()
    wrong = _beside(LAW[::-1], 2.0, rng)
    found = pooled_shares(wrong, CELLS, public_voters=5000)
    for of in CELLS:
        np.testing.assert_allclose(_shares(found, of), _shares(LAW, of), atol=0.02)


@given(
    stddev=st.sampled_from([0.0, 1e-12, 1.0, 1e9, 1e150]),
    size=st.integers(1, 30),
    rounds=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_result_is_a_distribution_whatever_the_noise(stddev, size, rounds, seed):
    rng = np.random.default_rng(seed)
    cells = [rng.integers(0, 3, size) for _ in range(rounds)]
    releases = [NoisyVotes(rng.normal(0.0, max(stddev, 1.0), 3), stddev, UNITS, np.full(3, 1 / 3)) for _ in cells]
    for voters in (None, 1, 10**6):
        found = pooled_shares(releases, cells, public_voters=voters)
        assert np.isfinite(found).all()
        assert (found >= 0.0).all()
        assert found.sum() == pytest.approx(1.0)


def test_few_draws_on_one_candidate_do_not_silence_a_good_round():
    """They seem to be without error: 1 − Σ(c/m)² is 0."""
    good = NoisyVotes(UNITS * np.array([0.5, 0.25, 0.25]), 1.0, UNITS)
    for few in ([2, 0, 0], [0, 0, 2], [0, 7, 0]):
        found = pooled_shares([good, Draws(np.array(few), 0.5, np.full(3, 1 / 3), UNITS)], [CELLS[0], CELLS[1]])
        np.testing.assert_allclose(_shares(found, CELLS[0]), [0.5, 0.25, 0.25], atol=0.01)


@pytest.mark.parametrize("one", [Draws(np.array([500]), 0.5, np.ones(1), UNITS), NoisyVotes(np.ones(1), 0.0, UNITS)])
def test_a_round_of_one_candidate_changes_nothing(one):
    good = NoisyVotes(UNITS * np.array([0.5, 0.25, 0.25]), 1.0, UNITS)
    found = pooled_shares([good, one], [CELLS[0], np.zeros(6, np.int64)])
    np.testing.assert_allclose(_shares(found, CELLS[0]), [0.5, 0.25, 0.25], atol=0.01)


def test_public_votes_that_all_fall_on_one_candidate_are_no_exact_law():
    vague = [
        NoisyVotes(np.zeros(3), 1e9, UNITS, np.array([0.1, 0.3, 0.6])),
        NoisyVotes(np.zeros(3), 1e9, UNITS, np.array([1.0, 0.0, 0.0])),
    ]
    found = pooled_shares(vague, [CELLS[0], np.zeros(6, np.int64)], public_voters=1000)
    np.testing.assert_allclose(_shares(found, CELLS[0]), 0.9 * np.array([0.1, 0.3, 0.6]) + 0.1 / 3, atol=0.02)
    alone = pooled_shares(vague[1:], CELLS[1:2], public_voters=1)
    assert alone.max() < 0.5  # one person is no law


def test_releases_that_cannot_tell_leave_public_votes_where_they_are():
    for seed in range(20):
        found = pooled_shares(_beside(LAW, 20_000.0, np.random.default_rng(seed)), CELLS, public_voters=5000)
        assert np.abs(found - LAW).sum() < 0.5
    noise = [Draws(np.array([9, 1, 0]), 1.0, np.full(3, 1 / 3), UNITS, _shares(LAW, of)) for of in CELLS]
    np.testing.assert_allclose(
        _shares(pooled_shares(noise, CELLS, public_voters=5000), CELLS[0]),
        0.9 * _shares(LAW, CELLS[0]) + 0.1 / 3,
        atol=0.02,
    )


def test_a_release_without_public_votes_may_stand_beside_those_with_them():
    rng = np.random.default_rng(4)
    mixed = [*_beside(LAW, 5.0, rng)[:2], _votes(LAW, CELLS[2], 5.0, rng)]
    found = pooled_shares(mixed, CELLS, public_voters=5000)
    np.testing.assert_allclose(_shares(found, CELLS[2]), _shares(LAW, CELLS[2]), atol=0.03)


def test_steps_that_overflow_are_not_taken():
    releases = [
        NoisyVotes(np.array([-15.5, -22.0, 95.95, 9.93]), 9.3e-16, 100),
        NoisyVotes(np.array([100.0]), 3.35e-17, 100),
        NoisyVotes(np.array([100.0, 0.0]), 0.0, 100),
        Draws(np.array([1, 0]), 0.5, np.array([0.5, 0.5]), 100),
    ]
    cells = [np.array(of) for of in ([3, 2, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0])]
    assert pooled_shares(releases, cells).sum() == pytest.approx(1.0)
