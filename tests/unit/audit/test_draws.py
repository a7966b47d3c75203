"""The worst pair for mixtures: its law, and a statistic that meets δ(ε) exactly (docs/proofs/mixing.md)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, multinomial

from evomix.audit import draws as draws_module
from evomix.audit.draws import WorstCaseDraws, worst_weights
from evomix.core.errors import PrivacyError
from evomix.privacy.calibration import GRID, delta
from evomix.privacy.mechanisms.linmix import uniform_mass
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.randomness import SeededSource


def mixture(*, weight=0.5, floor=0.2, draws=6, units=4):
    return Mixture("linmix", weight, floor, draws, units, 1.0, 0.01)


def outcomes(pair):
    """Return all (λ, µ), their loss, and their exact probabilities on both sides, from first principles."""
    claimed = pair.claimed
    gap = (1.0 - claimed.mixing_weight) / claimed.units
    base = claimed.mixing_weight * pair.weights[0] / pair.weights.sum()
    m = claimed.draws
    counts = np.array([(i, j) for i in range(m + 1) for j in range(m + 1 - i)])
    rest = 1.0 - 2.0 * base - gap
    laws = [(base + gap, base, rest), (base, base + gap, rest)]
    full = np.column_stack([counts, m - counts.sum(axis=1)])
    chances = [multinomial.pmf(full, m, law) for law in laws]
    return counts, pair._loss(counts.T), chances


@pytest.mark.parametrize("units", [1, 2, 50])
@pytest.mark.parametrize(("weight", "floor"), [(0.25, 0.2), (0.5, 0.05), (0.875, 1 / 3)])
def test_the_event_beyond_epsilon_attains_delta_in_both_directions_and_a_swapped_one_does_not(weight, floor, units):
    pair = WorstCaseDraws.of(mixture(weight=weight, floor=floor, units=units))
    _, losses, (first, second) = outcomes(pair)
    epsilon = 0.6 * losses.max()
    proven = delta(epsilon, mixing_weight=weight, n=units, draws=6, floor=floor)
    there, back = losses > epsilon, -losses > epsilon
    assert first[there].sum() - math.exp(epsilon) * second[there].sum() == pytest.approx(proven, rel=1e-7)
    assert second[back].sum() - math.exp(epsilon) * first[back].sum() == pytest.approx(proven, rel=1e-7)
    assert second[there].sum() - math.exp(epsilon) * first[there].sum() < 0.0


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("floor", [0.2, 0.11], ids=["uniform", "designed"])
def test_the_sampling_code_has_the_exact_law_on_its_side_and_not_on_the_other(side, floor):
    pair = WorstCaseDraws.of(mixture(floor=floor, draws=5, units=3))
    _, losses, chances = outcomes(pair)
    trials = 30_000
    found = pair.losses(side, trials, SeededSource(side))
    simulated = pair.claimed_losses(side, trials, np.random.default_rng(side))
    values = np.unique(losses.round(9))
    law, other = (
        [chance[losses.round(9) == value].sum() for value in values] for chance in (chances[side], chances[1 - side])
    )
    for sample in (found, simulated):
        counts = [np.count_nonzero(sample.round(9) == value) for value in values]
        assert sum(counts) == trials
        assert chisquare(counts, np.array(law) * trials).pvalue > 1e-6
        assert chisquare(counts, np.array(other) * trials).pvalue < 1e-6


def test_a_trial_with_many_draws_is_split_and_keeps_its_law(monkeypatch):
    pair = WorstCaseDraws.of(mixture(draws=10, units=3))
    monkeypatch.setattr(draws_module, "_AT_ONCE", 3)
    _, losses, chances = outcomes(pair)
    found = pair.losses(0, 20_000, SeededSource(3))
    mean, spread = (
        (chances[0] * losses).sum(),
        math.sqrt((chances[0] * losses**2).sum() - (chances[0] * losses).sum() ** 2),
    )
    assert abs(found.mean() - mean) < 5.0 * spread / math.sqrt(20_000)
    assert abs(found.std() / spread - 1.0) < 0.06


@given(st.floats(1e-9, 0.5))
def test_worst_weights_keep_the_floor_and_two_masses_are_near_it(floor):
    weights = worst_weights(floor)
    mixture(floor=floor).check_weights(weights)
    if weights.size > 2:
        assert weights[0] == weights[1] == weights.min()
        assert 0 <= Fraction(int(weights[0]), int(weights.sum())) - Fraction(floor) < Fraction(1, GRID)


@pytest.mark.parametrize("candidates", [2, 3, 7, 49, 1000])
def test_a_floor_of_one_over_d_means_uniform_noise(candidates):
    assert worst_weights(uniform_mass(candidates)).tolist() == [1] * candidates


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("units", [1, 5])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("draws", [0, 1, 4])
def test_edges_have_finite_losses_on_the_expected_side(weight, units, size, draws):
    edge = mixture(weight=weight, units=units, draws=draws, floor=0.0 if size > 2 else 0.5)
    pair = WorstCaseDraws(edge, edge, np.array([1, 1, 6][:size]))
    means = []
    for side in (0, 1):
        losses = pair.losses(side, 4000, SeededSource(1))
        simulated = pair.claimed_losses(side, 4000, np.random.default_rng(1))
        assert losses.shape == (4000,)
        assert np.isfinite(losses).all()
        assert np.isfinite(simulated).all()
        means.append(losses.mean())
    if weight == 1.0 or draws == 0 or size == 1:
        assert means == [0.0, 0.0]
    else:
        assert means[0] > 0.0 > means[1]


def test_a_huge_uniform_distribution_is_not_laid_out():
    assert worst_weights(uniform_mass(10**12)).size == 3


def test_weights_below_the_floor_are_refused():
    with pytest.raises(PrivacyError, match="floor"):
        WorstCaseDraws(mixture(), mixture(floor=0.3), np.array([1, 1, 1, 1]))


def test_weights_are_multiples_that_the_account_covers():
    assert worst_weights(0.11).sum() == GRID
