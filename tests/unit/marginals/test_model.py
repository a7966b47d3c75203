"""Rows agree with what was released, whatever was lost, and noise costs no more than it must."""

from itertools import combinations

import numpy as np
import pytest
from marginal_tables import counts_of, distance, fine_block, learned, release_of, same, shape_of, table_of

from evomix.core.release import NoisyVotes
from evomix.marginals import model
from evomix.marginals.model import CHUNK

UNITS = 4000


def _rows(sizes, *, units=UNITS, seed=1):
    """Return rows of columns that depend on one another: each on the one before, the first three together."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, sizes[0], units)]
    for size in sizes[1:]:
        same_as_before = rng.random(units) < 0.7
        columns.append(np.where(same_as_before, columns[-1] % size, rng.integers(0, size, units)))
    if len(sizes) > 2:
        columns[2] = np.where(rng.random(units) < 0.8, (columns[0] + columns[1]) % sizes[2], columns[2])
    return np.stack(columns, axis=1)


def _worst(shape, rows, made, sets):
    return max(distance(fine_block(shape, *columns), rows, made) for columns in sets)


SIZES = (3, 4, 2, 5)


@pytest.mark.parametrize("public", [False, True])
def test_exact_counts_give_the_pairs_back(public):
    shape, rows = shape_of(SIZES), _rows(SIZES)
    known = _rows(SIZES, units=300, seed=9)[::-1] if public else None
    table = learned(table_of(shape, public=known), rows)
    made = table.sample(UNITS, 0)
    assert made.shape == (UNITS, 4)
    assert made.dtype == np.int64
    pairs = list(combinations(range(4), 2))
    assert _worst(shape, rows, made, pairs) < 0.005
    apart = table._independent(UNITS, np.random.default_rng(0))
    assert _worst(shape, rows, apart, pairs) > 0.2  # which independent columns do not


@pytest.mark.parametrize("target", [0, 3])
def test_exact_counts_give_the_sets_with_the_target_back(target):
    shape, rows = shape_of(SIZES, target=target), _rows(SIZES)
    made = learned(table_of(shape), rows).sample(UNITS, 0)
    sets = [(*pair, target) for pair in shape.pairs]
    assert _worst(shape, rows, made, sets) < 0.01
    assert _worst(shape, rows, made, combinations(range(4), 2)) < 0.01


def test_noise_costs_about_what_it_must():
    shape, rows, rng = shape_of(SIZES), _rows(SIZES), np.random.default_rng(4)
    made = learned(table_of(shape), rows, stddev=20.0, rng=rng).sample(UNITS, 0)
    # 20 cells of a pair with an error of 20 of 4000 each make a total variation of about 0.04.
    assert _worst(shape, rows, made, combinations(range(4), 2)) < 0.05


def test_worthless_counts_make_rows_of_possible_values():
    shape, rows, rng = shape_of((3, 200, 2), target=2, ordered=(1,)), _rows((3, 200, 2)), np.random.default_rng(4)
    made = learned(table_of(shape), rows, stddev=1e12, rng=rng).sample(500, 0)
    assert made.shape == (500, 3)
    assert (made >= 0).all()
    assert (made < np.array(shape.sizes)).all()


def test_ordered_columns_keep_their_shape_and_their_missing_values():
    shape = shape_of((501, 3), ordered=(0,), missing=(0,))
    rng = np.random.default_rng(2)
    sort = rng.integers(0, 3, UNITS)
    ages = np.where(rng.random(UNITS) < 0.2, 500, np.clip(rng.normal(100 + 120 * sort, 20), 0, 499).astype(int))
    rows = np.stack([ages, sort], axis=1)
    made = learned(table_of(shape), rows, stddev=15.0, rng=rng).sample(UNITS, 0)
    assert np.mean(made[:, 0] == 500) == pytest.approx(np.mean(ages == 500), abs=0.02)
    for value in range(3):
        own = made[(made[:, 1] == value) & (made[:, 0] < 500), 0]
        assert np.median(own) == pytest.approx(100 + 120 * value, abs=15)


@pytest.mark.parametrize("lost", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2)])
@pytest.mark.parametrize("public", [False, True])
def test_a_lost_stage_costs_quality_alone(lost, public):
    shape, rows = shape_of(SIZES, target=3), _rows(SIZES)
    known = _rows(SIZES, units=300, seed=9) if public else None
    made = learned(table_of(shape, public=known), rows, lost=lost).sample(UNITS, 0)
    assert _worst(shape, rows, made, [(0,), (1,), (2,), (3,)]) < 0.02
    if 2 not in lost:
        assert _worst(shape, rows, made, [(0, 1, 3), (1, 2, 3)]) < 0.02


def test_nothing_released_leaves_what_is_public():
    shape = shape_of((4, 3))
    known = np.array([[1, 2], [3, 0]])
    table = learned(table_of(shape, public=known), _rows((4, 3)), lost=(0, 1))
    assert set(map(tuple, table.sample(60, 1).tolist())) == {(1, 2), (3, 0)}
    even = learned(table_of(shape), _rows((4, 3)), lost=(0, 1)).sample(4000, 1)
    assert np.bincount(even[:, 0]) / 4000 == pytest.approx([0.25] * 4, abs=0.05)


@pytest.mark.parametrize("target", [None, 0])
@pytest.mark.parametrize("lost", [(), (1,)])
def test_public_rows_of_another_people_are_given_up(target, lost):
    """Each of their columns is right, but they depend on one another as no private ones do."""
    rng = np.random.default_rng(1)
    sizes = (6,) * 6
    shape, rows = shape_of(sizes, target=target), rng.integers(0, 6, (UNITS, 6))
    misleading = np.repeat(rng.integers(0, 6, (500, 1)), 6, axis=1)
    lost = lost if target is not None else ()  # without a target the second stage is the last
    errors = {}
    for name, known in (("misleading", misleading), ("none", None)):
        made = learned(table_of(shape, public=known), rows, stddev=30.0, rng=rng, lost=lost).sample(UNITS, 0)
        pairs = combinations(range(6), 2)
        errors[name] = np.mean([distance(fine_block(shape, *pair), rows, made) for pair in pairs])
    assert errors["misleading"] < 1.2 * errors["none"]


def test_public_rows_that_are_alike_say_what_no_pair_was_asked_for():
    """A joint law of three columns of which pairs show but a part: public rows bring it along."""
    rng = np.random.default_rng(1)

    def parity(units):
        first = rng.integers(0, 2, units)
        second = np.where(rng.random(units) < 0.5, first, rng.integers(0, 2, units))
        return np.stack([first, second, (first + second) % 2], axis=1)

    shape, rows = shape_of((2, 2, 2)), parity(UNITS)
    block = fine_block(shape, 0, 1, 2)
    with_public = learned(table_of(shape, public=parity(400)), rows, stddev=5.0, rng=rng).sample(UNITS, 0)
    without = learned(table_of(shape), rows, stddev=5.0, rng=rng).sample(UNITS, 0)
    assert distance(block, rows, with_public) < 0.25
    assert distance(block, rows, without) > 0.3


@pytest.mark.parametrize(
    ("columns", "start", "exchanged"),
    [(13, model.PUBLIC, 5), (13, model.INDEPENDENT, 4), (6, model.PUBLIC, 1), (6, model.INDEPENDENT, 1)],
)
def test_public_rows_are_exchanged_whole_again_where_most_sets_are_never_counted(
    columns, start, exchanged, monkeypatch
):
    """A wide table: after each stage, as long as its rows are public ones; a narrow one: after its single columns."""
    shape, rows = shape_of([2] * columns, target=0), _rows([2] * columns)
    assert shape.is_wide == (columns == 13)
    given = []

    def watched(some, *more, **settings):
        given.append(settings["seed"])
        return redrawn(some, *more, **settings)

    def started(table, *_counts):
        if len(table.targets) > 2 * columns:
            table.start = start  # public rows are given up, or kept, after the fourth release

    redrawn = model.redrawn
    monkeypatch.setattr(model, "redrawn", watched)
    monkeypatch.setattr(model.CountedTable, "_choose_start", started)
    table = learned(table_of(shape, public=_rows([2] * columns, units=500, seed=9)), rows)
    assert given == list(range(exchanged))
    assert _worst(shape, rows, table.sample(UNITS, 0), [(0, j) for j in range(1, columns)]) < 0.02


def test_a_search_of_very_many_sets_takes_fewer_passes(monkeypatch):
    shape, rows, given = shape_of(SIZES), _rows(SIZES), []

    def watched(some, targets, columns, *, passes, **settings):
        given.append(passes)
        return search(some, targets, columns, passes=passes, **settings)

    search = model.search
    monkeypatch.setattr(model, "search", watched)
    in_a_pass = UNITS * 4  # single columns first
    for most, expected in ((in_a_pass, 0.8), (7 * in_a_pass * 5 // 4, 7), (10**9, model.PASSES)):
        monkeypatch.setattr(model, "MOST_LOOKUPS", most)
        given.clear()
        learned(table_of(shape, units=5 * UNITS // 4), rows)
        assert given[0] == pytest.approx(expected)
        assert given == sorted(given, reverse=True)


def test_no_public_rows_is_none_given():
    shape = shape_of((3, 2))
    table = table_of(shape, public=np.empty((0, 2), np.int64))
    assert table.public is None
    assert table.shares[0].tolist() == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("units", [0, 1])
def test_nobody_and_one_person(units):
    shape, rows = shape_of(SIZES, target=1), _rows(SIZES)[:units]
    table = table_of(shape, units=units)
    for stage in range(len(table.stages)):
        panel = table.panel(stage, 5.0)
        votes = counts_of(panel, rows) + np.random.default_rng(stage).normal(0.0, 5.0, sum(panel.sizes))
        table.learn(stage, panel, NoisyVotes(votes, 5.0, units))
    made = table.sample(20, 0)
    assert made.shape == (20, 4)
    assert (made < np.array(SIZES)).all()


@pytest.mark.parametrize("sizes", [(1,), (1, 1), (5,), (1, 4), (4, 1, 1)])
@pytest.mark.parametrize("target", [None, 0])
def test_columns_of_one_value_and_tables_of_one_column(sizes, target):
    shape = shape_of(sizes, target=target)
    rows = np.stack([np.random.default_rng(j).integers(0, size, UNITS) for j, size in enumerate(sizes)], axis=1)
    table = learned(table_of(shape), rows)
    made = table.sample(UNITS, 0)
    assert _worst(shape, rows, made, [(j,) for j in range(len(sizes))]) < 0.005


@pytest.mark.parametrize("stddev", [1.0, 8.0])
def test_rare_values_are_kept_together(stddev):
    """Columns of 1 % ones that agree in pairs: some 49 of 50 records have both, where 0.5 would by chance."""
    rng = np.random.default_rng(1)
    ones = rng.random((5000, 6)) < 0.01
    rows = np.stack([ones, ones & (rng.random((5000, 6)) < 0.98)], axis=2).reshape(5000, 12).astype(np.int64)
    table = learned(table_of(shape_of([2] * 12), units=5000), rows, stddev=stddev, rng=np.random.default_rng(3))
    made = table.sample(5000, 0)
    together, found = (int((some[:, ::2] & some[:, 1::2]).sum()) for some in (rows, made))
    assert 0.6 * together < found < 1.4 * together
    assert made.sum() == pytest.approx(rows.sum(), rel=0.1)


def test_rows_that_are_made_one_at_a_time_differ_as_the_table_does():
    shape = shape_of((3,) * 6)
    rows = np.random.default_rng(1).choice(3, (UNITS, 6), p=[0.6, 0.3, 0.1])
    table = learned(table_of(shape), rows)
    alone = np.concatenate([table.sample(1, seed) for seed in range(60)])
    # The first of three values has 216 of the 360 on average, with a standard deviation of at most 10.
    assert 150 < (alone == 0).sum() < 280


def test_samples_of_any_size(monkeypatch):
    monkeypatch.setattr(model, "CHUNK", 700)
    monkeypatch.setattr(model, "LEAST_ROWS", 200)
    assert CHUNK >= 10_000
    shape, rows = shape_of(SIZES), _rows(SIZES)
    table = learned(table_of(shape, units=300), rows[:300])
    for count in (0, 1, 2, 699, 700, 701, 2100, 2500):
        made = table.sample(count, 5)
        assert made.shape == (count, 4)
        assert np.array_equal(made, table.sample(count, 5))
    assert not np.array_equal(table.sample(701, 5), table.sample(701, 6))
    assert _worst(shape, rows[:300], table.sample(2500, 1), combinations(range(4), 2)) < 0.02


def test_a_wide_table_has_its_most_dependent_pairs_counted():
    sizes, rng = [3] * 60, np.random.default_rng(7)
    rows = rng.integers(0, 3, (2000, 60))
    rows[:, 59] = np.where(rng.random(2000) < 0.9, rows[:, 17], rows[:, 59])
    rows[:, 40] = np.where(rng.random(2000) < 0.9, rows[:, 3], rows[:, 40])
    shape = shape_of(sizes)
    table = table_of(shape, units=2000)
    stages = [stage.kind for stage in table.stages]
    assert stages == ["columns", "coarse_pairs", "sets"]
    for stage in range(3):
        panel = table.panel(stage, 5.0)
        assert len(panel.blocks) == table.stages[stage].blocks
        table.learn(stage, panel, release_of(panel, rows, stddev=5.0, rng=rng))
    counted = {block.columns for block in panel.blocks}
    assert {(17, 59), (3, 40)} <= counted
    assert set().union(*counted) == set(range(60))
    made = table.sample(2000, 0)
    assert _worst(shape, rows, made, [(17, 59), (3, 40)]) < 0.1


@pytest.mark.parametrize(("lost", "telling"), [((), 2), ((1,), 1)])
def test_the_column_that_says_most_of_the_target_is_counted_with_it_once_more(lost, telling):
    shape, rng = shape_of((3, 100, 100), target=0, ordered=(1, 2)), np.random.default_rng(5)
    rows = np.stack([rng.integers(0, 3, UNITS), rng.integers(0, 100, UNITS), rng.integers(0, 100, UNITS)], axis=1)
    rows[:, 2] = (rows[:, 0] * 33 + rows[:, 2] // 3) % 100
    table = table_of(shape)
    assert [stage.kind for stage in table.stages] == ["columns", "with_target", "most_telling", "sets"]
    for stage, stddev in enumerate((40.0, 80.0)):
        panel = table.panel(stage, stddev)
        table.learn(stage, panel, None if stage in lost else release_of(panel, rows, stddev=stddev, rng=rng))
    before, (once_more,) = table.panel(1, 80.0).blocks, table.panel(2, 10.0).blocks
    assert once_more.columns == (telling, 0)
    coarse = next(block for block in before if block.columns == once_more.columns)
    assert once_more.cells > 2 * coarse.cells  # less noise on one set, so that finer cells can be told apart


def test_fine_noise_is_not_taken_for_what_says_most(monkeypatch):
    """A category that goes with the target, beside numbers that do not, and few public rows of the same people."""
    shape, rng, units = shape_of((2, 4, 1025, 1025), target=0, ordered=(2, 3)), np.random.default_rng(6), 20_000

    def people(count):
        told = rng.integers(0, 4, count)
        target = rng.random(count) < np.where(told < 2, 0.35, 0.65)
        return np.stack([target, told, *rng.integers(0, 1025, (2, count))], axis=1).astype(np.int64)

    asked = []
    choose = model.CountedTable._choose_start
    monkeypatch.setattr(
        model.CountedTable, "_choose_start", lambda table, *counts: (asked.append(0), choose(table, *counts))
    )
    table, rows = table_of(shape, public=people(500), units=units), people(units)
    for stage in range(len(table.stages)):
        panel = table.panel(stage, 20.0)
        if table.stages[stage].kind == "most_telling":
            assert [block.columns for block in panel.blocks] == [(1, 0)]
        table.learn(stage, panel, release_of(panel, rows, stddev=20.0, rng=rng))
    assert len(asked) == 2  # one fine set alone, on which few public rows look wrong, is no reason to give them up


def test_what_is_counted_depends_on_releases_alone():
    """Two tables that were told the same count the same, and make the same rows."""
    shape, rows, rng = shape_of(SIZES, target=0), _rows(SIZES), np.random.default_rng(3)
    one, other = table_of(shape, seed=5), table_of(shape, seed=5)
    for stage in range(3):
        panel = one.panel(stage, 10.0)
        assert panel.digest() == other.panel(stage, 10.0).digest()
        release = release_of(panel, rows, stddev=10.0, rng=rng)
        one.learn(stage, panel, release)
        other.learn(stage, other.panel(stage, 10.0), release)
    assert np.array_equal(one.sample(100, 1), other.sample(100, 1))


@pytest.mark.parametrize("stddev", [0.0, 1e-300, 1e-6, 1.0, 1e4, 1e300])
def test_panels_stay_within_bounds_whatever_the_noise(stddev):
    shape = shape_of((1025, 1025, 300, 2000), ordered=(0, 1), missing=(0,), target=3)
    table = table_of(shape, units=10**6)
    for stage, planned in enumerate(table.stages):
        panel = table.panel(stage, stddev)
        assert len(panel.blocks) == planned.blocks
        # A category takes up to twice the cells of its part, for those of few records share one.
        assert max(panel.sizes) <= 4 * model.MOST_CELLS
        assert min(panel.sizes) >= 1


@pytest.mark.parametrize("target", [None, 0])
def test_many_column_sets_have_fewer_cells_each(target):
    shape = shape_of((300,) * 120, target=target)
    table = table_of(shape, units=10**9)
    panel = table.panel(len(table.stages) - 1, 0.0)
    assert len(panel.blocks) == 360
    assert 0.1 * model.PANEL_CELLS < sum(panel.sizes) <= 4 * model.PANEL_CELLS


@pytest.mark.parametrize(("blocks", "cells"), [(1, 100_000), (50, 100_000), (100, 50_000), (10**6, 66)])
def test_the_cells_of_a_stage_are_bounded(blocks, cells):
    assert model.most_cells(blocks) == cells


def test_records_are_encoded_by_the_panel():
    table = table_of(shape_of((3, 2)))
    table.encode = lambda records: same(records) // 100
    panel = table.panel(0, 1.0)
    assert [cells.tolist() for cells in panel.cells(np.array([[250, 199], [0, 0]]))] == [[2, 0], [1, 0]]
