"""Votes are exact, every unit has the same mass, and drawing voters has the law of counting all votes."""

from fractions import Fraction

import numpy as np
import pytest
from curator_parts import NearestNumber, line, mixture_of, records_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from evomix.curator.voting import draw_voters, tally_units, vote
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.randomness import SeededSource, SystemSource

ROWS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abcde")), min_size=1, max_size=30)


def _tally(rows, *, mass, candidates=5):
    records = records_of([choice for choice, _ in rows], units=[unit for _, unit in rows])
    return tally_units(NearestNumber(line(candidates)), records, candidates, mass=mass)


@given(ROWS, st.sampled_from([1, 2, 7, 1000, LATTICE]))
def test_each_unit_has_exactly_its_mass_spread_as_its_rows_are(rows, mass):
    votes = _tally(rows, mass=mass)
    units = {unit for _, unit in rows}
    assert int(votes.sum()) == mass * len(units)
    exact = [Fraction(0)] * 5
    for choice, unit in rows:
        exact[choice] += Fraction(mass, sum(other == unit for _, other in rows))
    # Rounding the cumulated share moves a unit's part by less than one micro-vote.
    assert all(abs(int(found) - share) < len(units) for found, share in zip(votes, exact, strict=True))


@given(ROWS)
def test_units_add_up_so_that_one_unit_moves_only_its_own_mass(rows):
    whole = _tally(rows, mass=LATTICE)
    units = sorted({unit for _, unit in rows})
    parts = [_tally([row for row in rows if row[1] == unit], mass=LATTICE) for unit in units]
    assert np.array_equal(whole, np.sum(parts, axis=0))
    for part in parts:
        assert part.min() >= 0
        assert int((part.astype(object) ** 2).sum()) <= LATTICE**2


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert np.array_equal(_tally(rows, mass=LATTICE), _tally(shuffled, mass=LATTICE))


def test_rows_as_units_have_one_whole_vote_each():
    records = records_of([0, 0, 3, 1])
    votes = tally_units(NearestNumber(line(5)), records, 5, mass=LATTICE)
    assert votes.tolist() == [2 * LATTICE, LATTICE, 0, LATTICE, 0]
    assert votes.dtype == np.int64


def test_nobody_votes_in_an_empty_table():
    records = records_of([])
    assert tally_units(NearestNumber(line(3)), records, 3, mass=LATTICE).tolist() == [0, 0, 0]
    voters = draw_voters(records, [mixture_of(units=0, draws=40)] * 2, [25, 15], SystemSource())
    assert [len(part) for part in voters] == [0, 0]
    assert vote(NearestNumber(line(3)), voters[0], 3).tolist() == [0, 0, 0]


def test_votes_of_a_huge_unit_do_not_overflow():
    rows = 300_000
    records = records_of(np.arange(rows) % 3, units=np.zeros(rows, np.int64))
    assert int(tally_units(NearestNumber(line(3)), records, 3, mass=2**40).sum()) == 2**40


@pytest.mark.parametrize("units", [None, ["a", "a", "a", "a", "b", "c", "c", "d"]], ids=["rows", "users"])
def test_drawn_votes_have_the_law_of_all_votes(units):
    values = [0, 0, 0, 1, 1, 2, 3, 3]
    records = records_of(values, units=units)
    full = tally_units(NearestNumber(line(4)), records, 4, mass=LATTICE) / (records.units * LATTICE)
    mixture = mixture_of(units=records.units, draws=80_000, weight=0.5)
    (voters,) = draw_voters(records, [mixture], [80_000], SystemSource())
    counts = vote(NearestNumber(line(4)), voters, 4)
    assert chisquare(counts, full * counts.sum()).pvalue > 1e-6
    wrong = np.roll(full, 1) * 0.2 + full * 0.8
    assert chisquare(counts, wrong * counts.sum()).pvalue < 1e-6


def test_voters_of_all_rounds_at_once_have_the_law_of_round_by_round():
    records = records_of([0, 1, 1])
    mixture = mixture_of(units=3, draws=30_000, weight=0.25)
    first, second = draw_voters(records, [mixture] * 2, [20_000, 10_000], SystemSource())
    assert abs(len(first) - 15_000) < 6 * np.sqrt(20_000 * 0.75 * 0.25)
    assert abs(len(second) - 7500) < 6 * np.sqrt(10_000 * 0.75 * 0.25)
    for voters in (first, second):
        counts = vote(NearestNumber(line(2)), voters, 2)
        assert chisquare(counts, np.array([1, 2]) / 3 * counts.sum()).pvalue > 1e-6


def test_each_round_has_the_private_share_of_its_own_mixture():
    records = records_of([0, 1, 1])
    mixtures = [mixture_of(units=3, draws=40_000, weight=weight) for weight in (0.25, 0.75)]
    sizes = [len(part) for part in draw_voters(records, mixtures, [20_000, 20_000], SystemSource())]
    assert abs(sizes[0] - 15_000) < 6 * np.sqrt(20_000 * 0.75 * 0.25)
    assert abs(sizes[1] - 5000) < 6 * np.sqrt(20_000 * 0.75 * 0.25)


def test_how_many_are_private_does_not_depend_on_the_records():
    sizes = [
        [
            len(part)
            for part in draw_voters(
                records_of(values), [mixture_of(units=4, draws=300)] * 2, [200, 100], SeededSource(1)
            )
        ]
        for values in ([0, 0, 0, 0], [3, 1, 2, 0])
    ]
    assert sizes[0] == sizes[1]


def test_no_round_to_come_draws_nobody():
    assert draw_voters(records_of([1, 2]), [], [], SystemSource()) == []
