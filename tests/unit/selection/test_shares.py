import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from evomix.core.release import Draws, NoisyVotes
from evomix.selection.denoising import shrunk
from evomix.selection.shares import project_to_simplex, vote_shares

points = arrays(np.float64, st.integers(1, 12), elements=st.floats(-50, 50, width=32))


@given(points)
def test_projection_meets_the_conditions_of_the_least_distance(point):
    shares = project_to_simplex(point)
    assert shares.min() >= 0.0
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    # Karush-Kuhn-Tucker: what stays is lowered by one common amount, what vanishes lies below that amount.
    kept = shares > 0.0
    moved = (point - shares)[kept]
    assert moved.max() - moved.min() < 1e-9
    assert (point[~kept] <= moved.max() + 1e-9).all()


def test_projection_is_what_a_solver_finds():
    rng = np.random.default_rng(1)
    for _ in range(10):
        point = rng.normal(0, 0.7, 6)
        solved = minimize(
            lambda x, point=point: ((x - point) ** 2).sum(),
            np.full(6, 1 / 6),
            jac=lambda x, point=point: 2 * (x - point),
            bounds=[(0, 1)] * 6,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(project_to_simplex(point), solved.x, atol=1e-6)


def test_projection_by_hand():
    np.testing.assert_allclose(project_to_simplex(np.array([0.9, 0.4, -0.3])), [0.75, 0.25, 0.0])
    np.testing.assert_allclose(project_to_simplex(np.array([0.2, 0.3, 0.5])), [0.2, 0.3, 0.5])
    np.testing.assert_allclose(project_to_simplex(np.full(4, -7.0)), np.full(4, 0.25))
    np.testing.assert_allclose(project_to_simplex(np.array([-3.0])), [1.0])


@pytest.mark.parametrize("size", [1e9, 1e17, 1e300, -1e17])
def test_projection_survives_noise_of_any_size(size):
    np.testing.assert_allclose(project_to_simplex(np.array([size, size, 0.0]))[2], 1.0 if size < 0 else 0.0)
    np.testing.assert_allclose(project_to_simplex(np.full(3, size)), np.full(3, 1 / 3))


def _draw(rng, private, noise, *, beta, draws, prior=None):
    return Draws(rng.multinomial(draws, (1 - beta) * private + beta * noise), beta, noise, 1000, prior)


def _histogram(rng, private, *, stddev, prior):
    return NoisyVotes(1000 * private + rng.normal(0, stddev, private.size), stddev, 1000, prior)


@pytest.mark.parametrize("distance", [0.02, 0.2, 1.0])
@pytest.mark.parametrize("kind", ["draws", "draws beside public votes", "noisy votes"])
@pytest.mark.parametrize("budget", [1, 30])
def test_shrinking_is_nearly_as_good_as_the_best_fixed_weight(kind, distance, budget):
    rng = np.random.default_rng(7)
    size = 40
    prior = rng.dirichlet(np.ones(size))
    private = (1 - distance) * prior + distance * rng.dirichlet(np.full(size, 0.3))
    if kind == "noisy votes":
        releases = [_histogram(rng, private, stddev=40 / budget, prior=prior) for _ in range(200)]
    elif kind == "draws":
        releases = [_draw(rng, private, prior, beta=0.6, draws=300 * budget) for _ in range(200)]
    else:
        noise = np.full(size, 1 / size)
        releases = [_draw(rng, private, noise, beta=0.6, draws=300 * budget, prior=prior) for _ in range(200)]

    def risk(estimates):
        return float(np.mean([((estimate - private) ** 2).sum() for estimate in estimates]))

    unbiased = [r.estimate() / r.units for r in releases]
    fixed = [risk([w * shares + (1 - w) * prior for shares in unbiased]) for w in np.linspace(0, 1, 41)]
    # The best weight is not known beforehand; finding it costs a part of what the unbiased estimate is off by.
    assert risk([shrunk(r) for r in releases]) <= min(fixed) + 0.1 * risk(unbiased)


@pytest.mark.parametrize("kind", ["draws", "noisy votes"])
def test_the_error_of_a_release_is_what_its_estimate_is_off_by(kind):
    rng = np.random.default_rng(11)
    private, noise = rng.dirichlet(np.ones(30)), np.full(30, 1 / 30)
    if kind == "draws":
        releases = [_draw(rng, private, noise, beta=0.4, draws=500) for _ in range(2000)]
    else:
        releases = [_histogram(rng, private, stddev=20.0, prior=None) for _ in range(2000)]
    off = np.mean([((r.estimate() / r.units - private) ** 2).sum() for r in releases])
    assert np.mean([r.error() for r in releases]) == pytest.approx(off, rel=0.05)


def test_what_is_far_from_the_prior_is_believed_and_what_is_near_is_leant_on():
    rng = np.random.default_rng(3)
    private, noise = np.array([0.7, 0.3, 0.0, 0.0]), np.array([0.0, 0.0, 0.4, 0.6])
    far = _draw(rng, private, noise, beta=0.5, draws=10**7)
    np.testing.assert_allclose(shrunk(far), far.estimate() / far.units, atol=1e-5)
    np.testing.assert_allclose(shrunk(far), private, atol=2e-3)
    same = np.full(2000, 1 / 2000)
    near = _draw(rng, same, same, beta=0.5, draws=200)
    assert ((shrunk(near) - same) ** 2).sum() < 0.1 * near.error()


def test_public_votes_are_the_prior_where_there_are_any():
    noise, public = np.array([0.5, 0.5]), np.array([0.2, 0.8])
    for nothing in (Draws(np.array([0, 0]), 0.3, noise, 10, public), Draws(np.array([9, 1]), 1.0, noise, 10, public)):
        np.testing.assert_array_equal(shrunk(nothing), public)
    drowned = NoisyVotes(np.array([5.0, 5.0]), 1e9, 10, public)
    np.testing.assert_allclose(shrunk(drowned), public)


def test_draws_without_signal_give_the_noise_distribution():
    noise = np.array([0.2, 0.8])
    np.testing.assert_array_equal(shrunk(Draws(np.array([0, 0]), 0.3, noise, 10)), noise)
    np.testing.assert_array_equal(shrunk(Draws(np.array([9, 1]), 1.0, noise, 10)), noise)


def test_a_release_equal_to_its_prior_stays():
    prior = np.array([0.25, 0.75])
    np.testing.assert_array_equal(shrunk(NoisyVotes(np.array([25.0, 75.0]), 3.0, 100, prior)), prior)
    np.testing.assert_array_equal(shrunk(NoisyVotes(np.array([25.0, 75.0]), 0.0, 100, prior)), prior)


def test_a_single_draw_is_no_division_by_zero():
    shares = vote_shares(Draws(np.array([0, 1, 0]), 0.3, np.full(3, 1 / 3), 10))
    assert shares.sum() == pytest.approx(1.0)


def test_a_single_draw_has_the_largest_error_it_can_have():
    assert Draws(np.array([0, 1, 0]), 0.5, np.full(3, 1 / 3), 10).error() == 4.0


def test_shares_of_noisy_votes_are_projected_votes():
    votes = NoisyVotes(np.array([60.0, 45.0, -5.0]), 3.0, 100)
    np.testing.assert_allclose(vote_shares(votes), [0.575, 0.425, 0.0])
    np.testing.assert_allclose(vote_shares(NoisyVotes(np.array([0.4, 0.1]), 3.0, 0)), [0.65, 0.35])
