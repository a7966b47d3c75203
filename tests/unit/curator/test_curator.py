"""One release a round, charged before a record is read, and nothing else comes out."""

import copy
import pickle

import numpy as np
import pytest
from curator_parts import (
    NearestNumber,
    NumberEmbedder,
    WatchedRows,
    curator_of,
    draws_of,
    gaussian_of,
    histograms_of,
    laplace_of,
    line,
    mixture_of,
    records_of,
)

from evomix.core.errors import PrivacyError, PrivateRecordsFailure
from evomix.core.release import Draws, NoisyVotes
from evomix.privacy.mechanisms.gaussian import GaussianHistogram

EVEN = np.ones(4, np.int64)
HISTOGRAMS = pytest.mark.parametrize(
    "account",
    [histograms_of(gaussian_of(units=3, rounds=2)), histograms_of(laplace_of(units=3, rounds=2))],
    ids=["gaussian", "laplace"],
)


def _mixing(*draws, units=3, floor=0.125):
    return draws_of(mixture_of(units=units, draws=sum(draws), floor=floor), *draws)


def _watched(account, **settings):
    events = []
    records = records_of([0, 1, 1], rows=WatchedRows, events=events)
    return curator_of(records, account, events=events, **settings), events


def test_draws_are_exactly_the_planned_ones_and_describe_themselves():
    curator = curator_of(records_of([0, 1, 1]), _mixing(60, 40))
    first, second = curator.release(0, line(4), EVEN), curator.release(1, line(2), np.array([3, 1]))
    assert isinstance(first, Draws)
    assert (first.draws, second.draws) == (60, 40)
    assert len(first.counts) == 4
    assert (first.mixing_weight, first.units) == (0.5, 3)
    assert second.noise_distribution.tolist() == [0.75, 0.25]


@HISTOGRAMS
def test_a_histogram_is_the_votes_plus_noise(account):
    release = curator_of(records_of([0, 1, 1]), account).release(0, line(4))
    assert isinstance(release, NoisyVotes)
    assert np.abs(release.votes - [1, 2, 0, 0]).max() < 3.0


def test_the_ledger_knows_of_a_round_before_a_record_is_read():
    curator, events = _watched(_mixing(30, 30, 30))
    assert events == []
    for index in range(3):
        curator.release(index, line(4), EVEN)
    assert events == ["begin 0", "read", "begin 1", "begin 2"]  # all voters are read at once


@HISTOGRAMS
def test_the_ledger_knows_of_a_histogram_before_a_record_is_read(account):
    curator, events = _watched(account)
    curator.release(0, line(4))
    curator.release(1, line(4))
    assert events == ["begin 0", "read", "begin 1", "read"]


def test_a_ledger_that_refuses_lets_nothing_be_read():
    class Refusing:
        def begin_round(self, round_index):
            raise PrivacyError("no")

    curator, events = _watched(_mixing(30))
    curator._ledger = Refusing()
    with pytest.raises(PrivacyError, match="no"):
        curator.release(0, line(4), EVEN)
    assert events == []


@pytest.mark.parametrize("index", [1, -1, 5])
def test_rounds_come_in_order(index):
    curator, events = _watched(_mixing(10, 10, 10))
    with pytest.raises(PrivacyError, match="expected round 0"):
        curator.release(index, line(4), EVEN)
    assert events == []


def test_a_round_is_never_released_twice():
    curator, events = _watched(_mixing(10, 20))
    curator.release(0, line(4), EVEN)
    with pytest.raises(PrivacyError, match="expected round 1"):
        curator.release(0, line(4), EVEN)
    assert events.count("begin 0") == 1


def test_a_round_that_failed_is_not_tried_again():
    class Broken(NumberEmbedder):
        def index(self, candidates):
            index = NearestNumber(candidates)
            index.nearest = lambda records: 1 / 0
            return index

    curator = curator_of(records_of([0, 1]), _mixing(40, 40, units=2), embedder=Broken())
    with pytest.raises(PrivateRecordsFailure, match="ZeroDivisionError"):
        curator.release(0, line(4), EVEN)
    with pytest.raises(PrivacyError, match="expected round 1"):
        curator.release(0, line(4), EVEN)


@pytest.mark.parametrize(
    "account", [_mixing(15, 15), histograms_of(gaussian_of(units=3, rounds=2))], ids=["mixture", "gaussian"]
)
def test_no_round_beyond_the_accounted_ones(account):
    curator, events = _watched(account)
    weights = EVEN if any(account.draws) else None
    curator.release(0, line(4), weights)
    curator.release(1, line(4), weights)
    before = list(events)
    with pytest.raises(PrivacyError, match="rounds=2"):
        curator.release(2, line(4), weights)
    assert events == before


@pytest.mark.parametrize("account", [_mixing(30, units=4), histograms_of(gaussian_of(units=4))])
def test_an_account_for_another_number_of_units_is_refused(account):
    with pytest.raises(PrivacyError, match="units=4"):
        curator_of(records_of([0, 1, 1]), account)


def test_a_mechanism_that_was_not_scheduled_is_refused():
    curator, events = _watched(_mixing(30))
    with pytest.raises(PrivacyError, match="fixed in advance"):
        curator.release(0, line(4), EVEN, mixture_of(units=3, draws=30, weight=0.25))
    assert events == []


@pytest.mark.parametrize(
    "weights",
    [None, np.ones(3, np.int64), np.ones(5, np.int64), np.array([1, 1, 1, 0]), np.full(4, 2**62), np.full(4, 0.25)],
    ids=["none", "too few", "too many", "below the floor", "overflow", "floats"],
)
def test_weights_that_are_not_accounted_for_are_refused_before_the_round_counts(weights):
    curator, events = _watched(_mixing(30))
    with pytest.raises(PrivacyError):
        curator.release(0, line(4), weights)
    assert events == []
    curator.release(0, line(4), EVEN)  # so the round is still to be had


def test_an_interrupted_run_goes_on_with_the_rounds_to_come():
    curator, events = _watched(_mixing(10, 20, 30), first_round=2)
    with pytest.raises(PrivacyError, match="expected round 2"):
        curator.release(1, line(4), EVEN)
    assert curator.release(2, line(4), EVEN).draws == 30
    assert events == ["begin 2", "read"]


def test_an_empty_table_gives_noise_alone():
    release = curator_of(records_of([]), _mixing(400, units=0)).release(0, line(4), EVEN)
    assert release.draws == 400
    assert release.counts.min() > 40


def test_a_single_candidate_gets_all_draws():
    curator = curator_of(records_of([0, 1, 1]), _mixing(50, floor=0.5))
    assert curator.release(0, line(1), np.ones(1, np.int64)).counts.tolist() == [50]


def test_an_error_in_the_noise_is_withheld(monkeypatch):
    def quoting(self, votes):
        raise RuntimeError(f"cannot add noise to {votes.tolist()}")

    monkeypatch.setattr(GaussianHistogram, "privatise", quoting)
    with pytest.raises(PrivateRecordsFailure, match="RuntimeError") as caught:
        curator_of(records_of([0, 1, 1]), histograms_of(gaussian_of(units=3))).release(0, line(4))
    assert "[" not in str(caught.value)
    assert caught.value.__context__ is None


def test_the_curator_stays_where_it_is():
    curator = curator_of(records_of([765432.5]), _mixing(5, units=1))
    assert repr(curator) == "Curator(<withheld>)"
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            leave(curator)
