"""The search brings the counts of rows nearer to their targets, and knows exactly by how much."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marginal_tables import fine_block, shape_of

from evomix.marginals import search as searching
from evomix.marginals.blocks import Block
from evomix.marginals.search import search
from evomix.marginals.targets import Target

SIZES = (3, 4, 2, 5)
SHAPE = shape_of(SIZES)
COLUMNS = [np.full(size, 1.0 / size) for size in SIZES]


def _rows(count, seed, sizes=SIZES):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, size, count) for size in sizes], axis=1)


def _targets(rows, *sets, stddev=0.01):
    return [Target(block, block.shares(rows), stddev) for block in (fine_block(SHAPE, *columns) for columns in sets)]


def _loss(rows, targets):
    """Return the weighted squared excess, counted anew."""
    least = min(one.stddev for one in targets)
    return sum(
        (least / one.stddev) ** 2 * float(((one.block.shares(rows) - one.shares) ** 2).sum()) * len(rows) ** 2
        for one in targets
    )


@pytest.fixture
def watched(monkeypatch):
    """Keep what the compiled loop is given and leaves."""
    seen = {}
    real = searching._search

    def watching(rows, loss, *more):
        seen.update(rows=rows, excess=loss.excess, weights=loss.weights, before=loss.excess.copy())
        real(rows, loss, *more)

    monkeypatch.setattr(searching, "_search", watching)
    return seen


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 40), st.integers(0, 10**6), st.integers(0, 3))
def test_no_search_makes_the_loss_larger(count, seed, passes):
    rows = _rows(count, seed)
    targets = _targets(_rows(50, seed + 1), (0, 1), (1, 3, 2), (2,))
    found = search(rows, targets, COLUMNS, passes=passes, seed=seed)
    assert _loss(found, targets) <= _loss(rows, targets) + 1e-9


def test_the_loss_falls_and_each_step_is_counted_exactly(watched):
    rows = _rows(500, 1)
    truth = np.stack([(_rows(500, 2)[:, 0]), *[_rows(500, 2)[:, 0] % size for size in SIZES[1:]]], axis=1)
    sets = ((0, 1), (1, 3, 2), (2, 0), (3,))
    targets = [
        Target(one.block, one.shares, spread)
        for one, spread in zip(_targets(truth, *sets), (0.01, 0.02, 0.005, 0.01), strict=True)
    ]
    found = search(rows, targets, COLUMNS, passes=15, seed=3)
    assert watched["weights"] == pytest.approx([0.25, 0.0625, 1.0, 0.25])
    anew = [np.bincount(one.block.assign(found), minlength=one.block.cells) - 500 * one.shares for one in targets]
    assert watched["excess"] == pytest.approx(np.concatenate(anew), abs=1e-9)
    assert _loss(found, targets) < 0.02 * _loss(rows, targets)
    per_cell = np.repeat(watched["weights"], [one.block.cells for one in targets])
    assert float((per_cell * watched["before"] ** 2).sum()) == pytest.approx(_loss(rows, targets))


def test_targets_that_rows_can_meet_are_met():
    """All three pairs of a small domain, from rows that know nothing: every count is right to a row."""
    sizes = (3, 3, 2)
    shape = shape_of(sizes)
    truth = np.repeat(np.array([[0, 0, 0], [1, 1, 1], [2, 2, 0], [0, 2, 1]]), [40, 30, 20, 10], axis=0)
    blocks = [fine_block(shape, *pair) for pair in itertools.combinations(range(3), 2)]
    targets = [Target(block, block.shares(truth), 0.01) for block in blocks]
    rows = _rows(100, 5, sizes)
    columns = [np.bincount(truth[:, j], minlength=size) / 100 for j, size in enumerate(sizes)]
    best = min(
        (search(rows, targets, columns, passes=20, seed=seed) for seed in range(5)),
        key=lambda found: _loss(found, targets),
    )
    for block, one in zip(blocks, targets, strict=True):
        assert (
            np.abs(100 * (block.shares(best) - one.shares)).max() < 1.5
        )  # one value at a time ends at most a row away


def test_a_seed_repeats_a_search_and_the_rows_are_left_alone():
    rows = _rows(60, 1)
    before = rows.copy()
    targets = _targets(_rows(60, 2), (0, 1), (2, 3))
    first = search(rows, targets, COLUMNS, passes=2, seed=7)
    assert np.array_equal(rows, before)
    assert np.array_equal(first, search(rows, targets, COLUMNS, passes=2, seed=7))
    assert not np.array_equal(first, search(rows, targets, COLUMNS, passes=2, seed=8))
    assert np.array_equal(search(rows, targets, COLUMNS, passes=0, seed=7), rows)


def test_a_search_ends_when_little_changes_and_not_before():
    truth = np.stack([_rows(2000, 2)[:, 3] % size for size in SIZES], axis=1)
    rows, targets = _rows(2000, 1), _targets(truth, (0, 1), (1, 3), (2, 3))
    settled = search(rows, targets, COLUMNS, passes=100, seed=7)
    assert np.array_equal(settled, search(rows, targets, COLUMNS, passes=10_000, seed=7))
    once = search(rows, targets, COLUMNS, passes=1, seed=7)
    assert _loss(settled, targets) < 0.5 * _loss(once, targets)
    more = search(settled, targets, COLUMNS, passes=100, seed=8)
    assert (more != settled).sum() < 0.02 * settled.size


def test_columns_of_no_target_and_of_one_code_stay_as_they_are():
    rows = _rows(80, 1)
    found = search(rows, _targets(_rows(80, 2), (1,), (3, 1)), COLUMNS, passes=5, seed=1)
    assert np.array_equal(found[:, [0, 2]], rows[:, [0, 2]])
    assert not np.array_equal(found[:, 1], rows[:, 1])
    alone = Block((0,), (np.zeros(1, np.int64),))
    single = np.zeros((5, 1), np.int64)
    assert np.array_equal(search(single, [Target(alone, np.ones(1), 1.0)], [np.ones(1)], passes=1, seed=1), single)


def test_new_values_come_from_the_shares_and_those_without_any_are_not_made_up():
    """A value that has no share and no row is never proposed, though the target wants it."""
    rows = np.zeros((50, 1), np.int64)
    block = Block((0,), (np.arange(3),))
    wanted = Target(block, np.array([0.0, 0.5, 0.5]), 0.1)
    found = search(rows, [wanted], [np.array([0.5, 0.5, 0.0])], passes=100, seed=1)
    assert set(found[:, 0].tolist()) == {0, 1}
    even = search(rows, [wanted], [np.zeros(3)], passes=100, seed=1)  # no shares at all: all alike
    assert np.bincount(even[:, 0], minlength=3).tolist() == [0, 25, 25]


@pytest.mark.parametrize("spreads", [(0.0, 1e-300), (1e-320, 1e-320), (1e300, 1e308), (0.0, 1.0)])
def test_no_spread_breaks_the_search(spreads):
    rows = _rows(100, 1)
    truth = _rows(100, 2)
    targets = [
        Target(one.block, one.shares, spread)
        for one, spread in zip(_targets(truth, (0, 1), (2, 3)), spreads, strict=True)
    ]
    found = search(rows, targets, COLUMNS, passes=4, seed=1)
    first = targets[0]
    apart = np.abs(first.block.shares(rows) - first.shares).sum()
    assert np.abs(first.block.shares(found) - first.shares).sum() < 0.5 * apart


def test_coarse_cells_are_reached_through_any_of_their_codes():
    halves = Block((3,), (np.array([0, 0, 1, 1, 1]),))
    rows = np.zeros((40, 4), np.int64)
    target = Target(halves, np.array([0.25, 0.75]), 0.1)
    found = search(rows, [target], COLUMNS, passes=4, seed=2)
    assert halves.shares(found).tolist() == [0.25, 0.75]
    assert set(found[:, 3].tolist()) - {0, 1} != set()
    assert (found[:, :3] == 0).all()


def _noisy_targets(rows, spread, seed):
    rng = np.random.default_rng(seed)
    exact = _targets(rows, (0, 1), (1, 3), (2, 3), stddev=spread)
    return [Target(one.block, one.shares + rng.normal(0.0, spread, one.block.cells), spread) for one in exact]


def test_a_cautious_search_leaves_rows_that_are_right_but_for_noise():
    """Rows that the targets were read off: all there is to gain is noise."""
    rows = _rows(3000, 1)
    noisy = _noisy_targets(rows, 0.01, 2)
    changed = [
        int((search(rows, noisy, COLUMNS, passes=5, seed=3, caution=caution) != rows).sum())
        for caution in (0.0, 0.5, 2.0, 6.0)
    ]
    assert changed == sorted(changed, reverse=True)
    assert changed[0] > 3 * changed[2]
    assert changed[3] == 0


def test_caution_is_measured_in_the_noise_of_the_cells_that_a_change_touches():
    """One block of weight 1: a value moves as long as the two excesses differ by more than √2·caution·σ, and one."""
    halves = Block((0,), (np.arange(2),))
    rows = np.zeros((1000, 1), np.int64)
    target = Target(halves, np.array([0.5, 0.5]), 0.02)
    for caution in (0.0, 1.0, 5.0):
        found = search(rows, [target], [np.array([0.5, 0.5])], passes=40, seed=1, caution=caution)
        zeros = int((found == 0).sum())
        least = caution * 1000 * 0.02 * np.sqrt(2.0)
        assert 1.0 - 2.0 * (zeros + 1 - 500) < -least  # the last change was worth it
        assert 1.0 - 2.0 * (zeros - 500) >= -least  # one more would not be


def test_caution_finds_what_is_no_noise():
    rows, truth = _rows(3000, 1), _rows(3000, 2)
    truth[:, 1] = truth[:, 0]
    noisy = _noisy_targets(truth, 0.003, 4)
    found = search(rows, noisy, COLUMNS, passes=17, seed=3, caution=0.5)
    pair = fine_block(SHAPE, 0, 1)
    apart = [np.abs(pair.shares(some) - pair.shares(truth)).sum() for some in (rows, found)]
    assert apart[1] < 0.1 * apart[0]
