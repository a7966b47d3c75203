"""Proof: docs/proofs/laplace.md."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SpecError, UnsupportedAdjacency
from evomix.privacy.laplace_accounting import laplace_delta, laplace_epsilon, laplace_scale

RELATIONS = {"add-remove": 1, "replace-one": 2}


def _exact(epsilon, scale, copies):
    """Randomised response composed, in 60 digits."""
    with mpmath.workdps(60):
        pure = 1 / mpmath.mpf(scale)
        p = mpmath.exp(pure) / (1 + mpmath.exp(pure))
        return mpmath.fsum(
            mpmath.binomial(copies, j) * p ** (copies - j) * (1 - p) ** j
            * (1 - mpmath.exp(epsilon - (copies - 2 * j) * pure))
            for j in range(copies + 1)
            if (copies - 2 * j) * pure > epsilon
        )  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.floats(0, 1.02), st.floats(-2, 3), st.sampled_from([1, 2, 3, 10, 60]), st.sampled_from(sorted(RELATIONS)))
def test_never_below_the_exact_composition_and_tight(share, log_scale, rounds, adjacency):
    scale, copies = 10.0**log_scale, rounds * RELATIONS[adjacency]
    epsilon = share * copies / scale
    bound = laplace_delta(epsilon, scale=scale, rounds=rounds, adjacency=adjacency)
    exact = _exact(epsilon, scale, copies)
    assert bound >= exact * (1 - mpmath.mpf(10) ** -50)
    if share < 0.99:
        assert bound <= exact * (1 + mpmath.mpf(1e-8)) + 1e-300


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1000.0])
@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-6, 0.1])
@pytest.mark.parametrize("rounds", [1, 30, 1000])
def test_calibration_is_an_inverse_at_every_size(epsilon, delta, rounds):
    scale = laplace_scale(epsilon, delta, rounds=rounds)
    assert laplace_delta(epsilon, scale=scale, rounds=rounds) <= delta
    assert laplace_delta(epsilon, scale=scale * (1 - 1e-9), rounds=rounds) > delta
    assert scale <= 2 * rounds / epsilon * (1 + 1e-12)
    assert laplace_epsilon(delta, scale=scale, rounds=rounds) <= epsilon * (1 + 1e-12)


def test_pure_noise_is_the_textbook_scale_rounded_up():
    for rounds, adjacency in product((1, 7), RELATIONS):
        scale = laplace_scale(0.7, 0.0, rounds=rounds, adjacency=adjacency)
        assert 1 <= scale / (rounds * RELATIONS[adjacency] / 0.7) < 1 + 1e-12
        assert laplace_epsilon(0.0, scale=scale, rounds=rounds, adjacency=adjacency) <= 0.7


def test_composition_with_delta_needs_less_noise_than_pure_addition():
    assert laplace_scale(1.0, 1e-6, rounds=100) < 0.5 * laplace_scale(1.0, 0.0, rounds=100)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.1, 20), st.floats(0.2, 30), st.integers(1, 40))
def test_monotone_in_everything(epsilon, scale, rounds):
    here = laplace_delta(epsilon, scale=scale, rounds=rounds)
    grain = 1e-12 * here
    assert laplace_delta(epsilon * 1.01, scale=scale, rounds=rounds) <= here + grain
    assert laplace_delta(epsilon, scale=scale * 1.01, rounds=rounds) <= here + grain
    assert laplace_delta(epsilon, scale=scale, rounds=rounds + 1) >= here - grain
    assert laplace_delta(epsilon, scale=scale, rounds=rounds, adjacency="add-remove") <= here + grain


@pytest.mark.parametrize(("scale", "rounds", "epsilon"), [(3.0, 1, 0.2), (5.0, 20, 1.0)])
def test_an_accountant_of_the_very_noise_is_never_above(scale, rounds, epsilon):
    pld = privacy_loss_distribution.from_laplace_mechanism(scale, value_discretization_interval=1e-4)
    theirs = pld.self_compose(rounds).get_delta_for_epsilon(epsilon)
    ours = laplace_delta(epsilon, scale=scale, rounds=rounds, adjacency="add-remove")
    assert theirs <= ours * (1 + 1e-6) + 1e-9
    assert laplace_delta(epsilon, scale=scale * 2, rounds=rounds, adjacency="add-remove") < theirs


def _lattice_delta(epsilon, moves, scale):
    """δ of independent discrete Laplaces of one scale moved by ``moves``: a sum over all losses, tails in full."""
    ratio = math.exp(-1 / scale)
    losses, law = np.zeros(1), np.ones(1)
    for move in map(abs, moves):
        between = np.arange(1 - move, 0)  # left of it every outcome loses -move/scale, right of it +move/scale
        mass = np.concatenate([[ratio**move], (1 - ratio) * ratio ** np.abs(between), [1.0]]) / (1 + ratio)
        loss = np.concatenate([[-move], move + 2 * between, [move]]) / scale
        losses, law = np.add.outer(losses, loss).ravel(), np.multiply.outer(law, mass).ravel()
    return math.fsum(law * -np.expm1(np.minimum(epsilon - losses, 0.0)))


# One unit of four micro-votes: how its change moves the votes (replace-one: 4 up, 4 down; add-remove: 4 up).
@pytest.mark.parametrize("moves", [[4, -4], [1, 3, -4], [2, 2, -4], [3, -3]])
@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.0])
def test_one_round_on_a_small_lattice_by_brute_force(moves, scale, epsilon):
    exact = _lattice_delta(epsilon, moves, 4 * scale)
    assert exact <= laplace_delta(epsilon, scale=scale) + 1e-14
    if moves == [4, -4] and epsilon < 1.0:  # half the noise must not pass
        assert _lattice_delta(epsilon, moves, 4 * scale * 0.5) > laplace_delta(epsilon, scale=scale)


def test_refusals():
    with pytest.raises(SpecError, match="epsilon="):
        laplace_scale(0.0, 1e-6)
    with pytest.raises(SpecError, match="epsilon="):
        laplace_delta(math.nan, scale=1.0)
    for delta in (-0.1, 1.0, math.nan):
        with pytest.raises(SpecError, match="delta="):
            laplace_epsilon(delta, scale=1.0)
    for scale in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(SpecError, match="scale="):
            laplace_delta(1.0, scale=scale)
    with pytest.raises(SpecError, match="rounds="):
        laplace_scale(1.0, 1e-6, rounds=0)
    with pytest.raises(SpecError, match="fewer rounds"):
        laplace_delta(1.0, scale=1e6, rounds=10**8)
    with pytest.raises(UnsupportedAdjacency):
        laplace_delta(1.0, scale=1.0, adjacency="swap")


def test_epsilon_is_zero_when_delta_alone_suffices():
    assert laplace_epsilon(0.1, scale=1000.0) == 0.0
