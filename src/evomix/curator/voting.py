"""Who votes, and for whom: private units vote for their nearest candidates."""

from collections.abc import Sequence

import numpy as np

from evomix.core.arrays import IntArray, Population
from evomix.core.protocols import NearestIndex
from evomix.curator.guard import withheld
from evomix.curator.records import PrivateRecords
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.randomness import RandomSource


def draw_voters(
    records: PrivateRecords, mixtures: Sequence[Mixture], draws: Sequence[int], source: RandomSource
) -> list[Population]:
    """Return the private voters of each coming round, drawn and read in one pass.

    Draws are independent and with replacement, so drawing them all beforehand has the same law as drawing them
    round by round, and a row group of a large file is decoded once a run instead of once a round.

    Args:
        records: the private records.
        mixtures: the mechanism of each coming round; it decides how many draws are private.
        draws: draws of each coming round.
        source: private randomness.
    """
    sizes = [mixture.private_share(size, source) for mixture, size in zip(mixtures, draws, strict=True)]
    rows = records.read(records.draw_rows(sum(sizes), source))
    return np.split(rows, np.cumsum(sizes)[:-1]) if sizes else []


def vote(index: NearestIndex, voters: Population, candidates: int) -> IntArray:
    """Return how many of ``voters`` have each candidate as nearest, int64 (candidates,)."""
    with withheld("voting"):
        return np.bincount(index.nearest(voters), minlength=candidates).astype(np.int64)


def tally_units(index: NearestIndex, records: PrivateRecords, candidates: int, *, mass: int) -> IntArray:
    """Return all votes in micro-votes, int64 (candidates,): every unit has ``mass`` of them.

    A unit's mass is spread over its rows' votes as evenly as integers allow, by rounding the cumulated share, so
    each unit's vote vector is non-negative and sums to exactly ``mass``: its ℓ2 norm is at most ``mass``.
    """
    if records.one_row_each:  # each puts all its mass on one candidate: nothing to keep beyond the counts
        votes = np.zeros(candidates, np.int64)
        for _, rows in records.scan():
            votes += vote(index, rows, candidates)
        return votes * mass
    units, choices = [], []
    for unit, rows in records.scan():
        with withheld("voting"):
            choices.append(index.nearest(rows))
        units.append(unit)
    if not units:
        return np.zeros(candidates, np.int64)
    return spread(np.concatenate(units), np.concatenate(choices), candidates, mass=mass)


def spread(units: IntArray, choices: IntArray, candidates: int, *, mass: int) -> IntArray:
    """Return the votes of units with several rows, int64 (candidates,): each has ``mass``, as in :func:`tally_units`.

    Args:
        units: int64 (rows,), the unit of each row.
        choices: int64 (rows,), what each row votes for, in 0..candidates−1.
        candidates: their number.
        mass: micro-votes of a unit.
    """
    pairs, counts = np.unique(units * np.int64(candidates) + choices, return_counts=True)
    unit, choice = pairs // candidates, pairs % candidates
    _, first, group = np.unique(unit, return_index=True, return_inverse=True)
    upto = np.cumsum(counts)
    before_unit = (upto - counts)[first][group]
    rows_of_unit = np.bincount(group, weights=counts).astype(np.int64)[group]
    end = (upto - before_unit) * mass // rows_of_unit
    begin = (upto - counts - before_unit) * mass // rows_of_unit
    votes = np.zeros(candidates, np.int64)
    np.add.at(votes, choice, end - begin)
    return votes
