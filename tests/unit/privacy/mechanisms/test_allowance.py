"""What an adaptive run may spend: every round within its share, all shares within the budget, lost rounds in full.

Proof: docs/proofs/composition.md.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import BudgetExceeded, PrivacyError
from evomix.privacy.calibration import GRID
from evomix.privacy.mechanisms.allowance import Allowance, equal_shares
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.laplace import LaplaceHistogram
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.mechanisms.pubmix import public_weights
from evomix.privacy.mechanisms.schedule import accounted_round
from evomix.privacy.renyi import renyi_budget, renyi_divergence

EPSILON, DELTA, UNITS, ORDER = 1.0, 1e-6, 2000, 24.0
DRAWS = (300, 0, 200)
PUBLIC = np.array([0.6, 0.2, 0.1, 0.1, 0.0, 0.0])


def _allowance(**changes):
    given = {"units": UNITS, "draws": DRAWS, "shares": equal_shares(3), "order": ORDER}
    return Allowance(EPSILON, DELTA, **(given | changes))


def _spend(allowance, index, mechanism):
    allowance.spend(index, allowance.mechanism_of(index, mechanism))


@given(st.integers(1, 5000))
def test_equal_shares_use_the_budget_and_never_more(rounds):
    shares = equal_shares(rounds)
    assert len(shares) == rounds
    assert Fraction(1) - Fraction(rounds, 2**50) < sum(map(Fraction, shares)) <= 1


@pytest.mark.parametrize(
    ("name", "kind", "index"),
    [
        ("linmix", Mixture, 0),
        ("pubmix", Mixture, 0),
        ("gaussian", GaussianHistogram, 1),
        ("laplace", LaplaceHistogram, 1),
    ],
)
def test_the_chosen_noise_is_the_least_that_the_share_allows(name, kind, index):
    allowance = _allowance()
    chosen = allowance.choose(index, name, candidates=6, public=PUBLIC, proximity=0.2)
    assert isinstance(chosen, kind)
    assert chosen.name == name
    most = renyi_budget(EPSILON, DELTA, ORDER) / 3
    cost = renyi_divergence(accounted_round(chosen, DRAWS[index]), ORDER)
    assert 0.999 * most < cost <= most
    assert allowance.mechanism_of(index, chosen) is chosen


def test_the_floor_is_that_of_the_rounds_own_candidates():
    allowance = _allowance()
    few, many = (allowance.choose(0, "linmix", candidates=size) for size in (5, 50))
    assert few.floor > many.floor
    assert few.mixing_weight < many.mixing_weight
    assert allowance.choose(0, "linmix", candidates=1).floor == 0.5
    assert allowance.choose(0, "pubmix", candidates=1).name == "pubmix"


def test_pubmix_designs_its_floor_on_the_public_votes_of_the_round():
    allowance = _allowance()
    near = allowance.choose(0, "pubmix", candidates=6, public=PUBLIC, proximity=0.05)
    far = allowance.choose(0, "pubmix", candidates=6, public=PUBLIC, proximity=1.0)
    assert near.floor < far.floor <= 1 / 6
    near.check_weights(public_weights(PUBLIC, mixture=near, proximity=0.05))


def test_shares_left_over_are_not_passed_on():
    """Otherwise a round that was lost could have cost more than its share."""
    allowance = _allowance()
    _spend(allowance, 0, Mixture("linmix", 1.0, 0.25, 300, UNITS, EPSILON, DELTA))  # costs nothing
    sharper = GaussianHistogram(allowance.choose(1, "gaussian", candidates=6).stddev * 0.9, 1, UNITS, EPSILON, DELTA)
    with pytest.raises(BudgetExceeded, match="share"):
        allowance.mechanism_of(1, sharper)


@pytest.mark.parametrize("begun", [(), (0,), (1,), (0, 1), (0, 1, 2)])
def test_a_round_that_was_begun_counts_with_its_whole_share(begun):
    fresh, resumed = _allowance(), _allowance(begun=begun)
    assert resumed._filter.spent == pytest.approx(len(begun) / 3 * fresh._filter.budget)
    for index in set(range(3)) - set(begun):
        name = "gaussian" if index == 1 else "linmix"
        chosen = resumed.choose(index, name, candidates=6)
        assert accounted_round(chosen, DRAWS[index]) == accounted_round(
            fresh.choose(index, name, candidates=6), DRAWS[index]
        )
        _spend(resumed, index, chosen)
    assert resumed._filter.spent <= resumed._filter.budget


def test_a_round_cannot_be_had_twice():
    allowance = _allowance()
    chosen = allowance.choose(1, "gaussian", candidates=6)
    for index in range(3):
        if index == 1:
            _spend(allowance, 1, chosen)
        else:
            _spend(allowance, index, allowance.choose(index, "linmix", candidates=6))
    with pytest.raises(BudgetExceeded):
        allowance.mechanism_of(1, chosen)
    with pytest.raises(BudgetExceeded):
        allowance.spend(1, chosen)


WRONG = {
    "no round": {"draws": (), "shares": ()},
    "another number of rounds": {"draws": (1, 2)},
    "negative draws": {"draws": (300, -1, 200)},
    "no share": {"shares": (0.5, 0.0, 0.5)},
    "a negative share": {"shares": (0.9, -0.1, 0.2)},
    "no number": {"shares": (math.nan, 0.1, 0.1)},
    "more than all": {"shares": (0.5, 0.3, 0.2 + 2e-16)},
}


@pytest.mark.parametrize("case", WRONG)
def test_shares_that_do_not_fit_are_refused(case):
    with pytest.raises(PrivacyError, match="share"):
        _allowance(**WRONG[case])


@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
@pytest.mark.parametrize("units", [0, 1, 10**6])
def test_at_the_ends_of_the_budget_there_is_still_a_release(epsilon, units):
    allowance = Allowance(
        epsilon, DELTA, units=units, draws=DRAWS, shares=equal_shares(3), order=1e8 if epsilon < 1 else 3.0
    )
    for index, name in enumerate(("linmix", "gaussian", "linmix")):
        _spend(allowance, index, allowance.choose(index, name, candidates=4))


def test_what_is_told_rebuilds_the_allowance():
    told = _allowance().describe()
    assert (told["accountant"], told["order"], told["draws"]) == ("renyi", ORDER, 500)
    again = _allowance(shares=tuple(told["shares"]), order=told["order"])
    assert again.describe() == told


def _divergences(first, second, epsilon):
    return max(
        sum(max(p - math.exp(epsilon) * q, 0.0) for p, q in zip(a, b, strict=True))
        for a, b in ((first, second), (second, first))
    )


def _law_of(counts, mixture, noise):
    """Return the law of a round of one draw from a mixture, over the candidates."""
    return (1.0 - mixture.mixing_weight) * counts / counts.sum() + mixture.mixing_weight * noise


def _adaptive_law(votes, allowance, later):
    """Return the law of two rounds of one draw, the second's mixture chosen after the first's outcome."""
    laws = []
    first = allowance.choose(0, "linmix", candidates=2)
    for outcome, chance in enumerate(_law_of(votes, first, np.full(2, 0.5))):
        second = later(outcome)
        size = max(round(1 / second.floor), 2)
        noise = np.full(size, 1 / size)
        shown = np.zeros(size)
        shown[:2] = votes
        laws.append(chance * _law_of(shown, second, noise))
    return np.concatenate(laws)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.2, 4.0), st.integers(1, 3), st.tuples(st.integers(2, 6), st.integers(2, 6)))
def test_an_adaptive_run_of_tiny_rounds_keeps_its_epsilon_and_delta(epsilon, units, sizes):
    """The second round's weight and floor depend on what came first; all outcomes are counted."""
    delta = 0.05
    order = next(order for order in (2.0, 4.0, 8.0, 16.0, 64.0) if renyi_budget(epsilon, delta, order) > 0.2 * epsilon)
    allowance = Allowance(epsilon, delta, units=units, draws=(1, 1), shares=equal_shares(2), order=order)
    neighbours = np.array([1.0, units - 1.0]), np.array([0.0, float(units)])
    laws = [
        _adaptive_law(votes, allowance, lambda outcome: allowance.choose(1, "linmix", candidates=sizes[outcome]))
        for votes in neighbours
    ]
    assert _divergences(*laws, epsilon) <= delta


def test_a_run_that_gives_each_round_the_whole_budget_is_convicted():
    """The wrong variant: a filter that forgets what was spent."""
    epsilon, delta, rounds = 1.0, 0.05, 4
    whole = Allowance(epsilon, delta, units=1, draws=(1,), shares=(1.0,), order=8.0)
    mixture = whole.choose(0, "linmix", candidates=2)
    laws = [_law_of(votes, mixture, np.full(2, 0.5)) for votes in (np.array([1.0, 0.0]), np.array([0.0, 1.0]))]
    assert _divergences(*laws, epsilon) <= delta
    products = [
        np.array([math.prod(law[place] for place in places) for places in itertools.product(range(2), repeat=rounds)])
        for law in laws
    ]
    assert _divergences(*products, epsilon) > delta


def test_a_weight_just_below_the_chosen_one_is_refused():
    allowance = _allowance()
    chosen = allowance.choose(0, "linmix", candidates=6)
    less = Mixture("linmix", (chosen.numerator - GRID // 10**9) / GRID, chosen.floor, 300, UNITS, EPSILON, DELTA)
    with pytest.raises(BudgetExceeded):
        allowance.mechanism_of(0, less)
