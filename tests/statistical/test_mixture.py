"""The sampler has the law that is accounted for, and a wrong law is noticed (docs/proofs/mixing.md)."""

import numpy as np
import pytest
from scipy.stats import chisquare

from evomix.privacy.mechanisms.mixture import Mixture, draw_noise
from evomix.privacy.randomness import SeededSource, SystemSource, uniform_below

DRAWS = 60_000


def sample(mixture, votes, weights, source):
    """One round as the curator computes it, with records given by their votes."""
    private = mixture.private_share(DRAWS, source)
    counts = np.bincount(votes[uniform_below(source, len(votes), private)], minlength=len(weights))
    return counts + np.bincount(draw_noise(weights, DRAWS - private, source), minlength=len(weights))


@pytest.mark.parametrize("source", [SystemSource(), SeededSource(5)], ids=["system", "seeded"])
def test_draws_follow_the_mixture(source):
    votes = np.array([0, 0, 0, 1, 1, 2])
    weights = np.array([1, 2, 3, 4]) * 2**49
    mixture = Mixture("pubmix", 0.375, 0.1, DRAWS, len(votes), 1.0, 1e-6)
    law = 0.625 * np.bincount(votes, minlength=4) / 6 + 0.375 * weights / weights.sum()
    counts = sample(mixture, votes, weights, source)
    assert counts.sum() == DRAWS
    assert chisquare(counts, law * DRAWS).pvalue > 1e-6
    wrong = 0.7 * np.bincount(votes, minlength=4) / 6 + 0.3 * weights / weights.sum()
    assert chisquare(counts, wrong * DRAWS).pvalue < 1e-6


def test_integers_are_uniform_for_awkward_bounds():
    source = SeededSource(1)
    for bound in (1, 2, 3, 7, 2**31 + 1, 2**62 + 1):
        drawn = uniform_below(source, bound, 20_000)
        assert drawn.min() >= 0
        assert drawn.max() < bound
        cells = np.bincount((drawn.astype(object) * 5 // bound).astype(int), minlength=5) if bound >= 5 else None
        if cells is not None and bound > 7:
            assert chisquare(cells).pvalue > 1e-6
    assert set(uniform_below(source, 3, 200)) == {0, 1, 2}


def test_bounds_may_differ_and_must_be_positive():
    source = SystemSource()
    bounds = np.array([1, 5, 2, 10**12])
    assert (source.below(bounds) < bounds).all()
    with pytest.raises(ValueError, match="bounds"):
        source.below(np.array([3, 0]))


def test_no_private_draw_from_an_empty_table():
    assert Mixture("linmix", 0.5, 0.1, 100, 0, 1.0, 1e-6).private_share(100, SystemSource()) == 0


def test_system_draws_differ_between_calls():
    source = SystemSource()
    assert not np.array_equal(uniform_below(source, 2**40, 50), uniform_below(source, 2**40, 50))
