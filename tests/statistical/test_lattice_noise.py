"""The noise follows the law that is accounted for, and the test would notice another one.

Proofs: docs/proofs/gaussian.md and docs/proofs/laplace.md. The noise is fresh at each run, so each test of the right
law may fail once in a million runs.
"""

import numpy as np
import pytest
from scipy import stats

from evomix.privacy.lattice_noise import LATTICE, add_gaussian, add_laplace

SIZE = 6000
ONCE_IN_A_MILLION = 1e-6


def _gaussian(value):
    return add_gaussian(np.zeros(SIZE, dtype=np.int64), stddev=value)


def _laplace(value):
    return add_laplace(np.zeros(SIZE, dtype=np.int64), scale=value)


LAWS = pytest.mark.parametrize(("draw", "law"), [(_gaussian, stats.norm), (_laplace, stats.laplace)])


@LAWS
@pytest.mark.parametrize("value", [0.01, 3.0, 5000.0])
def test_the_right_scale_is_accepted_and_others_are_rejected(draw, law, value):
    noise = draw(value) / LATTICE
    assert stats.kstest(noise, law(scale=value).cdf).pvalue > ONCE_IN_A_MILLION
    for wrong in (2 / 3, 3 / 2):
        assert stats.kstest(noise, law(scale=value * wrong).cdf).pvalue < ONCE_IN_A_MILLION


@LAWS
def test_the_other_law_with_the_same_variance_is_rejected(draw, law):
    noise = draw(3.0) / LATTICE
    spread = 3.0 * law.std()
    other = stats.laplace if law is stats.norm else stats.norm
    assert stats.kstest(noise, other(scale=spread / other.std()).cdf).pvalue < ONCE_IN_A_MILLION


def _chi_square(noise, scale, exponent):
    """p-value of the exact discrete law ∝ exp(exponent(z)) on a few integers; the tails are one cell each."""
    support = np.arange(-60, 61)
    mass = np.exp(exponent(support, scale))
    mass /= mass.sum()
    cut = 4
    cells = np.clip(support, -cut, cut)
    expected = np.array([mass[cells == cell].sum() for cell in range(-cut, cut + 1)]) * len(noise)
    observed = np.bincount(np.clip(noise, -cut, cut) + cut, minlength=2 * cut + 1)
    return stats.chisquare(observed, expected).pvalue


@pytest.mark.parametrize(
    ("draw", "exponent"),
    [(_gaussian, lambda z, s: -(z**2) / (2 * s * s)), (_laplace, lambda z, s: -np.abs(z) / s)],
)
def test_on_a_few_lattice_points_it_is_the_exact_discrete_law(draw, exponent):
    noise = draw(2.0 / LATTICE)
    assert _chi_square(noise, 2.0, exponent) > ONCE_IN_A_MILLION
    assert _chi_square(noise, 1.6, exponent) < ONCE_IN_A_MILLION
    assert _chi_square(noise, 2.5, exponent) < ONCE_IN_A_MILLION


@LAWS
def test_candidates_get_independent_noise_of_the_same_law(draw, law):
    noise = np.concatenate([draw(1.0) for _ in range(2)]) / LATTICE
    neighbours = np.corrcoef(noise[:-1], noise[1:])[0, 1]
    assert abs(neighbours) < 5.0 / np.sqrt(len(noise))
    halves = stats.ks_2samp(noise[:SIZE], noise[SIZE:])
    assert halves.pvalue > ONCE_IN_A_MILLION
