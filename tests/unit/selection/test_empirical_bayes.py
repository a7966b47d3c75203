"""The learned prior against a known one (docs/proofs/post_processing.md, section 6)."""

import numpy as np
import pytest
from scipy.stats import norm, poisson

from evomix.core.release import Draws, NoisyVotes
from evomix.selection.denoising import DENOISINGS, shrunk, signed
from evomix.selection.empirical_bayes import empirical_bayes
from evomix.selection.shares import project_to_simplex

SIZE, UNITS = 1500, 20_000
RATIOS, CHANCES = np.array([0.0, 0.5, 6.0]), np.array([0.6, 0.3, 0.1])


def world(seed):
    """Return public shares and private ones whose ratio to them follows the law (RATIOS, CHANCES)."""
    rng = np.random.default_rng(seed)
    public = rng.dirichlet(np.full(SIZE, 3.0))
    private = public * rng.choice(RATIOS, p=CHANCES, size=SIZE)
    return rng, public, private / private.sum(), private.sum()


def release_of(kind, rng, public, private):
    if kind == "votes":
        return NoisyVotes(UNITS * private + rng.normal(0, 15.0, SIZE), 15.0, UNITS, public)
    noise = np.full(SIZE, 1 / SIZE)
    return Draws(rng.multinomial(8000, 0.6 * private + 0.4 * noise), 0.4, noise, UNITS, public)


def oracle(release, public, scale):
    """Return the posterior means under the true law of the ratios, by the definition."""
    means = public[:, None] * RATIOS / scale
    if isinstance(release, NoisyVotes):
        fit = norm.pdf(release.votes[:, None], UNITS * means, release.stddev)
    else:
        fit = poisson.pmf(release.counts[:, None], 8000 * (0.6 * means + 0.4 / SIZE))
    fit = fit * CHANCES
    posterior = (fit * means).sum(axis=1) / fit.sum(axis=1)
    return posterior / posterior.sum()


def squared(estimate, private):
    return float(((estimate - private) ** 2).sum())


@pytest.mark.parametrize("kind", ["votes", "draws"])
def test_a_learned_law_is_nearly_as_good_as_the_true_one(kind):
    learned, known, linear = [], [], []
    for seed in range(5):
        rng, public, private, scale = world(seed)
        release = release_of(kind, rng, public, private)
        learned.append(squared(empirical_bayes(release), private))
        known.append(squared(oracle(release, public, scale), private))
        linear.append(squared(project_to_simplex(shrunk(release)), private))
    assert np.mean(known) <= np.mean(learned) <= 1.6 * np.mean(known)
    assert np.mean(learned) < 0.45 * np.mean(linear)


@pytest.mark.parametrize("kind", ["votes", "draws"])
def test_what_is_the_same_as_public_is_left_as_public(kind):
    rng, public, _, _ = world(0)
    release = release_of(kind, rng, public, public)
    assert squared(empirical_bayes(release), public) < 0.05 * release.error()


def test_much_signal_is_believed():
    rng, public, private, _ = world(1)
    noise = np.full(SIZE, 1 / SIZE)
    draws = Draws(rng.multinomial(10**9, 0.6 * private + 0.4 * noise), 0.4, noise, UNITS, public)
    votes = NoisyVotes(1e9 * private + rng.normal(0, 100.0, SIZE), 100.0, 10**9, public)
    for release in (draws, votes):
        assert squared(empirical_bayes(release), private) < 1.1 * squared(signed(release), private)


def test_candidates_without_public_votes_get_what_the_release_says_they_have_together():
    rng = np.random.default_rng(2)
    public = np.concatenate([np.full(500, 1 / 500), np.zeros(500)])
    private = np.concatenate([np.full(500, 0.7 / 500), np.full(500, 0.3 / 500)])
    noise = np.full(1000, 1 / 1000)
    release = Draws(rng.multinomial(20_000, 0.7 * private + 0.3 * noise), 0.3, noise, UNITS, public)
    found = empirical_bayes(release)
    assert found[500:].sum() == pytest.approx(0.3, abs=0.03)
    assert squared(found, private) < 0.1 * release.error()
    nothing_new = Draws(np.where(public > 0, 40, 0), 0.0, noise, UNITS, public)
    assert empirical_bayes(nothing_new)[500:].sum() == 0.0


def test_what_is_unseen_in_public_data_does_not_blur_what_is_seen():
    def error(rest):
        """Return the error on candidates that are as public says, beside others with a share of ``rest``."""
        size = 500 + rest.size
        public = np.where(np.arange(size) < 500, 1 / 500, 0.0)
        private = np.concatenate([np.full(500, 0.7 / 500), 0.3 * rest])
        noise = np.full(size, 1 / size)
        found = []
        for seed in range(5):
            counts = np.random.default_rng(seed).multinomial(3000, 0.5 * private + 0.5 * noise)
            found.append(squared(empirical_bayes(Draws(counts, 0.5, noise, UNITS, public))[:500], private[:500]))
        return np.mean(found)

    scattered = np.where(np.arange(500) % 10 == 0, 1 / 50, 0.0)
    assert error(scattered) < 2.0 * error(np.full(500, 1 / 500))


@pytest.mark.parametrize("kind", ["votes", "draws"])
def test_without_public_votes_it_is_nearer_than_any_estimate_that_learns_no_prior(kind):
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        private = np.exp(rng.normal(0, 1.5, 800))
        private /= private.sum()
        noise = np.full(800, 1 / 800)
        draws = Draws(rng.multinomial(1000, 0.5 * private + 0.5 * noise), 0.5, noise, UNITS)
        votes = NoisyVotes(UNITS * private + rng.normal(0, 80.0, 800), 80.0, UNITS)
        release = votes if kind == "votes" else draws
        found.append([np.abs(project_to_simplex(denoise(release)) - private).sum() for denoise in DENOISINGS.values()])
    reached = dict(zip(DENOISINGS, np.mean(found, axis=0), strict=True))
    learned = reached.pop("bayes")
    assert learned < 0.92 * min(reached.values())


def test_nothing_released_gives_the_prior():
    public, noise = np.array([0.2, 0.8]), np.array([0.5, 0.5])
    for release in (
        Draws(np.array([0, 0]), 0.3, noise, 10, public),
        Draws(np.array([9, 1]), 1.0, noise, 10, public),
        NoisyVotes(np.array([5.0, 5.0]), np.inf, 10, public),
    ):
        np.testing.assert_array_equal(empirical_bayes(release), public)
    np.testing.assert_allclose(empirical_bayes(NoisyVotes(np.array([8.0, 2.0]), 0.0, 10, public)), [0.8, 0.2])
    np.testing.assert_allclose(empirical_bayes(NoisyVotes(np.array([8.0, 2.0]), 1e9, 10, public)), public, atol=0.1)


@pytest.mark.parametrize("prior", [None, "small", "smallest"])
@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0 - 1e-8, 1.0 - 2.0**-53])
@pytest.mark.parametrize("draws", [1, 2, 10**6])
def test_hardly_any_signal_and_tiny_shares_stay_numbers(draws, weight, prior):
    rng = np.random.default_rng(0)
    noise = np.full(50, 1 / 50)
    public = None if prior is None else np.full(50, 1e-200 if prior == "small" else 5e-324)
    if public is not None:
        public[0] = 1.0
    found = empirical_bayes(Draws(rng.multinomial(draws, noise), weight, noise, UNITS, public))
    assert (found >= 0.0).all()
    assert found.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("stddev", [5e-324, 1e-300, 1e-160, 1e-5, 1e100, 1e149, 1e153, 1e154, 1e300])
def test_noise_of_any_size_stays_a_number(stddev):
    public = np.array([1.0, 0.0, 1e-310, 0.0])
    for units in (1, 10**9):
        votes = np.array([0.6, 0.2, 0.2, 0.0]) * units
        found = empirical_bayes(NoisyVotes(votes, stddev, units, public))
        assert (found >= 0.0).all()
        assert found.sum() == pytest.approx(1.0)
        if stddev < 1e-100:
            assert found == pytest.approx(votes / units)


def test_a_share_that_public_data_hardly_has_is_found_all_the_same():
    public = np.array([1.0, 1e-250])
    found = empirical_bayes(NoisyVotes(np.array([700.0, 300.0]), 1.0, 1000, public))
    assert found == pytest.approx([0.7, 0.3], abs=0.02)
