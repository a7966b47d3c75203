import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SchemaError
from evomix.modalities.tabular.cells import learn_cells, same
from evomix.modalities.tabular.conform import snap
from evomix.modalities.tabular.schema import Column
from evomix.modalities.tabular.transform import learn_transform

NONE = np.empty(0)
HOURS = Column("hours", "integer", min=1, max=99)


def cells_of(column, public=NONE):
    transform = learn_transform(column, public) if column.ordered else None
    return learn_cells(column, transform, public)


def rng(seed=0):
    return np.random.default_rng(seed)


columns = st.one_of(
    st.builds(
        lambda low, width, missing: Column("x", "integer", min=low, max=low + width, missing=missing),
        st.integers(-1000, 1000),
        st.integers(0, 50),
        st.booleans(),
    ),
    st.builds(
        lambda low, width, missing: Column("x", "number", min=low, max=low + width, missing=missing),
        st.floats(-1e12, 1e12),
        st.floats(0, 1e12),
        st.booleans(),
    ),
    st.builds(
        lambda low, width: Column("x", "number", min=low, max=low + width, multiple_of=0.01),
        st.integers(-5, 5),
        st.integers(1, 5),
    ),
    st.builds(
        lambda count, missing: Column("x", "category", values=tuple(map(str, range(count))), missing=missing),
        st.integers(1, 5),
        st.booleans(),
    ),
)


@settings(deadline=None)
@given(columns, st.sampled_from([1.0, 0.1, 1e-9]), st.integers(0, 10), st.integers(0, 30))
def test_every_verb_stays_inside_the_column_and_force_always_changes(column, scale, seed, observed):
    public = cells_of(column).fresh(observed, rng(100 + seed))
    cells = cells_of(column, public)
    source = rng(seed)
    values = cells.fresh(40, source)
    moved = cells.move(values, scale, source)
    forced = cells.force(values, scale, source)
    for drawn in (values, moved, forced):
        np.testing.assert_array_equal(snap(column, drawn), drawn)
    assert not same(forced, values).any() or not cells.mutable
    single = len(column.values) == 1 if column.coded else column.min == column.max
    assert cells.mutable == (column.missing or not single)


def test_bounds_are_forced_inwards():
    values = np.repeat([1.0, 99.0], 200)
    forced = cells_of(HOURS).force(values, 1e-9, rng())
    np.testing.assert_array_equal(np.unique(forced), [2.0, 98.0])


def test_whole_numbers_never_freeze():
    values = np.full(1000, 50.0)
    moved = cells_of(HOURS).move(values, 1e-6, rng())
    assert set(np.abs(moved - values)) == {1.0}
    assert 0.4 < np.mean(moved > values) < 0.6


def test_moves_have_several_scales():
    column = Column("x", "number", min=0, max=1)
    moved = np.abs(cells_of(column).move(np.full(20_000, 0.5), 0.1, rng()) - 0.5)
    near, far = np.quantile(moved, [0.25, 0.95])
    assert near < 0.012
    assert far > 0.1
    assert moved.max() < 0.5


def test_spikes_are_hit_and_kept_while_moving():
    public = np.concatenate([np.full(500, 40.0), rng(1).integers(1, 100, 500)])
    cells = cells_of(HOURS, public)
    assert cells.spikes > 0.8
    moved = cells.move(np.full(2000, 40.0), 0.1, rng())
    assert np.mean(moved == 40.0) > 0.5
    plain = cells_of(HOURS).move(np.full(2000, 40.0), 0.1, rng())
    assert np.mean(plain == 40.0) == 0.0
    reached = cells.move(np.full(2000, 35.0), 0.5, rng())
    assert np.mean(reached == 40.0) > 0.15


def test_values_between_spikes_jump_no_further_than_the_scale():
    column = Column("x", "number", min=0, max=1)
    public = np.repeat([0.0, 0.3, 0.7, 1.0], 25)
    cells = cells_of(column, public)
    assert cells.spikes == 1.0
    away = np.full(500, 0.5)
    assert np.abs(cells.move(away, 0.01, rng()) - away).max() < 0.1
    assert set(np.unique(cells.move(away, 1.0, rng()))) == {0.3, 0.7}


def test_rare_values_are_no_spikes():
    assert cells_of(Column("x", "number", min=0, max=1), rng().random(1000)).spikes == 0.0
    assert cells_of(HOURS).spikes == 0.0


def test_missing_comes_as_often_as_in_public_rows_or_in_one_of_ten():
    column = Column("x", "number", min=0, max=1, missing=True)
    assert cells_of(column).missing == pytest.approx(0.1)
    public = np.where(np.arange(100) < 60, np.nan, 0.5)
    assert cells_of(column, public).missing == pytest.approx(0.8 * 0.6 + 0.2 * 0.1)
    moved = cells_of(column, public).move(np.full(20_000, 0.5), 0.1, rng())
    assert np.isnan(moved).mean() == pytest.approx(0.5, abs=0.02)
    found = cells_of(column, public).move(np.full(20_000, np.nan), 0.1, rng())
    assert np.isnan(found).mean() == pytest.approx(0.5, abs=0.02)


def test_where_missing_is_not_allowed_it_never_comes():
    assert not np.isnan(cells_of(HOURS).move(np.full(5000, 7.0), 1.0, rng())).any()


def test_an_ordered_column_without_a_transform_is_refused_by_name():
    with pytest.raises(SchemaError, match="hours"):
        learn_cells(HOURS, None, NONE)
