"""Whole rows are exchanged for public ones: they agree better, and no row is made that nobody had."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from marginal_tables import fine_block, shape_of

from evomix.marginals.redrawing import redrawn
from evomix.marginals.targets import Target

SIZES = (3, 4, 2, 5)
SHAPE = shape_of(SIZES)


def _rows(count, seed):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, size, count) for size in SIZES], axis=1)


def _targets(rows, *sets, stddev=0.01):
    return [Target(block, block.shares(rows), stddev) for block in (fine_block(SHAPE, *columns) for columns in sets)]


def _loss(rows, targets):
    return sum(float(((one.block.shares(rows) - one.shares) ** 2).sum()) for one in targets)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 10**6), st.integers(0, 400))
def test_no_exchange_makes_the_loss_larger_or_a_row_up(count, held, seed, proposals):
    rows, pool = _rows(count, seed), _rows(held, seed + 1)
    targets = _targets(_rows(50, seed + 2), (0, 1), (1, 3, 2), (2,))
    before = rows.copy()
    found = redrawn(rows, pool, targets, proposals=proposals, seed=seed, caution=0.0)
    assert np.array_equal(rows, before)
    assert _loss(found, targets) <= _loss(rows, targets) + 1e-9
    known = {tuple(row) for row in np.concatenate([rows, pool]).tolist()}
    assert {tuple(row) for row in found.tolist()} <= known
    assert np.array_equal(found, redrawn(rows, pool, targets, proposals=proposals, seed=seed, caution=0.0))


def test_single_columns_come_right_and_pairs_follow_as_the_pool_has_them():
    """Two kinds of rows, half each in the pool, nine to one in truth: only the first column is ever counted."""
    pool = np.repeat([[0, 1, 0, 2], [2, 3, 1, 4]], 500, axis=0)
    truth = np.repeat([[0, 1, 0, 2], [2, 3, 1, 4]], [900, 100], axis=0)
    found = redrawn(pool, pool, _targets(truth, (0,)), proposals=20_000, seed=1, caution=0.0)
    for columns in ((0,), (1, 3), (0, 1, 2)):
        block = fine_block(SHAPE, *columns)
        assert np.abs(block.shares(found) - block.shares(truth)).sum() < 0.004


def test_what_noise_explains_is_left():
    rows, rng = _rows(3000, 1), np.random.default_rng(2)
    noisy = [
        Target(one.block, one.shares + rng.normal(0.0, 0.01, one.block.cells), 0.01)
        for one in _targets(rows, (0,), (1,), (2,), (3,))
    ]
    changed = [
        int((redrawn(rows, rows, noisy, proposals=30_000, seed=3, caution=caution) != rows).sum())
        for caution in (0.0, 0.5, 6.0)
    ]
    assert changed[0] > changed[1] > changed[2] == 0
