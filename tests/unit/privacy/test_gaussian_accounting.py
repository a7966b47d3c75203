"""Proof: docs/proofs/gaussian.md."""

import json
import math
from pathlib import Path

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SpecError, UnsupportedAdjacency
from evomix.privacy.analytic_gaussian import gaussian_curve
from evomix.privacy.gaussian_accounting import gaussian_delta, gaussian_epsilon, gaussian_stddev

# (σ, releases, δ, exact ε) and (ε, δ, releases, exact σ), sensitivity 1, computed in 420 digits.
EPSILONS = [
    (2.8284271247461903, 5, 1e-5, 3.341409469),
    (1.4142135623730951, 20, 1e-5, 17.85658683),
    (1.0, 1, 1e-6, 4.886554117),
    (15.34, 10, 1e-7, 0.9622583943),
    (0.5, 1, 1e-5, 9.997256146),
    (100.0, 1000, 1e-9, 1.788024827),
    (30.0, 1, 0.01, 0.00730381235),
    (1000.0, 1, 0.01, 0.0),
]
STDDEVS = [
    (0.1, 1e-6, 10, 114.8055115),
    (1.0, 1e-5, 1, 3.730631635),
    (8.0, 1e-6, 1, 0.6529353844),
    (50.0, 1e-5, 10, 0.4735846237),
    (0.01, 1e-5, 1, 243.7854377),
    (0.001, 1e-5, 20, 7711.12082),
    (0.0001, 1e-5, 1, 9373.853362),
]
CASES = Path(__file__).parents[4] / "shared" / "cases" / "inputs"


@pytest.mark.parametrize(("stddev", "rounds", "delta", "exact"), EPSILONS)
def test_epsilon_is_never_below_the_exact_one_and_within_a_millionth(stddev, rounds, delta, exact):
    answer = gaussian_epsilon(delta, stddev=stddev, rounds=rounds, adjacency="add-remove")
    assert exact * (1 - 1e-9) <= answer <= exact * (1 + 1e-6)
    assert gaussian_delta(answer, stddev=stddev, rounds=rounds, adjacency="add-remove") <= delta


@pytest.mark.parametrize(("epsilon", "delta", "rounds", "exact"), STDDEVS)
def test_stddev_is_never_below_the_exact_one_and_within_a_millionth(epsilon, delta, rounds, exact):
    answer = gaussian_stddev(epsilon, delta, rounds=rounds, adjacency="add-remove")
    assert exact * (1 - 1e-9) <= answer <= exact * (1 + 1e-6)
    assert gaussian_delta(epsilon, stddev=answer, rounds=rounds, adjacency="add-remove") <= delta


@pytest.mark.skipif(not CASES.exists(), reason="the shared case files are not here")
def test_the_published_tables_in_full():
    for item in json.loads((CASES / "52-gaussian-table" / "table.json").read_text())["items"]:
        answer = gaussian_epsilon(item["delta"], stddev=item["sigma"], rounds=item["releases"], adjacency="add-remove")
        assert item["epsilon_exact"] * (1 - 1e-6) <= answer <= item["epsilon_exact"] * 1.02
    for case in ("53-calibration", "56-tiny-epsilon"):
        for item in json.loads((CASES / case / "table.json").read_text())["items"]:
            answer = gaussian_stddev(item["epsilon"], item["delta"], rounds=item["releases"], adjacency="add-remove")
            assert item["sigma_exact"] * (1 - 1e-9) <= answer <= item["sigma_exact"] * 1.02


@pytest.mark.parametrize("epsilon", [1e-9, 0.001, 1.0, 1000.0, 1e9])
@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.5, 0.999])
def test_calibration_is_an_inverse_at_every_size(epsilon, delta):
    stddev = gaussian_stddev(epsilon, delta, rounds=3)
    assert gaussian_delta(epsilon, stddev=stddev, rounds=3) <= delta
    assert gaussian_delta(epsilon, stddev=stddev * (1 - 1e-9), rounds=3) > delta
    assert gaussian_epsilon(delta, stddev=stddev, rounds=3) <= epsilon * (1 + 1e-12)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.1, 20), st.floats(-9, -0.1), st.floats(0.3, 30), st.integers(1, 50))
def test_monotone_in_everything(epsilon, log_delta, stddev, rounds):
    delta = 10.0**log_delta
    here = gaussian_delta(epsilon, stddev=stddev, rounds=rounds)
    assert gaussian_delta(epsilon * 1.01, stddev=stddev, rounds=rounds) <= here
    assert gaussian_delta(epsilon, stddev=stddev * 1.01, rounds=rounds) <= here
    assert gaussian_delta(epsilon, stddev=stddev, rounds=rounds + 1) >= here
    assert gaussian_delta(epsilon, stddev=stddev, rounds=rounds, adjacency="add-remove") <= here
    needed = gaussian_stddev(epsilon, delta, rounds=rounds)
    assert gaussian_stddev(epsilon, delta, rounds=rounds + 1) > needed
    assert gaussian_stddev(epsilon, delta * 0.5, rounds=rounds) > needed


def test_rounds_of_different_noise_compose_by_inverse_variances():
    one = gaussian_delta(1.0, stddev=[3.0, 4.0], adjacency="add-remove")
    assert one == pytest.approx(gaussian_delta(1.0, stddev=2.4, adjacency="add-remove"), rel=1e-9)
    repeated = gaussian_delta(1.0, stddev=[5.0] * 7)
    assert repeated == pytest.approx(gaussian_delta(1.0, stddev=5.0, rounds=7), rel=1e-9)
    assert gaussian_epsilon(1e-6, stddev=(3.0, 4.0)) == pytest.approx(gaussian_epsilon(1e-6, stddev=2.4), rel=1e-6)


@pytest.mark.parametrize(("stddev", "rounds", "epsilon"), [(5.0, 4, 1.0), (2.0, 1, 3.0)])
def test_an_independent_accountant_agrees(stddev, rounds, epsilon):
    pld = privacy_loss_distribution.from_gaussian_mechanism(stddev, value_discretization_interval=1e-3)
    theirs = pld.self_compose(rounds).get_delta_for_epsilon(epsilon)
    ours = gaussian_delta(epsilon, stddev=stddev, rounds=rounds, adjacency="add-remove")
    assert ours <= theirs * (1 + 1e-9)
    assert ours >= theirs * 0.99


def _lattice_delta(epsilon, moves, scale):
    """δ of discrete Gaussians of one scale that are moved by the integers ``moves``: a sum over all outcomes."""
    reach = math.ceil(12 * scale) + 2
    noise = np.arange(-reach, reach + 1)
    mass = np.exp(-(noise**2) / (2 * scale**2))
    mass /= math.fsum(mass)
    law = {0: 1.0}  # of Σ move·noise, on which alone the privacy loss depends
    for move in moves:
        nextlaw = {}
        for total, p in law.items():
            for z, q in zip(noise, mass, strict=True):
                nextlaw[total + move * int(z)] = nextlaw.get(total + move * int(z), 0.0) + p * q
        law = nextlaw
    squares = sum(move * move for move in moves)
    losses = ((squares + 2 * total) / (2 * scale**2) for total in law)
    return math.fsum(p * -math.expm1(min(epsilon - loss, 0.0)) for p, loss in zip(law.values(), losses, strict=True))


# One unit on a lattice of so many micro-votes: how its change moves the votes, over all rounds.
MOVES = [
    (1, "add-remove", 1, [1]),
    (1, "add-remove", 2, [1, 1]),
    (1, "replace-one", 1, [1, -1]),
    (2, "replace-one", 1, [2, -2]),
    (2, "replace-one", 1, [1, 1, -2]),
    (2, "replace-one", 1, [1, 1, -1, -1]),
    (4, "add-remove", 1, [1, 1, 2]),
    (4, "add-remove", 2, [4, 1, 3]),
]


@pytest.mark.parametrize(("lattice", "adjacency", "rounds", "moves"), MOVES)
@pytest.mark.parametrize("stddev", [0.3, 0.7, 1.5])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0, 6.0])
def test_the_bound_holds_on_small_lattices_by_brute_force(lattice, adjacency, rounds, moves, stddev, epsilon):
    exact = _lattice_delta(epsilon, moves, lattice * stddev)
    bound = gaussian_delta(epsilon, stddev=stddev, rounds=rounds, adjacency=adjacency, lattice=lattice)
    assert exact <= bound * (1 + 1e-12)


@pytest.mark.parametrize(("adjacency", "l1", "l2_squared"), [("replace-one", 2, 2), ("add-remove", 1, 1)])
@pytest.mark.parametrize(("lattice", "rounds", "stddev"), [(1, 1, 0.7), (1, 3, 2.0), (5, 4, 1.5)])
def test_it_is_the_bound_of_the_theorem(adjacency, l1, l2_squared, lattice, rounds, stddev):
    mu = math.sqrt(rounds * l2_squared) / stddev
    factor = math.exp(rounds * l1 / (24 * lattice * stddev**2))
    shift = rounds * l1 / (2 * lattice * stddev**2)
    for epsilon in (3.0, 8.0):
        stated = min(1.0, factor * gaussian_curve(epsilon - shift, mu))
        bound = gaussian_delta(epsilon, stddev=stddev, rounds=rounds, adjacency=adjacency, lattice=lattice)
        assert stated * (1 - 1e-15) <= bound <= stated * (1 + 1e-9)


def test_without_the_lattice_correction_it_would_not_hold():
    broken = [
        (stddev, epsilon)
        for stddev in (0.3, 0.4, 0.5, 0.7)
        for epsilon in np.linspace(0.0, 8.0, 81)
        if _lattice_delta(epsilon, [1], stddev) > gaussian_curve(epsilon, 1 / stddev)
    ]
    assert len(broken) > 10


def test_the_bound_holds_when_the_second_round_is_chosen_after_seeing_the_first():
    scale, reach = 0.8, 12
    noise = np.arange(-reach, reach + 1)
    mass = np.exp(-(noise**2) / (2 * scale**2)) / np.exp(-(noise**2) / (2 * scale**2)).sum()
    for epsilon in (0.2, 1.0, 3.0):
        exact = 0.0
        for z, p in zip(noise, mass, strict=True):
            left = epsilon - (1 + 2 * z) / (2 * scale**2)
            exact += p * max(_lattice_delta(left, moves, scale) for moves in ([1], [0], [-1]))
        assert exact <= gaussian_delta(epsilon, stddev=scale, rounds=2, adjacency="add-remove", lattice=1)


def test_the_correction_is_invisible_on_the_lattice_that_is_used():
    for stddev, epsilon in [(1.0, 3.0), (20.0, 0.5)]:
        exact = gaussian_curve(epsilon, math.sqrt(2) / stddev)
        assert exact < gaussian_delta(epsilon, stddev=stddev) < exact * (1 + 5e-6)


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf])
def test_epsilon_out_of_range_is_named(epsilon):
    with pytest.raises(SpecError, match="epsilon="):
        gaussian_delta(epsilon, stddev=1.0)
    with pytest.raises(SpecError, match="epsilon="):
        gaussian_stddev(epsilon, 1e-6)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-9, math.nan])
def test_delta_out_of_range_is_named(delta):
    with pytest.raises(SpecError, match="delta="):
        gaussian_epsilon(delta, stddev=1.0)
    with pytest.raises(SpecError, match="delta="):
        gaussian_stddev(1.0, delta)


@pytest.mark.parametrize("stddev", [0.0, -1.0, math.nan, math.inf, [1.0, 0.0], []])
def test_stddev_out_of_range_is_named(stddev):
    with pytest.raises(SpecError, match="stddev"):
        gaussian_delta(1.0, stddev=stddev)


def test_epsilon_zero_is_total_variation():
    stddev = gaussian_stddev(0.0, 0.01, adjacency="add-remove")
    assert stddev == pytest.approx(39.89, abs=0.01)  # 1/(δ√(2π)) for small δ
    with pytest.raises(SpecError, match="stddev"):  # more noise than a double can square
        gaussian_stddev(0.0, 1e-300)


def test_other_refusals():
    with pytest.raises(SpecError, match="one stddev a round"):
        gaussian_delta(1.0, stddev=[1.0, 2.0], rounds=3)
    with pytest.raises(SpecError, match="rounds="):
        gaussian_delta(1.0, stddev=1.0, rounds=0)
    with pytest.raises(SpecError, match="lattice="):
        gaussian_delta(1.0, stddev=1.0, lattice=0)
    with pytest.raises(UnsupportedAdjacency):
        gaussian_delta(1.0, stddev=1.0, adjacency="swap")


def test_noise_too_small_for_the_lattice_guarantees_nothing():
    assert gaussian_delta(1.0, stddev=1e-9) == 1.0
    assert gaussian_delta(1.0, stddev=1e-140, rounds=10**9) == 1.0


def test_sqrt_two_under_replace_one():
    ratio = gaussian_stddev(1.0, 1e-6) / gaussian_stddev(1.0, 1e-6, adjacency="add-remove")
    assert ratio == pytest.approx(float(mpmath.sqrt(2)), rel=1e-6)
