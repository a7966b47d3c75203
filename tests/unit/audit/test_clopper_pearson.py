"""The bounds are right as often as they say, by the exact binomial law and not by simulation."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import betainc, betaincc
from scipy.stats import binom

from evomix.audit.claim import epsilon_bounds
from evomix.audit.clopper_pearson import _certified, at_least, at_most

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


def _log_pmf(hits, trials, p):
    rest = mpmath.mpf(1) - p
    ways = mpmath.loggamma(trials + 1) - mpmath.loggamma(hits + 1) - mpmath.loggamma(trials - hits + 1)
    return mpmath.exp(ways + hits * mpmath.log(p) + (trials - hits) * mpmath.log(rest))


def _tail(hits, trials, p, step):
    """Return the probability of ``hits`` or more (step 1) or fewer (−1), to 20 digits, for p on the other side."""
    p = mpmath.mpf(p)
    term = total = _log_pmf(hits, trials, p)
    while 0 <= hits + step <= trials and term > total * mpmath.mpf(10) ** -20:
        odds = p / (1 - p)
        term *= odds * (trials - hits) / (hits + 1) if step > 0 else hits / odds / (trials - hits + 1)
        total, hits = total + term, hits + step
    return total


@pytest.mark.parametrize("trials", [10**3, 10**5, 10**7, 10**8, 10**9])
@pytest.mark.parametrize("mistake", [0.05, 4e-5, 1e-9])
def test_each_bound_misses_no_more_than_allowed_where_the_inverse_is_wrong_too(trials, mistake):
    hits = np.array([1, 2, 100, 998, 999, 1000] + [trials // 100] * (trials <= 10**7))
    low, high = at_least(hits, trials, mistake=mistake), at_most(hits, trials, mistake=mistake)
    with mpmath.workdps(30):
        for count, below, above in zip(hits.tolist(), low, high, strict=True):
            assert below < count / trials <= above
            missed = _tail(count, trials, below, 1), _tail(count, trials, above, -1) if count < trials else mistake
            assert max(missed) <= mistake
            # And next to no less: a bound that is far off would be safe and of no use. Near 1 floats are too coarse.
            assert count > trials // 2 or min(missed) > 0.99 * mistake


def test_the_inverse_alone_would_not_do():
    # What SciPy's inverse gives for a thousand hits in 10⁹ trials; should that be mended, this only says less.
    assert at_least(np.array([1000]), 10**9, mistake=4e-5)[0] < 0.9e-6
    for guess in (1.9e-6, 0.5e-6, np.nan, 0.0):
        found = _certified(np.array([guess]), lambda p: betainc(1000.0, 1e9 - 999.0, p), 4e-5, outward=-1.0)[0]
        assert betainc(1000.0, 1e9 - 999.0, found) <= 4e-5
        found = _certified(np.array([guess]), lambda p: betaincc(1001.0, 1e9 - 1000.0, p), 4e-5, outward=1.0)[0]
        assert betaincc(1001.0, 1e9 - 1000.0, found) <= 4e-5


@pytest.mark.parametrize("trials", [1, 10**3, 10**6, 10**9])
def test_the_ends_need_no_search(trials):
    for mistake in (0.05, 1e-17):
        none, every = np.array([0]), np.array([trials])
        assert at_least(none, trials, mistake=mistake)[0] == 0.0
        assert at_most(every, trials, mistake=mistake)[0] == 1.0
        assert -math.expm1(math.log(mistake) / trials) <= at_most(none, trials, mistake=mistake)[0] <= 1.0
        assert 0.0 < at_least(every, trials, mistake=mistake)[0] <= math.exp(math.log(mistake) / trials)


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
