import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from evomix.core.release import Draws, NoisyVotes
from evomix.selection.shares import project_to_simplex, shrunk_draws, vote_shares

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


def _draw(rng, private, noise, beta, draws):
    return Draws(rng.multinomial(draws, (1 - beta) * private + beta * noise), beta, noise, 1000)


@pytest.mark.parametrize(("distance", "draws"), [(0.02, 300), (0.2, 300), (1.0, 300), (0.3, 10_000)])
def test_shrinking_is_nearly_as_good_as_the_best_fixed_weight(distance, draws):
    rng = np.random.default_rng(7)
    beta, size = 0.6, 40
    noise = rng.dirichlet(np.ones(size))
    private = (1 - distance) * noise + distance * rng.dirichlet(np.full(size, 0.3))
    releases = [_draw(rng, private, noise, beta, draws) for _ in range(200)]

    def risk(estimates):
        return float(np.mean([((estimate - private) ** 2).sum() for estimate in estimates]))

    fixed = {
        weight: risk([weight * r.counts / r.draws + (1 - weight) * noise for r in releases])
        for weight in np.linspace(0, 1 / (1 - beta), 26)
    }
    adaptive = risk([shrunk_draws(r) for r in releases])
    as_drawn, unbiased = risk([r.counts / r.draws for r in releases]), fixed[max(fixed)]
    # The best weight is not known beforehand; finding it costs a small part of what plain draws are off by.
    assert adaptive <= min(fixed.values()) + 0.25 * min(as_drawn, unbiased)


def test_noise_that_is_far_is_taken_out_and_noise_that_is_near_is_leant_on():
    rng = np.random.default_rng(3)
    private, noise, beta = np.array([0.7, 0.3, 0.0, 0.0]), np.array([0.0, 0.0, 0.4, 0.6]), 0.5
    far = _draw(rng, private, noise, beta, 10**7)
    np.testing.assert_allclose(shrunk_draws(far), far.estimate() / far.units, atol=1e-5)  # u → 1/(1−β)
    np.testing.assert_allclose(shrunk_draws(far), private, atol=2e-3)
    size = 2000
    same = np.full(size, 1 / size)
    near = _draw(rng, same, same, beta, 200)
    leaning = ((shrunk_draws(near) - same) ** 2).sum()
    assert leaning < 0.3 * ((near.counts / 200 - same) ** 2).sum()  # u → 0


def test_draws_without_signal_give_the_noise_distribution():
    noise = np.array([0.2, 0.8])
    assert shrunk_draws(Draws(np.array([0, 0]), 0.3, noise, 10)) is noise
    assert shrunk_draws(Draws(np.array([9, 1]), 1.0, noise, 10)) is noise


def test_a_single_draw_is_no_division_by_zero():
    shares = vote_shares(Draws(np.array([0, 1, 0]), 0.3, np.full(3, 1 / 3), 10))
    assert shares.sum() == pytest.approx(1.0)


def test_shares_of_noisy_votes_are_projected_votes():
    votes = NoisyVotes(np.array([60.0, 45.0, -5.0]), 3.0, 100)
    np.testing.assert_allclose(vote_shares(votes), [0.575, 0.425, 0.0])
    np.testing.assert_allclose(vote_shares(NoisyVotes(np.array([0.4, 0.1]), 3.0, 0)), [0.65, 0.35])
