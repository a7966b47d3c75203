"""Counts of several partitions at once: exact, bounded per unit, charged first, and once a round.

Proof: docs/proofs/gaussian.md, section "Several histograms in one round".
"""

from fractions import Fraction

import numpy as np
import pytest
from curator_parts import (
    BUDGET,
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
from hypothesis import given
from hypothesis import strategies as st

from evomix.core.errors import EvomixError, PrivacyError, PrivateRecordsFailure
from evomix.core.release import NoisyVotes
from evomix.curator.counting import tally_panel
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.mechanisms.gaussian import spread_over
from evomix.privacy.mechanisms.schedule import Schedule

ROWS = st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abcde")), min_size=1, max_size=25)


def tallied(panel, records, *, mass):
    return tally_panel(panel, panel.sizes, records, mass=mass)


class Residues:
    """A number's cells are its remainders: one partition for each divisor."""

    def __init__(self, *sizes):
        self.sizes = sizes

    def cells(self, records):
        numbers = records[:, 0].astype(np.int64)
        for size in self.sizes:
            yield numbers % size


class Numbers:
    """Cells that are the numbers themselves, whatever sizes are stated."""

    def __init__(self, *sizes):
        self.sizes = sizes

    def cells(self, records):
        for _ in self.sizes:
            yield records[:, 0].astype(np.int64)


class Failing:
    """Breaks at a record, in the partition that is told."""

    def __init__(self, *, after):
        self.sizes, self._after = (3, 3), after

    def cells(self, records):
        for place in range(2):
            if place == self._after:
                raise ValueError("cell 73519 cannot be placed")
            yield records[:, 0].astype(np.int64)


def _records(rows, *, people=True):
    return records_of([number for number, _ in rows], units=[unit for _, unit in rows] if people else None)


def _split(votes, sizes):
    return np.split(votes, np.cumsum(sizes)[:-1])


@given(ROWS, st.lists(st.integers(1, 7), min_size=1, max_size=4), st.sampled_from([1, 3, LATTICE]))
def test_rows_as_units_have_a_whole_vote_in_each_partition(rows, sizes, mass):
    votes = tallied(Residues(*sizes), _records(rows, people=False), mass=mass)
    assert votes.dtype == np.int64
    expected = [[mass * sum(number % size == cell for number, _ in rows) for cell in range(size)] for size in sizes]
    assert [part.tolist() for part in _split(votes, sizes)] == expected


@given(ROWS, st.lists(st.integers(1, 7), min_size=1, max_size=4), st.sampled_from([1, 3, LATTICE]))
def test_people_have_exactly_one_vote_in_each_partition_spread_as_their_rows_are(rows, sizes, mass):
    votes = tallied(Residues(*sizes), _records(rows), mass=mass)
    units = {unit for _, unit in rows}
    for size, part in zip(sizes, _split(votes, sizes), strict=True):
        assert int(part.sum()) == mass * len(units)
        assert part.min() >= 0
        exact = [Fraction(0)] * size
        for number, unit in rows:
            exact[number % size] += Fraction(mass, sum(other == unit for _, other in rows))
        assert all(abs(int(found) - share) < len(units) for found, share in zip(part, exact, strict=True))


@given(ROWS, ROWS, st.lists(st.integers(1, 7), min_size=1, max_size=4), st.booleans())
def test_neighbours_differ_by_no_more_than_is_accounted_for(rows, others, sizes, people):
    """One unit's rows become any others: ‖Δ‖₁ ≤ 2K·L and ‖Δ‖₂² ≤ 2K·L²."""
    panel = Residues(*sizes)
    if people:
        unit = rows[0][1]
        changed = [row for row in rows if row[1] != unit] + [(number, unit) for number, _ in others]
    else:
        changed = [others[0], *rows[1:]]
    before = tallied(panel, _records(rows, people=people), mass=LATTICE)
    after = tallied(panel, _records(changed, people=people), mass=LATTICE)
    difference = [int(value) for value in after - before]
    assert sum(map(abs, difference)) <= 2 * len(sizes) * LATTICE
    assert sum(value * value for value in difference) <= 2 * len(sizes) * LATTICE**2


def test_a_unit_that_moves_in_every_partition_reaches_the_bound():
    panel = Residues(2, 3, 5)
    before, after = (tallied(panel, records_of([4, number]), mass=LATTICE) for number in (0, 1))
    assert sum(int(value) ** 2 for value in after - before) == 2 * 3 * LATTICE**2


@given(
    st.lists(st.tuples(st.integers(-(2**40), 2**40), st.sampled_from("abc")), min_size=1, max_size=20), st.booleans()
)
def test_cells_out_of_range_land_in_the_outermost_ones(rows, people):
    """Whatever a panel says, each unit has its votes, and no more, in each partition."""
    votes = tallied(Numbers(4, 1), _records(rows, people=people), mass=LATTICE)
    clipped = [(min(max(number, 0), 3), unit) for number, unit in rows]
    assert votes.tolist() == tallied(Numbers(4, 1), _records(clipped, people=people), mass=LATTICE).tolist()
    units = len({unit for _, unit in rows}) if people else len(rows)
    assert [int(part.sum()) for part in _split(votes, (4, 1))] == [units * LATTICE] * 2


@pytest.mark.parametrize("people", [False, True])
def test_rows_come_in_batches_and_none_twice(people, monkeypatch):
    rows = [(number % 11, "abcdefg"[number % 7]) for number in range(200)]
    whole = tallied(Residues(4, 3), _records(rows, people=people), mass=LATTICE)
    records = _records(rows, people=people)
    real = records._rows.batches
    monkeypatch.setattr(records._rows, "batches", lambda columns, size=7: real(columns, 7))
    assert np.array_equal(tallied(Residues(4, 3), records, mass=LATTICE), whole)


@pytest.mark.parametrize("units", [None, []])
def test_nobody_counts_nothing(units):
    records = records_of([], units=units)
    assert tallied(Residues(3, 2), records, mass=LATTICE).tolist() == [0] * 5


def _curator(account, values=(0, 1, 1), **settings):
    events = []
    records = records_of(values, rows=WatchedRows, events=events)
    return curator_of(records, account, events=events, **settings), events


def _gaussian(*, rounds=1, units=3):
    return histograms_of(gaussian_of(units=units, rounds=rounds))


def test_a_release_is_the_counts_plus_noise_of_all_partitions():
    release = _curator(_gaussian())[0].count(0, Residues(2, 3, 2))
    assert isinstance(release, NoisyVotes)
    assert np.abs(release.votes - [1, 2, 1, 2, 0, 1, 2]).max() < 3.0
    assert not np.array_equal(release.votes, [1, 2, 1, 2, 0, 1, 2])
    assert (release.stddev, release.units) == (spread_over(0.1, 3), 3)


def test_the_ledger_knows_of_a_stage_before_a_record_is_read():
    curator, events = _curator(_gaussian(rounds=2))
    curator.count(0, Residues(2, 3))
    curator.count(1, Residues(4))
    assert events == ["begin 0", "read", "begin 1", "read"]


def test_a_round_is_released_once_and_in_order():
    curator, events = _curator(_gaussian(rounds=2))
    for index in (1, -1):
        with pytest.raises(PrivacyError, match="once and in order"):
            curator.count(index, Residues(2))
    curator.count(0, Residues(2))
    for again in (lambda: curator.count(0, Residues(2)), lambda: curator.release(0, line(2))):
        with pytest.raises(PrivacyError, match="expected round 1, got 0"):
            again()
    curator.release(1, line(4))  # votes and counts share one sequence
    for more in (lambda: curator.count(2, Residues(2)), lambda: curator.release(2, line(2))):
        with pytest.raises(PrivacyError, match="one too many"):
            more()
    assert events == ["begin 0", "read", "begin 1", "read"]


def test_a_resumed_run_goes_on_after_what_was_begun():
    curator, events = _curator(_gaussian(rounds=2), first_round=1)
    with pytest.raises(PrivacyError, match="expected round 1"):
        curator.count(0, Residues(2))
    curator.count(1, Residues(2))
    assert events == ["begin 1", "read"]


ACCOUNTS = {
    "mixture": draws_of(mixture_of(units=3, draws=20), 20),
    "laplace": histograms_of(laplace_of(units=3)),
    "mixture first": Schedule("pld", (mixture_of(units=3, draws=20), gaussian_of(units=3)), (20, 0), *BUDGET),
}


@pytest.mark.parametrize("account", ACCOUNTS)
def test_other_noise_than_gaussian_counts_no_partitions(account):
    curator, events = _curator(ACCOUNTS[account])
    with pytest.raises(PrivacyError, match="Gaussian"):
        curator.count(0, Residues(2))
    assert events == []


def test_no_partition_is_no_release():
    curator, events = _curator(_gaussian())
    with pytest.raises(PrivacyError, match="at least one partition"):
        curator.count(0, Residues())
    assert events == []


@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("people", [False, True])
def test_a_panel_that_fails_quotes_no_cell_and_the_charge_stands(after, people):
    events = []
    records = records_of([1, 2], units=["a", "b"] if people else None, rows=WatchedRows, events=events)
    curator = curator_of(records, _gaussian(units=2), events=events)
    events.clear()  # people were grouped when the records were opened
    with pytest.raises(PrivateRecordsFailure, match="withheld") as caught:
        curator.count(0, Failing(after=after))
    assert "73519" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert events == ["begin 0", "read"]
    with pytest.raises(PrivacyError, match="expected round 1"):
        curator.count(0, Residues(2))


@pytest.mark.parametrize("partitions", [Numbers(3), Residues(3)])
@pytest.mark.parametrize("value", [-(2.0**62), 2.0**62, 0.5])
def test_no_value_decides_between_success_and_failure(partitions, value):
    curator = _curator(_gaussian(), values=[0, 1, value])[0]
    assert curator.count(0, partitions).votes.shape == (3,)


def test_a_panel_that_yields_too_few_partitions_is_refused_whatever_the_records_are():
    class Short(Residues):
        def cells(self, records):
            yield records[:, 0].astype(np.int64)

    with pytest.raises(EvomixError):
        _curator(_gaussian())[0].count(0, Short(3, 3))
