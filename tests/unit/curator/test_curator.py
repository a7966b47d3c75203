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
    line,
    mixture_of,
    records_of,
)

from evomix.core.errors import PrivacyError, PrivateRecordsFailure
from evomix.core.release import Draws, NoisyVotes
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.laplace import LaplaceHistogram

EVEN = np.ones(4, np.int64)
HISTOGRAMS = pytest.mark.parametrize(
    "mechanism",
    [GaussianHistogram(0.01, 2, 3, 1.0, 1e-6), LaplaceHistogram(0.01, 2, 3, 1.0, 1e-6)],
    ids=["gaussian", "laplace"],
)


def _watched(mechanism, **settings):
    events = []
    records = records_of([0, 1, 1], rows=WatchedRows, events=events)
    return curator_of(records, mechanism, events=events, **settings), events


def test_draws_are_exactly_the_planned_ones_and_describe_themselves():
    curator = curator_of(records_of([0, 1, 1]), mixture_of(units=3, draws=100), draws=(60, 40))
    first, second = curator.release(0, line(4), EVEN), curator.release(1, line(2), np.array([3, 1]))
    assert isinstance(first, Draws)
    assert (first.draws, second.draws) == (60, 40)
    assert len(first.counts) == 4
    assert (first.mixing_weight, first.units) == (0.5, 3)
    assert second.noise_distribution.tolist() == [0.75, 0.25]


@HISTOGRAMS
def test_a_histogram_is_the_votes_plus_noise(mechanism):
    release = curator_of(records_of([0, 1, 1]), mechanism).release(0, line(4))
    assert isinstance(release, NoisyVotes)
    assert np.abs(release.votes - [1, 2, 0, 0]).max() < 0.3


def test_the_ledger_knows_of_a_round_before_a_record_is_read():
    curator, events = _watched(mixture_of(units=3, draws=90), draws=(30, 30, 30))
    assert events == []
    for index in range(3):
        curator.release(index, line(4), EVEN)
    assert events == ["begin 0", "read", "begin 1", "begin 2"]  # all voters are read at once


@HISTOGRAMS
def test_the_ledger_knows_of_a_histogram_before_a_record_is_read(mechanism):
    curator, events = _watched(mechanism)
    curator.release(0, line(4))
    curator.release(1, line(4))
    assert events == ["begin 0", "read", "begin 1", "read"]


def test_a_ledger_that_refuses_lets_nothing_be_read():
    class Refusing:
        def begin_round(self, round_index):
            raise PrivacyError("no")

    curator, events = _watched(mixture_of(units=3, draws=30), draws=(30,))
    curator._ledger = Refusing()
    with pytest.raises(PrivacyError, match="no"):
        curator.release(0, line(4), EVEN)
    assert events == []


@pytest.mark.parametrize("index", [1, -1, 5])
def test_rounds_come_in_order(index):
    curator, events = _watched(mixture_of(units=3, draws=30), draws=(10, 10, 10))
    with pytest.raises(PrivacyError, match="expected round 0"):
        curator.release(index, line(4), EVEN)
    assert events == []


def test_a_round_is_never_released_twice():
    curator, events = _watched(mixture_of(units=3, draws=30), draws=(10, 20))
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

    curator = curator_of(records_of([0, 1]), mixture_of(units=2, draws=20), draws=(10, 10), embedder=Broken())
    with pytest.raises(PrivateRecordsFailure, match="ZeroDivisionError"):
        curator.release(0, line(4), EVEN)
    with pytest.raises(PrivacyError, match="expected round 1"):
        curator.release(0, line(4), EVEN)


@pytest.mark.parametrize(
    "mechanism", [mixture_of(units=3, draws=30), GaussianHistogram(1.0, 2, 3, 1.0, 1e-6)], ids=["mixture", "gaussian"]
)
def test_no_round_beyond_the_accounted_ones(mechanism):
    curator, events = _watched(mechanism, draws=(15, 15))
    curator.release(0, line(4), EVEN)
    curator.release(1, line(4), EVEN)
    before = list(events)
    with pytest.raises(PrivacyError, match="rounds=2"):
        curator.release(2, line(4), EVEN)
    assert events == before


@pytest.mark.parametrize("draws", [(20, 11), (31,), (50, -20)])
def test_more_draws_than_accounted_for_are_refused(draws):
    with pytest.raises(PrivacyError, match="accounted"):
        curator_of(records_of([0, 1, 1]), mixture_of(units=3, draws=30), draws=draws)


@pytest.mark.parametrize("mechanism", [mixture_of(units=4, draws=30), GaussianHistogram(1.0, 2, 4, 1.0, 1e-6)])
def test_a_mechanism_for_another_number_of_units_is_refused(mechanism):
    with pytest.raises(PrivacyError, match="units=4"):
        curator_of(records_of([0, 1, 1]), mechanism, draws=(30,))


@pytest.mark.parametrize(
    "weights",
    [None, np.ones(3, np.int64), np.ones(5, np.int64), np.array([1, 1, 1, 0]), np.full(4, 2**62), np.full(4, 0.25)],
    ids=["none", "too few", "too many", "below the floor", "overflow", "floats"],
)
def test_weights_that_are_not_accounted_for_are_refused_before_the_round_counts(weights):
    curator, events = _watched(mixture_of(units=3, draws=30), draws=(30,))
    with pytest.raises(PrivacyError):
        curator.release(0, line(4), weights)
    assert events == []
    curator.release(0, line(4), EVEN)  # so the round is still to be had


def test_an_interrupted_run_goes_on_with_the_rounds_to_come():
    curator, events = _watched(mixture_of(units=3, draws=60), draws=(10, 20, 30), first_round=2)
    with pytest.raises(PrivacyError, match="expected round 2"):
        curator.release(1, line(4), EVEN)
    assert curator.release(2, line(4), EVEN).draws == 30
    assert events == ["begin 2", "read"]


def test_an_empty_table_gives_noise_alone():
    curator = curator_of(records_of([]), mixture_of(units=0, draws=500), draws=(500,))
    release = curator.release(0, line(4), EVEN)
    assert release.draws == 500
    assert release.counts.min() > 60


def test_a_single_candidate_gets_all_draws():
    curator = curator_of(records_of([0, 1, 1]), mixture_of(units=3, draws=50, floor=0.5), draws=(50,))
    assert curator.release(0, line(1), np.ones(1, np.int64)).counts.tolist() == [50]


def test_an_error_in_the_noise_is_withheld(monkeypatch):
    def quoting(self, votes):
        raise RuntimeError(f"cannot add noise to {votes.tolist()}")

    monkeypatch.setattr(GaussianHistogram, "privatise", quoting)
    with pytest.raises(PrivateRecordsFailure, match="RuntimeError") as caught:
        curator_of(records_of([0, 1, 1]), GaussianHistogram(1.0, 1, 3, 1.0, 1e-6)).release(0, line(4))
    assert "[" not in str(caught.value)
    assert caught.value.__context__ is None


def test_the_curator_stays_where_it_is():
    curator = curator_of(records_of([765432.5]), mixture_of(units=1, draws=5), draws=(5,))
    assert repr(curator) == "Curator(<withheld>)"
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            leave(curator)
