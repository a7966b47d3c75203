"""δ from the distribution of the loss, against enumeration and others (docs/proofs/composition.md, section 5)."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
import scipy.fft
from dp_accounting.pld import privacy_loss_distribution
from exact_rounds import exact_delta, response_atoms, walk_atoms
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.privacy import loss_walk_law
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.calibration import delta
from evomix.privacy.loss_distribution import distribution_delta
from evomix.privacy.loss_walk_law import FOURIER, walk_law
from evomix.privacy.renyi import renyi_delta
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound
from evomix.privacy.run_loss import ULP, RunLoss, run_loss

FAR_BELOW = mpmath.mpf(10) ** -300

mixing_rounds = st.builds(
    MixingRound,
    st.integers(1, 300),
    st.floats(1e-3, 1 - 1e-3),
    st.integers(1, 6),
    st.floats(1e-3, 0.5),
)


@settings(max_examples=30, deadline=None)
@given(mixing_rounds, mixing_rounds, st.floats(0.0, 1.05))
def test_two_mixing_rounds_never_below_and_tight(one, two, share):
    loss = run_loss([one, two])
    epsilon = share * loss.largest
    exact = exact_delta(epsilon, walk_atoms(one), walk_atoms(two))
    found = distribution_delta(epsilon, loss)
    assert found >= exact
    # The grid may move a loss by a 256th of ε at most, and mostly moves nothing.
    assert (
        found <= exact_delta(epsilon * (1 - 1 / 128) - 1e-12, walk_atoms(one), walk_atoms(two)) * (1 + 1e-6) + FAR_BELOW
    )


@settings(max_examples=25, deadline=None)
@given(mixing_rounds, st.floats(0.5, 20.0), st.floats(0.0, 1.05))
def test_mixing_and_laplace_never_below_and_tight(mixing, scale, share):
    loss = run_loss([mixing, LaplaceRound(scale)])
    epsilon = share * loss.largest
    laws = walk_atoms(mixing), response_atoms(scale)
    found = distribution_delta(epsilon, loss)
    assert found >= exact_delta(epsilon, *laws)
    assert found <= exact_delta(epsilon * (1 - 1 / 128) - 1e-12, *laws) * (1 + 1e-6) + FAR_BELOW


@pytest.mark.parametrize("stddev", [0.3, 2.0, 30.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 2.5, 12.0])
@pytest.mark.parametrize("count", [1, 2])
def test_with_gaussian_rounds_never_below_and_tight(stddev, epsilon, count):
    mixing = [MixingRound(40, 0.4, 4, 0.02), MixingRound(40, 0.7, 3, 0.05)][:count]
    loss = run_loss([*mixing, GaussianRound(stddev), GaussianRound(2 * stddev)])
    mu = mpmath.sqrt(mpmath.mpf(2) / mpmath.mpf(stddev) ** 2 * 5 / 4)
    exact = exact_delta(epsilon, *map(walk_atoms, mixing), mu=mu)
    found = distribution_delta(epsilon, loss)
    assert found >= exact
    assert found <= exact_delta(epsilon * 0.996, *map(walk_atoms, mixing), mu=mu) * (1 + 1e-3) + 1e-300


@settings(max_examples=60, deadline=None)
@given(
    st.floats(1e-3, 1 - 1e-6),
    st.integers(1, 10**8),
    st.integers(1, 20_000),
    st.floats(1e-6, 0.5),
    st.floats(1e-3, 20.0),
)
def test_never_below_the_draws_budget_and_tight(beta, units, draws, floor, epsilon):
    exact = delta(epsilon, mixing_weight=beta, n=units, draws=draws, floor=floor)
    found = distribution_delta(epsilon, run_loss([MixingRound(units, beta, draws, floor)]))
    # Both are upper bounds on one number; the draws' own is within 10⁻⁸ of it.
    assert found >= exact * (1 - 1e-8) - 1e-300
    assert renyi_delta(epsilon, run_loss([MixingRound(units, beta, draws, floor)])) >= exact * (1 - 1e-8) - 1e-300
    # On a value that the loss takes, a rounding decides whether a last atom counts: allow for that shift.
    near = delta(epsilon * (1 - 1e-9), mixing_weight=beta, n=units, draws=draws, floor=floor)
    assert found <= max(near, exact) * (1 + 1e-5) + 1e-300


def test_ten_million_draws_and_tiny_deltas():
    rounds = [MixingRound(100_000, 0.5, 10**7, 5e-4)]
    exact = delta(20.0, mixing_weight=0.5, n=100_000, draws=10**7, floor=5e-4)
    assert exact * (1 - 1e-8) <= distribution_delta(20.0, run_loss(rounds)) <= exact * (1 + 2e-5)
    split = [MixingRound(50, 0.9, 30, 0.01), MixingRound(50, 0.9 + 1e-12, 30, 0.01)]
    tiny = delta(11.0, mixing_weight=0.9, n=50, draws=60, floor=0.01)
    assert 1e-104 < tiny < 1e-100
    assert tiny * (1 - 1e-8) <= distribution_delta(11.0, run_loss(split)) <= tiny * (1 + 1e-2)
    assert 0.0 < distribution_delta(12.0, run_loss(split)) < 1e-115
    assert distribution_delta(12.1, run_loss(split)) == 0.0


def test_several_rounds_that_hardly_differ_are_the_draws_budget():
    for epsilon in (1.0, 3.0, 8.0):
        parts = [MixingRound(1200, 0.3 + 1e-12 * part, 1250, 1e-3) for part in range(4)]
        exact = delta(epsilon, mixing_weight=0.3, n=1200, draws=5000, floor=1e-3)
        assert exact * (1 - 1e-8) <= distribution_delta(epsilon, run_loss(parts)) <= exact * (1 + 1e-4)


def test_an_independent_accountant_agrees():
    """dp-accounting's distributions are rounded up on a grid for each draw: never far below, a little above."""
    grid = 2e-4
    rounds = [MixingRound(500, 0.5, 400, 2e-3), MixingRound(500, 0.7, 200, 1e-3), GaussianRound(3.0)]
    theirs = privacy_loss_distribution.from_gaussian_mechanism(3.0 / math.sqrt(2), value_discretization_interval=grid)
    for each in rounds[:2]:
        base, gap = each.mixing_weight * each.floor, (1 - each.mixing_weight) / each.units
        p = np.log([base + gap, base, 1 - 2 * base - gap])
        one = privacy_loss_distribution.from_two_probability_mass_functions(
            dict(enumerate(p[[1, 0, 2]])), dict(enumerate(p)), value_discretization_interval=grid
        )
        theirs = theirs.compose(one.self_compose(each.draws))
    for epsilon in (0.5, 1.5, 3.0):
        ours = distribution_delta(epsilon, run_loss(rounds))
        assert ours <= theirs.get_delta_for_epsilon(epsilon) * (1 + 1e-6) + 1e-12
        assert ours >= theirs.get_delta_for_epsilon(epsilon + 0.01)


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.5, 5.0, 1e4])
@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1.0, 1e100])
def test_extremes_stay_between_zero_and_the_renyi_bound(epsilon, scale):
    runs = [
        [GaussianRound(scale), MixingRound(1, 0.5, 1, 0.5), MixingRound(10**9, 1 - 2**-53, 10**6, 1e-9)],
        [LaplaceRound(scale), MixingRound(3, 1e-9, 2, 1e-6), MixingRound(2, 0.9, 1, 0.5)],
        [GaussianRound(scale), LaplaceRound(1e-2), LaplaceRound(50.0)],
        [LaplaceRound(scale), MixingRound(10, 0.5, 1, 0.0)],
    ]
    for rounds in runs:
        loss = run_loss(rounds)
        found = distribution_delta(epsilon, loss)
        assert 0.0 <= found <= 1.0
        assert found <= renyi_delta(epsilon, loss) * (1 + 1e-6) + 1e-300
        assert distribution_delta(epsilon * 1.01 + 1e-6, loss) <= found * (1 + 1e-4) + 1e-300


def test_all_in_one_atom_near_the_largest_loss():
    rounds = [LaplaceRound(2.0), LaplaceRound(3.0)]
    largest = 2 / 2.0 + 2 / 3.0
    for below in (1e-2, 1e-5, 1e-9):
        epsilon = largest - below
        exact = exact_delta(epsilon, response_atoms(2.0), response_atoms(3.0))
        assert exact <= distribution_delta(epsilon, run_loss(rounds)) <= exact * (1 + 1e-2)


def lattice_run(scale, moves, draws):
    """Return laws of one mixing round and one Gaussian round on a lattice of four micro-votes, and the run's loss."""
    z = np.arange(-int(15 * scale), int(15 * scale) + 1)
    noise = np.exp(-(z**2) / (2 * scale**2))
    noise /= noise.sum()
    law = walk_atoms(draws)
    for move in moves:
        losses = (move**2 + 2 * z * move) / (2 * scale**2)
        joint = {}
        for loss, mass in law.items():
            for step, part in zip(losses, noise, strict=True):
                joint[float(loss) + step] = joint.get(float(loss) + step, 0.0) + float(mass) * part
        law = joint
    loss = run_loss([draws, GaussianRound(scale / 4)])
    # The same round on a lattice of four micro-votes instead of 2²⁰: the correction is larger, the variance is not.
    return law, replace(loss, inverse_variances=loss.inverse_variances * LATTICE / 4)


@pytest.mark.parametrize("scale", [1.0, 2.5])
@pytest.mark.parametrize("moves", [[4, -4], [2, 2, -4]])
def test_the_lattice_correction_composes(scale, moves):
    draws = MixingRound(6, 0.4, 2, 0.05)
    law, loss = lattice_run(scale, moves, draws)
    for epsilon in (0.0, 1.0, 3.0, 6.0):
        exact = math.fsum(mass * -math.expm1(min(0.0, epsilon - lost)) for lost, mass in law.items())
        assert exact <= distribution_delta(epsilon, loss) * (1 + 1e-9) + 1e-13


def test_without_the_lattice_correction_the_bound_fails():
    law, loss = lattice_run(1.0, [4, -4], MixingRound(6, 0.4, 2, 0.05))
    uncorrected = replace(loss, inverse_variances=0.0)
    excess = [
        math.fsum(mass * -math.expm1(min(0.0, epsilon - lost)) for lost, mass in law.items())
        / distribution_delta(epsilon, uncorrected)
        for epsilon in np.linspace(0, 40, 81)
    ]
    assert max(excess) > 1.01


def test_the_library_transforms_better_than_it_is_trusted_to():
    rng = np.random.default_rng(2)
    for length in (2**4, 2**9, 2**14, 2**18):
        for values in (rng.random(length), np.exp(-(np.linspace(-8, 8, length) ** 2)), np.eye(1, length, 3)[0]):
            wide = scipy.fft.rfft(values.astype(np.longdouble))
            allowed = FOURIER / 2 * ULP * math.log2(length)
            assert np.linalg.norm(np.fft.rfft(values) - wide) <= allowed * np.linalg.norm(wide)
            back = scipy.fft.irfft(wide, length)
            assert np.linalg.norm(np.fft.irfft(wide.astype(complex), length) - back) <= allowed * np.linalg.norm(back)


@pytest.mark.parametrize("tilt", [1e-6, 1.0, 25.0])
@pytest.mark.parametrize("draws", [1, 3, 40])
def test_a_weighted_walk_is_right_within_its_own_error(tilt, draws):
    mixing = MixingRound(20, 0.3, draws, 0.05)
    (walk,) = run_loss([mixing]).walks
    law = walk_law(walk, tilt)
    with mpmath.workdps(40):
        weighted = {loss: mass * mpmath.exp(tilt * loss) for loss, mass in walk_atoms(mixing).items()}
        total = mpmath.fsum(weighted.values())
        exact = {round(float(loss / walk.gain)): mass / total for loss, mass in weighted.items()}
    kept = {law.start + index: mass for index, mass in enumerate(law.masses)}
    wrong = mpmath.fsum(abs(mass - kept.get(at, 0.0)) for at, mass in exact.items())
    assert wrong <= law.error + draws * 1e-14
    assert law.error < 1e-11


def test_windows_that_are_too_narrow_are_noticed(monkeypatch):
    """The window's bound is needed: a tenth of it loses mass that no allowance covers."""
    rounds = [MixingRound(1200, 0.3, 5000, 1e-3)]
    exact = delta(3.0, mixing_weight=0.3, n=1200, draws=5000, floor=1e-3)
    window = loss_walk_law._window
    assert distribution_delta(3.0, run_loss(rounds)) >= exact * (1 - 1e-9)

    def narrow(*step):
        low, high = window(*step)
        middle, reach = (low + high) // 2, (high - low) // 20
        return middle - reach, middle + reach

    monkeypatch.setattr(loss_walk_law, "_window", narrow)
    assert not exact * (1 - 1e-9) <= distribution_delta(3.0, run_loss(rounds)) <= exact * (1 + 1e-6)


def test_empty_runs_lose_nothing():
    assert distribution_delta(0.0, RunLoss((), 0.0, 0.0, 0.0)) == 0.0
