"""The curator's one noisy number: charged before it is read, silent on failures. Proof: docs/proofs/distance.md."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from curator_parts import EventLedger, NumberEmbedder, WatchedRows, line, records_of

from evomix.core.errors import PrivacyError, PrivateRecordsFailure
from evomix.curator.distance import release_distance
from evomix.curator.voting import tally_units
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.mechanisms import distance
from evomix.privacy.mechanisms.distance import NoisyDistance

UNIFORM = np.full(3, 1 / 3)
SHARP = 1e6
"""An ε with so little noise that what a release holds can be foreseen."""


def _release(records, public=UNIFORM, *, epsilon=SHARP, events=None, units=None):
    mechanism = NoisyDistance.calibrate(epsilon, units=records.units if units is None else units)
    ledger = EventLedger([] if events is None else events)
    return release_distance(records, NumberEmbedder(), line(3), np.asarray(public), mechanism, ledger=ledger)


def test_it_is_the_distance_of_the_votes():
    assert _release(records_of([0, 0, 1, 2])).estimate == pytest.approx(1 / 6, abs=1e-4)
    assert _release(records_of([0, 0, 0]), [0.0, 0.0, 1.0]).estimate == pytest.approx(1.0, abs=1e-4)


def test_people_vote_once_however_many_rows_they_have():
    records = records_of([0, 0, 0, 1, 2], units=["a", "a", "a", "b", "c"])
    assert _release(records).estimate == pytest.approx(0.0, abs=1e-4)
    split = records_of([0, 1], units=["a", "a"])
    assert _release(split, [0.5, 0.5, 0.0]).estimate == pytest.approx(0.0, abs=1e-4)


def test_a_persons_rows_move_it_by_at_most_one_unit(monkeypatch):
    """All pairs of neighbours, where the one who is replaced has one to four rows, through the real tally."""
    monkeypatch.setattr(distance, "add_laplace", lambda votes, *, scale: votes)
    people = [[0], [1], [2], [0, 1], [0, 1, 2], [0, 0, 1], [1, 2, 2, 2]]
    others = [[[0, 2], [1]], [[1, 1, 0], [2]]]
    for rest, shares in itertools.product(others, ([0.1, 0.2, 0.7], [1 / 3] * 3, [0.0, 1.0, 0.0])):
        found = []
        for person in people:
            rows = [(name, row) for name, rows in enumerate([person, *rest]) for row in rows]
            records = records_of([row for _, row in rows], units=[str(name) for name, _ in rows])
            assert tally_units(NumberEmbedder().index(line(3)), records, 3, mass=LATTICE).sum() == 3 * LATTICE
            found.append(round(_release(records, shares).estimate * 3 * LATTICE))
        assert max(found) - min(found) <= LATTICE
        assert max(found) - min(found) > LATTICE // 4


def test_the_ledger_is_told_before_a_record_is_read():
    events = []
    records = records_of([0, 1, 2], rows=WatchedRows, events=events)
    _release(records, events=events)
    assert events == ["begin 0", "read"]


def test_what_the_ledger_refuses_is_not_read():
    events = []

    class Refusing:
        def begin_round(self, round_index):
            raise PrivacyError("begun before")

    records = records_of([0, 1, 2], rows=WatchedRows, events=events)
    mechanism = NoisyDistance.calibrate(1.0, units=3)
    with pytest.raises(PrivacyError, match="begun before"):
        release_distance(records, NumberEmbedder(), line(3), UNIFORM, mechanism, ledger=Refusing())
    assert events == []


def test_a_mechanism_for_another_number_of_units_is_refused_before_the_charge():
    events = []
    with pytest.raises(PrivacyError, match="units=4; the records have units=3"):
        _release(records_of([0, 1, 2]), units=4, events=events)
    assert events == []


def test_rows_that_vanish_are_an_error_that_tells_nothing():
    events = []
    rows = WatchedRows(pa.table({"x": [0.0, 1.0, 2.0]}), events)
    records = records_of([0, 1, 2], rows=lambda *_: rows)
    rows.table = rows.table.slice(0, 1)
    with pytest.raises(PrivateRecordsFailure, match="withheld") as failure:
        _release(records, events=events)
    assert failure.value.__context__ is None
    assert events[0] == "begin 0"


def test_a_failing_codec_tells_nothing_either(monkeypatch):
    records = records_of([0, 1, 2])
    monkeypatch.setattr(records, "_encoding", None)
    with pytest.raises(PrivateRecordsFailure) as failure:
        _release(records)
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None
