"""Denoisings by their definition (docs/proofs/post_processing.md)."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from evomix.core.errors import SpecError
from evomix.core.release import Draws, NoisyVotes
from evomix.selection import rank, subsample
from evomix.selection.denoising import (
    DENOISINGS,
    POOLED,
    choose_denoising,
    denoising,
    likelihood,
    none,
    posterior_weights,
    signed,
)
from evomix.selection.shares import project_to_simplex, vote_shares

UNIFORM = np.full(6, 1 / 6)
PUBLIC = np.array([0.5, 0.2, 0.1, 0.1, 0.1, 0.0])
RELEASES = {
    "draws": Draws(np.array([400, 30, 20, 250, 20, 10]), 0.2, UNIFORM, 67),
    "draws beside public votes": Draws(np.array([400, 30, 20, 250, 20, 10]), 0.2, UNIFORM, 67, PUBLIC),
    "all draws on one": Draws(np.array([0, 0, 900, 0, 0, 0]), 0.9, UNIFORM, 67, PUBLIC),
    "one draw": Draws(np.array([0, 0, 1, 0, 0, 0]), 0.2, UNIFORM, 67),
    "one draw of what public data lack": Draws(np.array([0, 0, 0, 0, 0, 1]), 0.2, UNIFORM, 67, PUBLIC),
    "no draws": Draws(np.zeros(6, np.int64), 0.2, UNIFORM, 67),
    "no draws beside public votes": Draws(np.zeros(6, np.int64), 0.2, UNIFORM, 67, PUBLIC),
    "no noise": Draws(np.array([1, 2, 3, 4, 5, 0]), 0.0, UNIFORM, 67, PUBLIC),
    "noise only": Draws(np.array([1, 2, 3, 4, 5, 6]), 1.0, UNIFORM, 67, PUBLIC),
    "nearly noise only": Draws(np.array([1, 2, 3, 4, 5, 6]), 1.0 - 2.0**-53, UNIFORM, 67, PUBLIC),
    "noise in one place, drawn elsewhere": Draws(np.array([3, 0, 0, 9, 0, 0]), 0.5, np.eye(6)[3], 67),
    "nobody": Draws(np.array([1, 2, 3, 4, 5, 6]), 0.5, UNIFORM, 0, PUBLIC),
    "one candidate": Draws(np.array([50]), 0.3, np.ones(1), 67, np.ones(1)),
    "many draws": Draws(np.array([2**40, 1, 0, 2**50, 7, 0]), 0.3, UNIFORM, 10**9, PUBLIC),
    "votes": NoisyVotes(np.array([40.0, 3.0, -2.0, 25.0, 0.0, 1.0]), 2.0, 67),
    "votes beside public votes": NoisyVotes(np.array([40.0, 3.0, -2.0, 25.0, 0.0, 1.0]), 2.0, 67, PUBLIC),
    "exact votes": NoisyVotes(np.array([40.0, 3.0, 0.0, 24.0, 0.0, 0.0]), 0.0, 67, PUBLIC),
    "no positive vote": NoisyVotes(np.array([-5.0, -1.0, -900.0, -1.0, 0.0, -7.0]), 300.0, 67, PUBLIC),
    "huge noise": NoisyVotes(np.array([1e300, -1e300, 1e299, 5.0, 0.0, 1.0]), 1e300, 1, PUBLIC),
    "noise far beyond its size": NoisyVotes(np.array([1e100, -1e100, 1.0, 5.0, 0.0, 1.0]), 1.0, 1, PUBLIC),
    "unbounded noise": NoisyVotes(np.ones(6), np.inf, 5, PUBLIC),
    "votes of nobody": NoisyVotes(np.array([1.0, -2.0, 0.5, 0.0, 0.0, 0.0]), 2.0, 0, PUBLIC),
    "one candidate's votes": NoisyVotes(np.array([-3.0]), 2.0, 67),
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", DENOISINGS)
def test_every_release_gives_a_distribution_and_is_left_as_it_was(name, release):
    given_release = RELEASES[release]
    before = given_release.shares().copy()
    point = DENOISINGS[name](given_release)
    assert np.isfinite(point).all()
    shares = vote_shares(given_release, DENOISINGS[name])
    assert shares.shape == before.shape
    assert shares.min() >= 0.0
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(given_release.shares(), before)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_release_that_is_no_number_is_refused(wrong):
    with pytest.raises(ValueError, match="finite"):
        NoisyVotes(np.array([1.0, wrong]), 1.0, 5)
    with pytest.raises(ValueError, match="standard deviation"):
        NoisyVotes(np.array([1.0, 2.0]), -abs(wrong), 5)
    with pytest.raises(ValueError, match="mixing weight"):
        Draws(np.array([1, 2]), wrong, UNIFORM[:2], 5)
    with pytest.raises(ValueError, match="noise masses"):
        Draws(np.array([1, 2]), 0.5, np.array([-abs(wrong), 1.0]), 5)
    with pytest.raises(ValueError, match="counts"):
        Draws(np.array([1, -2]), 0.5, UNIFORM[:2], 5)


@pytest.mark.parametrize("name", DENOISINGS)
def test_the_order_of_the_candidates_does_not_matter(name):
    turn = np.array([3, 0, 5, 1, 4, 2])
    draws, votes = RELEASES["draws beside public votes"], RELEASES["votes beside public votes"]
    turned = [
        Draws(draws.counts[turn], 0.2, UNIFORM, 67, PUBLIC[turn]),
        NoisyVotes(votes.votes[turn], 2.0, 67, PUBLIC[turn]),
    ]
    for straight, other in zip((draws, votes), turned, strict=True):
        np.testing.assert_allclose(DENOISINGS[name](other), DENOISINGS[name](straight)[turn], rtol=1e-9, atol=1e-12)


@st.composite
def draws_of_a_mixture(draw, least_draws=1):
    size = draw(st.integers(1, 7))
    counts = np.array(draw(st.lists(st.integers(0, 40), min_size=size, max_size=size)))
    weights = np.array(draw(st.lists(st.sampled_from([0, 0, 1, 1, 2, 5, 90]), min_size=size, max_size=size)))
    assume(counts.sum() >= least_draws)
    assume(weights.sum() > 0)
    beta = draw(st.sampled_from([0.0, 1e-9, 0.05, 0.3, 0.7, 0.95]))
    return Draws(counts, beta, weights / weights.sum(), 100)


def log_likelihood(release, shares):
    law = (1 - release.mixing_weight) * shares + release.mixing_weight * release.noise_distribution
    drawn = release.counts > 0
    with np.errstate(divide="ignore"):
        return float((release.counts[drawn] * np.log(law[drawn])).sum())


@given(draws_of_a_mixture(), st.integers(0, 2**32 - 1))
def test_no_other_distribution_is_more_likely(release, seed):
    best = vote_shares(release, likelihood)
    reached = log_likelihood(release, best)
    rng = np.random.default_rng(seed)
    others = rng.dirichlet(np.full(best.size, rng.choice([0.1, 1.0, 10.0])), size=20)
    near = [(1 - step) * best + step * other for other in others for step in (1e-4, 0.01, 0.3, 1.0)]
    slack = 1e-11 * (1.0 + abs(reached))
    assert max(log_likelihood(release, other) for other in near) <= reached + slack


@given(draws_of_a_mixture())
def test_the_most_likely_shares_meet_the_conditions_of_the_maximum(release):
    best = vote_shares(release, likelihood)
    law = (1 - release.mixing_weight) * best + release.mixing_weight * release.noise_distribution
    slopes = release.counts / np.where(law > 0.0, law, 1.0)
    kept = best > 1e-9
    np.testing.assert_allclose(slopes[kept], slopes[kept].max(), rtol=1e-5)
    assert (slopes[~kept] <= slopes[kept].max() * (1 + 1e-5)).all()
    assert (best[(release.counts > 0) & (release.noise_distribution == 0.0)] > 0.0).all()


def test_the_most_likely_shares_are_what_a_solver_finds():
    rng = np.random.default_rng(5)
    for beta in (0.1, 0.5, 0.9):
        noise = rng.dirichlet(np.ones(6))
        release = Draws(rng.multinomial(60, (1 - beta) * rng.dirichlet(np.full(6, 0.3)) + beta * noise), beta, noise, 9)
        solved = minimize(
            lambda x, release=release: -log_likelihood(release, x) / 60,
            np.full(6, 1 / 6),
            bounds=[(0, 1)] * 6,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        )
        np.testing.assert_allclose(vote_shares(release, likelihood), solved.x, atol=2e-5)


@given(draws_of_a_mixture())
def test_the_most_likely_shares_are_a_fixed_point_of_the_posterior_weights(release):
    best = vote_shares(release, likelihood)
    private = release.counts * posterior_weights(release, best)
    np.testing.assert_allclose(private / private.sum(), best, atol=1e-9)


def test_iterating_the_posterior_weights_leads_to_them():
    release = Draws(np.array([60, 25, 9, 6, 0]), 0.4, np.array([0.2, 0.3, 0.1, 0.3, 0.1]), 50)
    shares = np.full(5, 0.2)
    for _ in range(20_000):
        private = release.counts * posterior_weights(release, shares)
        shares = private / private.sum()
    np.testing.assert_allclose(vote_shares(release, likelihood), shares, atol=1e-6)


def test_neither_cutting_nor_projecting_the_signed_estimate_is_most_likely():
    release = Draws(np.array([60, 25, 9, 6, 0]), 0.4, np.array([0.05, 0.3, 0.1, 0.4, 0.15]), 50)
    best = log_likelihood(release, vote_shares(release, likelihood))
    cut = np.maximum(release.shares(), 0.0)
    assert log_likelihood(release, cut / cut.sum()) < best - 0.01
    assert log_likelihood(release, project_to_simplex(release.shares())) < best - 0.01


def test_where_nothing_is_cut_the_most_likely_shares_are_the_signed_estimate():
    release = Draws(np.array([50, 30, 20]), 0.3, np.array([0.2, 0.3, 0.5]), 10)
    np.testing.assert_allclose(likelihood(release), release.shares())
    without_noise = Draws(np.array([5, 3, 2]), 0.0, np.array([0.2, 0.3, 0.5]), 10)
    np.testing.assert_allclose(likelihood(without_noise), [0.5, 0.3, 0.2])


def test_no_denoising_gives_the_release_as_it_is():
    np.testing.assert_allclose(none(RELEASES["draws"]), np.array([400, 30, 20, 250, 20, 10]) / 730)
    np.testing.assert_allclose(vote_shares(RELEASES["votes"], none), np.array([40, 3, 0, 25, 0, 1]) / 69)
    np.testing.assert_array_equal(none(RELEASES["no draws"]), UNIFORM)
    np.testing.assert_allclose(none(RELEASES["noise only"]), np.arange(1, 7) / 21)


def test_noisy_votes_are_most_likely_from_the_nearest_distribution():
    for release in (RELEASES["votes"], RELEASES["votes beside public votes"]):
        np.testing.assert_array_equal(likelihood(release), signed(release))


def test_posterior_weights_by_the_theorem_of_bayes():
    release = Draws(np.array([8, 1, 1, 0]), 0.5, np.array([0.25, 0.5, 0.25, 0.0]), 10)
    shares = np.array([0.75, 0.0, 0.25, 0.0])
    np.testing.assert_allclose(posterior_weights(release, shares), [0.75, 0.0, 0.5, 0.5])
    expected = posterior_weights(release, vote_shares(release, likelihood))
    np.testing.assert_allclose(posterior_weights(release), expected)
    assert posterior_weights(Draws(np.array([3, 0]), 0.0, np.array([0.5, 0.5]), 9)).tolist() == [1.0, 1.0]
    assert posterior_weights(Draws(np.array([3, 0]), 1.0, np.array([0.5, 0.5]), 9)).tolist() == [0.0, 0.0]


def test_selections_use_the_denoising_they_are_given():
    release = Draws(np.array([45, 35, 20]), 0.5, np.array([0.8, 0.1, 0.1]), 10)
    rng = np.random.default_rng(0)
    assert rank(release, 3, rng, denoise=none).tolist() == [0, 1, 2]
    assert rank(release, 3, rng, denoise=likelihood).tolist() == [1, 2, 0]
    drawn = np.bincount(subsample(release, 1000, rng, denoise=none), minlength=3)
    np.testing.assert_allclose(drawn, [450, 350, 200], atol=1)


def test_the_automatic_choice_depends_on_public_votes_alone():
    assert choose_denoising("auto", informed=True) == "shrunk"
    assert choose_denoising("auto", informed=False) == "signed"
    assert choose_denoising("none", informed=True) == "none"
    with pytest.raises(SpecError, match="denoising must be one of auto, none"):
        choose_denoising("best", informed=True)


def test_names_are_the_same_everywhere():
    from evomix.cli import options
    from evomix.experiment import spec

    assert options.DENOISINGS == spec.DENOISINGS == ("auto", *DENOISINGS, POOLED)
    settings = {"private": "p.csv", "schema": "s.json", "epsilon": 1.0}
    assert spec.RunSpec.from_mapping(settings).denoising == "auto"
    with pytest.raises(SpecError, match="denoising"):
        spec.RunSpec.from_mapping(settings | {"denoising": "best"})


def test_all_releases_are_pooled_where_records_are_rows_and_nothing_looks_at_distances():
    assert choose_denoising("auto", informed=True, poolable=True) == POOLED
    assert choose_denoising("auto", informed=True, geometric=True, poolable=True) == "signed"
    assert choose_denoising(POOLED, informed=False) == POOLED
    assert denoising(POOLED) is signed  # what parents are drawn by
    assert denoising("bayes") is DENOISINGS["bayes"]
    with pytest.raises(SpecError, match="does not go with selection projection or gape"):
        choose_denoising(POOLED, informed=False, geometric=True)


@pytest.mark.parametrize(
    ("asked", "used", "called"),
    [
        ("auto", POOLED, ["signed"] * 2),
        ("pooled", POOLED, ["signed"] * 2),
        ("likelihood", "likelihood", ["likelihood"] * 3),
    ],
)
def test_a_run_uses_and_names_its_denoising(asked, used, called, tmp_path, monkeypatch):
    import pyarrow as pa

    import evomix
    from evomix.experiment import selecting

    seen = []
    monkeypatch.setattr(
        selecting, "denoising", lambda name: lambda release: seen.append(_name(name)) or denoising(name)(release)
    )
    schema = {"columns": [{"name": name, "type": "integer", "min": 0, "max": 99} for name in ("x", "y")]}
    people = pa.table({"x": [5] * 40, "y": [7] * 40})
    made = evomix.synthesize(
        people,
        schema=schema,
        epsilon=1.0,
        rounds=2,
        candidates=20,
        rows=5,
        seed=1,
        denoising=asked,
        ledger=tmp_path / "ledger.sqlite",
    )
    assert made.privacy["denoising"] == used
    # Two selections and the table; the table of pooled releases is not that of the last one.
    assert seen == called


def _name(name):
    return "signed" if name == POOLED else name
