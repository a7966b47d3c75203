"""What is certain stays as it was released, what is noise goes back to what was expected, level by level."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.core.release import NoisyVotes
from evomix.marginals.denoising import COARSE_CELLS, FIRST_CELLS, coarse_cells, denoised, denoised_by_levels
from evomix.selection.empirical_bayes import empirical_bayes

UNITS = 10_000


def _prior(release):
    """Believe nothing that was released."""
    return release.prior


def _shares(release):
    """Believe all that was released."""
    return release.shares()


def _release(shares, *, stddev, rng=None):
    votes = UNITS * np.asarray(shares, float)
    return NoisyVotes(votes if rng is None else votes + rng.normal(0.0, stddev, len(votes)), stddev, UNITS)


def _summed(shares):
    return np.bincount(coarse_cells(len(shares)), shares)


def _hump(size, *, at=0.3, width=0.05):
    found = np.exp(-(((np.arange(size) / size - at) / width) ** 2)) + 1e-9
    return found / found.sum()


def test_the_prior_is_a_distribution_even_where_nothing_was_expected():
    seen = []

    def estimate(release):
        seen.append(release.prior)
        return release.prior

    denoised(_release([1.0, 0.0], stddev=1.0), np.array([0.0, 3.0]), estimate)
    assert seen[0].sum() == pytest.approx(1.0)
    assert seen[0].tolist() == [0.0, 1.0]  # what was not expected at all has a law of its own in the estimate
    denoised(_release([1.0, 0.0], stddev=1.0), np.zeros(2), estimate)
    assert seen[1].tolist() == [0.5, 0.5]


def test_only_columns_of_many_codes_are_counted_coarsely_too():
    assert coarse_cells(2 * COARSE_CELLS) is None
    for size in (2 * COARSE_CELLS + 1, 1000, 1025):
        groups = coarse_cells(size)
        assert (np.diff(groups) >= 0).all()
        sizes = np.bincount(groups)
        assert len(sizes) == COARSE_CELLS
        assert sizes.max() - sizes.min() <= 1


@given(st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_an_exact_release_comes_back_and_a_worthless_one_leaves_what_was_expected(size, seed):
    rng = np.random.default_rng(seed)
    truth, prior = rng.dirichlet(np.ones(size)), rng.dirichlet(np.full(size, 0.3))
    coarse = None if coarse_cells(size) is None else _release(_summed(truth), stddev=0.0)
    exact = denoised_by_levels(_release(truth, stddev=0.0), coarse, prior, empirical_bayes)
    assert exact == pytest.approx(truth, abs=1e-12)
    # Each level hands down what was expected in the same proportions, so nothing is lost on the way.
    noisy = _release(rng.dirichlet(np.ones(size)), stddev=1e9)
    wide = None if coarse is None else _release(_summed(truth), stddev=1e9)
    assert denoised_by_levels(noisy, wide, prior, _prior) == pytest.approx(prior, abs=1e-12)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 16, 65, 128, 129, 500, 1025])
@pytest.mark.parametrize("stddev", [1e-9, 30.0, 1e7])
def test_the_answer_is_a_distribution(size, stddev):
    rng = np.random.default_rng(size)
    truth = _hump(size)
    prior = np.where(np.arange(size) % 3, truth, 0.0) + (1.0 if size == 1 else 0.0)
    coarse = None if coarse_cells(size) is None else _release(_summed(truth), stddev=stddev, rng=rng)
    found = denoised_by_levels(_release(truth, stddev=stddev, rng=rng), coarse, prior + 1e-12, empirical_bayes)
    assert found.shape == (size,)
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0.0).all()


@pytest.mark.parametrize("size", [1000, 1025])
def test_levels_and_coarse_counts_take_away_noise(size):
    rng = np.random.default_rng(3)
    truth, even = _hump(size), np.full(size, 1.0 / size)
    errors = {"flat": [], "levels": [], "coarse": []}
    for _ in range(5):
        fine = _release(truth, stddev=40.0, rng=rng)
        held = None if coarse_cells(size) is None else _release(_summed(truth), stddev=40.0, rng=rng)
        estimates = {
            "flat": denoised(fine, even, empirical_bayes),
            "levels": denoised_by_levels(fine, None, even, empirical_bayes),
            "coarse": denoised_by_levels(fine, held, even, empirical_bayes),
        }
        for name, found in estimates.items():
            errors[name].append(np.abs(found - truth).sum() / 2.0)
    mean = {name: np.mean(found) for name, found in errors.items()}
    assert mean["levels"] < 0.8 * mean["flat"]
    assert mean["coarse"] < 0.9 * mean["levels"]


def test_levels_are_nested_so_that_mass_stays_with_its_parent():
    """Where each level believes its own parents only, a cell's mass never leaves the parent it was found in."""
    size = 4 * FIRST_CELLS
    first = _hump(FIRST_CELLS, at=0.6)
    fine = _release(np.repeat(first, 4) / 4.0, stddev=1.0)

    def of_first_level(release):
        return release.shares() if release.votes.size == FIRST_CELLS else release.prior

    found = denoised_by_levels(fine, None, np.full(size, 1.0 / size), of_first_level)
    assert found.reshape(FIRST_CELLS, 4).sum(axis=1) == pytest.approx(first)
    assert found == pytest.approx(np.repeat(first, 4) / 4.0)  # within it even, as was expected


def test_two_counts_of_the_same_cells_are_weighted_by_how_sure_they_are():
    size = 2 * COARSE_CELLS + 2
    truth = _hump(size)
    wrong = np.roll(_summed(truth), 20)
    fine, even = _release(truth, stddev=1e-6), np.full(size, 1.0 / size)
    sure = denoised_by_levels(fine, _release(wrong, stddev=1e4), even, _shares)
    assert sure == pytest.approx(truth, abs=1e-9)
    coarse = []

    def watched(release):
        if release.votes.size == COARSE_CELLS:
            coarse.append(release)
        return release.shares()

    denoised_by_levels(_release(truth, stddev=30.0), _release(_summed(truth), stddev=40.0), even, watched)
    one, other = 30.0 * np.sqrt(size / COARSE_CELLS), 40.0
    assert coarse[0].stddev == pytest.approx((one**-2 + other**-2) ** -0.5)
    assert coarse[0].votes.sum() == pytest.approx(UNITS)
