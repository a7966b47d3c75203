"""The bounds are right as often as they say, by the exact binomial law and not by simulation."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from evomix.audit.claim import epsilon_bounds
from evomix.audit.clopper_pearson import at_least, at_most

MISTAKE = 0.01


@pytest.mark.parametrize("trials", [1, 7, 60, 2000])
@pytest.mark.parametrize("p", [0.0, 1e-3, 0.03, 0.5, 0.97, 1.0])
def test_each_bound_is_wrong_no_more_often_than_its_mistake_rate(trials, p):
    hits = np.arange(trials + 1)
    law = binom.pmf(hits, trials, p)
    low, high = at_least(hits, trials, mistake=MISTAKE), at_most(hits, trials, mistake=MISTAKE)
    assert law[low > p].sum() <= MISTAKE
    assert law[high < p].sum() <= MISTAKE


def test_the_bounds_are_no_wider_than_they_must_be():
    hits, p = np.arange(2001), 0.03
    law = binom.pmf(hits, 2000, p)
    # One hit fewer would already be allowed to be wrong: the rate is spent to within one outcome's probability.
    assert law[np.append(at_least(hits, 2000, mistake=MISTAKE)[1:], 1.0) > p].sum() > MISTAKE
    assert law[np.append(0.0, at_most(hits, 2000, mistake=MISTAKE)[:-1]) < p].sum() > MISTAKE


def test_known_values():
    # No hit in N trials: 1 − α^(1/N). The smallest sample has both bounds at α and 1 − α.
    assert at_most(np.array([0]), 10, mistake=0.05)[0] == pytest.approx(1.0 - 0.05**0.1, rel=1e-8)
    assert at_least(np.array([10]), 10, mistake=0.05)[0] == pytest.approx(0.05**0.1, rel=1e-8)
    assert at_least(np.array([0]), 10, mistake=0.05)[0] == 0.0
    assert at_most(np.array([10]), 10, mistake=0.05)[0] == 1.0


def _bound(likely, other, *, trials, delta):
    return float(epsilon_bounds(np.array([likely]), np.array([other]), trials=trials, delta=delta, mistake=MISTAKE)[0])


def _plug_in(likely, other, delta):
    return math.log(max((likely - delta) / other, 1.0)) if other > 0 else math.inf


# (δ, probability on the likely side, on the other): true ε of the event, from weak to strong.
PAIRS = [(0.0, 0.5, 0.25), (0.01, 0.2, 0.05), (0.05, 0.3, 0.01), (0.1, 0.1, 0.4)]


@pytest.mark.parametrize(("delta", "likely", "other"), PAIRS)
def test_the_bound_on_epsilon_exceeds_the_truth_no_more_often_than_both_halves_may(delta, likely, other):
    trials = 80
    truth = max(0.0, math.log(max((likely - delta) / other, 1.0)))
    hits = np.arange(trials + 1)
    joint = binom.pmf(hits, trials, likely)[:, None] * binom.pmf(hits, trials, other)[None, :]
    wrong = plug_in = swapped = 0.0
    for i in hits:
        for j in hits:
            if joint[i, j] < 1e-15:
                continue
            bound = _bound(i, j, trials=trials, delta=delta)
            wrong += joint[i, j] * (bound > truth)
            plug_in += joint[i, j] * (_plug_in(i / trials, j / trials, delta) > truth)
            outer = [float(b(np.array([h]), trials, mistake=MISTAKE)[0]) for b, h in ((at_most, i), (at_least, j))]
            swapped += joint[i, j] * (_plug_in(*outer, delta) > truth)
    assert wrong <= 2 * MISTAKE
    if truth > 0.0:  # without the confidence bounds, or with each on the wrong side, it would be wrong all the time
        assert plug_in > 0.2
        assert swapped > 0.9


def test_a_bound_below_zero_says_nothing():
    assert _bound(5, 50, trials=100, delta=0.01) == 0.0
    assert _bound(0, 0, trials=100, delta=0.01) == 0.0
