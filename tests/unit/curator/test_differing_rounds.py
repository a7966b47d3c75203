"""Rounds may have mechanisms of their own, fixed in advance or chosen as they come; each is held to its own account.

Proof: docs/proofs/composition.md.
"""

import numpy as np
import pytest
from curator_parts import (
    BUDGET,
    NearestNumber,
    WatchedRows,
    curator_of,
    gaussian_of,
    laplace_of,
    line,
    mixture_of,
    records_of,
)
from scipy.stats import chisquare

from evomix.core.errors import BudgetExceeded, PrivacyError, PrivateRecordsFailure
from evomix.core.release import Draws, NoisyVotes
from evomix.curator.voting import vote
from evomix.privacy.mechanisms.allowance import Allowance, equal_shares
from evomix.privacy.mechanisms.mixture import Mixture, draw_noise
from evomix.privacy.mechanisms.schedule import Schedule
from evomix.privacy.randomness import SeededSource

EVEN = np.ones(4, np.int64)
VALUES = [0, 1, 1]


def _mixed():
    """Return a mixture, a histogram, and a mixture with another weight and a smaller floor."""
    first, last = mixture_of(units=3, draws=60), mixture_of(units=3, draws=40, weight=0.25, floor=0.0625)
    return Schedule("pld", (first, gaussian_of(units=3), last), (60, 0, 40), *BUDGET)


def _allowance(*, draws=(60, 0, 40), begun=(), epsilon=5.0):
    return Allowance(epsilon, 1e-3, units=3, draws=draws, shares=equal_shares(len(draws)), order=3.0, begun=begun)


def _watched(account, **settings):
    events = []
    records = records_of(VALUES, rows=WatchedRows, events=events)
    return curator_of(records, account, events=events, **settings), events


def test_each_round_is_released_by_its_own_mechanism():
    curator, events = _watched(_mixed())
    first = curator.release(0, line(4), EVEN)
    second = curator.release(1, line(4))
    third = curator.release(2, line(8), np.ones(8, np.int64))
    assert isinstance(second, NoisyVotes)
    assert np.abs(second.votes - [1, 2, 0, 0]).max() < 3.0
    assert [(type(one), one.draws, one.mixing_weight) for one in (first, third)] == [
        (Draws, 60, 0.5),
        (Draws, 40, 0.25),
    ]
    # Voters of both mixtures are drawn at once; a histogram asks everyone in its own round.
    assert events == ["begin 0", "read", "begin 1", "read", "begin 2"]


def test_a_weight_that_only_another_round_may_have_is_refused():
    curator, events = _watched(_mixed())
    thin = np.ones(8, np.int64)  # 1/8 each is enough here, as 1/16 is in the last round
    curator.release(0, line(8), thin)
    curator.release(1, line(8))
    before = list(events)
    too_thin = np.array([1, 17], np.int64)
    with pytest.raises(PrivacyError, match=r"floor=0\.0625"):
        curator.release(2, line(2), too_thin)
    assert events == before
    curator, events = _watched(_mixed())
    with pytest.raises(PrivacyError, match=r"floor=0\.125"):
        curator.release(0, line(16), np.ones(16, np.int64))
    assert events == []


def test_the_private_share_of_each_round_is_that_of_its_weight():
    draws = (20_000, 20_000)
    mixtures = tuple(mixture_of(units=3, draws=20_000, weight=weight, floor=0.25) for weight in (0.25, 0.75))
    account = Schedule("pld", mixtures, draws, 1e6, 0.5)
    curator = curator_of(records_of([0, 0, 0]), account)
    votes = np.array([1.0, 0.0, 0.0])
    for index, weight in enumerate((0.25, 0.75)):
        counts = curator.release(index, line(3), np.array([1, 1, 1])).counts
        law = (1 - weight) * votes + weight / 3
        other = weight * votes + (1 - weight) / 3
        assert chisquare(counts, law * counts.sum()).pvalue > 1e-6
        assert chisquare(counts, other * counts.sum()).pvalue < 1e-6


def test_a_run_of_one_mechanism_uses_its_randomness_as_it_always_did():
    """How many draws are private in every round, then all voters, then each round's noise."""
    mixture, draws = mixture_of(units=3, draws=90), (60, 30)
    curator = curator_of(records_of(VALUES), Schedule("draws", (mixture,) * 2, draws, *BUDGET), source=SeededSource(5))
    source, records = SeededSource(5), records_of(VALUES)
    sizes = [mixture.private_share(size, source) for size in draws]
    voters = np.split(records.read(records.draw_rows(sum(sizes), source)), [sizes[0]])
    for index in range(2):
        counts = vote(NearestNumber(line(4)), voters[index], 4)
        counts += np.bincount(draw_noise(EVEN, draws[index] - sizes[index], source), minlength=4)
        assert np.array_equal(curator.release(index, line(4), EVEN).counts, counts)


def test_a_chosen_mechanism_is_released_and_its_voters_are_drawn_in_its_own_round():
    account = _allowance()
    curator, events = _watched(account)
    for index, name in enumerate(("linmix", "laplace", "linmix")):
        mechanism = account.choose(index, name, candidates=4)
        release = curator.release(index, line(4), EVEN if isinstance(mechanism, Mixture) else None, mechanism)
        assert isinstance(release, NoisyVotes if name == "laplace" else Draws)
        if isinstance(release, Draws):
            assert release.draws == account.draws[index]
            assert release.mixing_weight == mechanism.mixing_weight
    assert events == ["begin 0", "read", "begin 1", "read", "begin 2", "read"]


def _less_noise(account, index):
    chosen = account.choose(index, "linmix", candidates=4)
    weight = (chosen.numerator - 2**30) / 2**53
    return Mixture("linmix", weight, chosen.floor, chosen.draws, 3, account.epsilon, account.delta)


REFUSED = {
    "nothing proposed": (lambda account: None, PrivacyError, "needs a mechanism"),
    "less noise": (lambda account: _less_noise(account, 0), BudgetExceeded, "less noise than its share"),
    "a smaller floor": (
        lambda account: Mixture(
            "linmix", account.choose(0, "linmix", candidates=4).mixing_weight, 0.2, 60, 3, 5.0, 1e-3
        ),
        BudgetExceeded,
        "less noise than its share",
    ),
    "other units": (lambda account: mixture_of(units=4, draws=60), PrivacyError, "units=4"),
    "fewer draws": (
        lambda account: Mixture("linmix", 1.0, 0.25, 59, 3, 5.0, 1e-3),
        PrivacyError,
        "does not account for",
    ),
    "a histogram with hardly any noise": (lambda account: gaussian_of(units=3), PrivacyError, "does not account for"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_round_beyond_its_share_is_refused_before_anything_is_computed(case):
    propose, error, words = REFUSED[case]
    account = _allowance()
    curator, events = _watched(account)
    with pytest.raises(error, match=words):
        curator.release(0, line(4), EVEN, propose(account))
    assert events == []
    curator.release(0, line(4), EVEN, account.choose(0, "linmix", candidates=4))  # nothing was spent


def test_a_histogram_beyond_its_share_is_refused():
    account = _allowance(draws=(0, 0))
    curator, events = _watched(account)
    for mechanism in (gaussian_of(units=3), laplace_of(units=3)):
        with pytest.raises(BudgetExceeded, match="less noise"):
            curator.release(0, line(4), None, mechanism)
    assert events == []


def test_one_round_too_many_is_refused_also_under_an_allowance():
    account = _allowance(draws=(60,))
    curator, events = _watched(account)
    mechanism = account.choose(0, "linmix", candidates=4)
    curator.release(0, line(4), EVEN, mechanism)
    before = list(events)
    with pytest.raises(PrivacyError, match="rounds=1 releases"):
        curator.release(1, line(4), EVEN, mechanism)
    assert events == before


def test_the_filter_counts_a_round_as_soon_as_it_is_begun():
    class Broken(WatchedRows):
        def _take(self, positions, columns):
            raise OSError("disk")

    account = _allowance(draws=(60, 60))
    records = records_of(VALUES, rows=Broken, events=[])
    curator = curator_of(records, account)
    before = account._filter.spent
    with pytest.raises(PrivateRecordsFailure, match="OSError"):
        curator.release(0, line(4), EVEN, account.choose(0, "linmix", candidates=4))
    assert account._filter.spent > before
    with pytest.raises(PrivacyError, match="expected round 1"):
        curator.release(0, line(4), EVEN, account.choose(1, "linmix", candidates=4))
