"""Records as codes and back: every value has a cell, every cell has values, and those are its own."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.conform import conform
from evomix.modalities.tabular.grid import MOST_CELLS, Grid
from evomix.modalities.tabular.schema import Column, Schema

COLUMNS = {
    "integer": Column("c", "integer", 18, 90),
    "integer, missing": Column("c", "integer", -3, 12, missing=True),
    "fives": Column("c", "integer", 3, 22, multiple_of=5),
    "many integers": Column("c", "integer", 0, 10**6),
    "largest integers": Column("c", "integer", 2**53 - 3, 2**53),
    "the largest integer": Column("c", "integer", 2**53, 2**53),
    "all integers": Column("c", "integer", -(2**53), 2**53, missing=True),
    "one integer": Column("c", "integer", 7, 7),
    "number": Column("c", "number", -1.25, 500),
    "cents": Column("c", "number", -0.02, 0.05, multiple_of=0.01),
    "thirds": Column("c", "number", 0.3, 9.9, multiple_of=0.3, missing=True),
    "many cents": Column("c", "number", 0, 1000, multiple_of=0.01),
    "one number": Column("c", "number", 0.1, 0.1, missing=True),
    "huge": Column("c", "number", -8e307, 8e307),
    "far": Column("c", "number", 8e307, 8.1e307),
    "denormal": Column("c", "number", 0, 5e-324),
    "tiny": Column("c", "number", -1e-310, 1e-310, missing=True),
    "neighbours": Column("c", "number", 1.0, 1.0 + 2.0**-52),
    "category": Column("c", "category", values=("north", "south", "west"), other=True),
    "category, missing": Column("c", "category", values=("a", "b"), missing=True),
    "one category": Column("c", "category", values=("a",)),
    "boolean": Column("c", "boolean"),
    "boolean, missing": Column("c", "boolean", missing=True),
    "date": Column("c", "date", date(2000, 1, 1).toordinal() - 719163, date(2001, 1, 1).toordinal() - 719163),
    "all dates": Column("c", "date", -719162, 2932896, missing=True),
    "datetime": Column("c", "datetime", 0, 2e9),
    "minutes": Column("c", "datetime", 0, 3600, multiple_of=60),
    "all datetimes": Column("c", "datetime", -62135596800, 253402300799, missing=True),
}
EACH = pytest.mark.parametrize("name", COLUMNS)


def _grid(column, public=None, **settings):
    return Grid(Schema((column,)), None if public is None else np.reshape(public, (-1, 1)).astype(float), **settings)


def _codes(grid, *values):
    return grid.codes(np.array(values, float)[:, None])[:, 0].tolist()


def _possible(column, *, seed=0):
    """Return values inside a column, its bounds among them, as a codec makes them."""
    rng = np.random.default_rng(seed)
    if column.ordered:
        parts = rng.random(200)
        drawn = column.min * (1.0 - parts) + column.max * parts
        drawn = np.concatenate([[column.min, column.max, np.nextafter(column.min, np.inf)], drawn])
    else:
        drawn = rng.integers(0, len(column.values), 50).astype(float)
    drawn = np.append(drawn, np.nan) if column.missing else drawn
    return conform(Schema((column,)), drawn[:, None])


@EACH
@pytest.mark.parametrize("with_public", [False, True])
def test_records_of_codes_have_these_codes(name, with_public):
    column = COLUMNS[name]
    known = _possible(column, seed=3)[::7] if with_public else None
    grid = _grid(column, known)
    (size,) = grid.sizes
    assert 1 <= size <= MOST_CELLS + 3 + column.missing
    codes = np.tile(np.arange(size), 3)[:, None]
    made = grid.records(codes, np.random.default_rng(1))
    assert np.isfinite(made[~np.isnan(made)]).all()
    assert np.array_equal(grid.codes(made), codes)
    assert np.isnan(made).any() == column.missing
    if column.missing:
        assert grid.missing == (True,)
        assert np.array_equal(np.isnan(made[:, 0]), codes[:, 0] == size - 1)


@EACH
def test_possible_values_have_cells_and_come_back_near(name):
    column = COLUMNS[name]
    grid, values = _grid(column), _possible(column)
    codes = grid.codes(values)
    assert codes.dtype == np.int64
    assert codes.min() >= 0
    assert codes.max() < grid.sizes[0]
    made = conform(Schema((column,)), grid.records(codes, np.random.default_rng(1)))
    assert np.array_equal(np.isnan(made), np.isnan(values))
    present = ~np.isnan(values)
    if not column.ordered:
        assert np.array_equal(made[present], values[present])
        return
    assert ((made[present] >= column.min) & (made[present] <= column.max)).all()
    whole = column.max / 2.0 - column.min / 2.0
    assert (np.abs(made[present] / 2.0 - values[present] / 2.0) <= whole / 500.0 + (column.step or 0.0)).all()


@EACH
def test_order_is_kept_and_bounds_are_by_themselves(name):
    column = COLUMNS[name]
    if not column.ordered:
        assert _grid(column).ordered == (False,)
        return
    grid = _grid(column)
    assert grid.ordered == (True,)
    values = np.sort(_possible(column)[:, 0])
    values = values[~np.isnan(values)]
    codes = grid.codes(values[:, None])[:, 0]
    assert (np.diff(codes) >= 0).all()
    assert codes[0] == 0
    assert codes[-1] == grid.sizes[0] - 1 - column.missing


def test_few_values_have_a_cell_each_and_come_back_exactly():
    for name in ("integer", "fives", "cents", "minutes", "largest integers", "date"):
        column = COLUMNS[name]
        schema, grid = Schema((column,)), _grid(COLUMNS[name])
        values = np.unique(conform(schema, np.linspace(column.min, column.max, 5000)[:, None]))[:, None]
        assert grid.sizes == (len(values),), name
        codes = grid.codes(values)
        assert codes[:, 0].tolist() == list(range(len(values)))
        made = [conform(schema, grid.records(codes, np.random.default_rng(seed))) for seed in range(5)]
        assert all(np.array_equal(one, values) for one in made), name


def test_the_two_bounds_of_a_wide_column_are_atoms():
    grid = _grid(Column("c", "number", 0, 100))
    (size,) = grid.sizes
    assert _codes(grid, 0.0, np.nextafter(0.0, 1.0), 1e-9, 99.9999, np.nextafter(100.0, 0.0), 100.0) == [
        0,
        1,
        1,
        size - 2,
        size - 2,
        size - 1,
    ]
    ends = grid.records(np.array([[0], [size - 1]]), np.random.default_rng(2))
    assert conform(Schema((Column("c", "number", 0, 100),)), ends)[:, 0].tolist() == [0.0, 100.0]
    assert grid.sizes[0] <= MOST_CELLS + 1


@given(st.integers(3, 50), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_no_column_has_more_cells_than_were_asked_for(most, low, width):
    grid = _grid(Column("c", "number", low, low + width), most=most)
    assert 1 <= grid.sizes[0] <= most
    grid = _grid(Column("c", "integer", int(low), int(low) + int(width)), most=most)
    assert 1 <= grid.sizes[0] <= most


@given(st.lists(st.one_of(st.floats(), st.integers(-5, 5).map(float)), min_size=1, max_size=20))
def test_any_value_has_a_cell(values):
    for name in ("integer, missing", "number", "category, missing", "boolean"):
        column = COLUMNS[name]
        grid = _grid(column)
        for code, value in zip(_codes(grid, *values), values, strict=True):
            assert 0 <= code < grid.sizes[0]
            if column.missing:
                assert (code == grid.sizes[0] - 1) == np.isnan(value)


def test_within_a_cell_values_are_those_of_public_rows():
    column = Column("c", "number", 0, 1000, missing=True)
    public = np.array([10.25, 10.25, 10.5, 500.125, np.nan, 0.0, 1000.0])
    grid = _grid(column, public)
    (size,) = grid.sizes
    codes = np.repeat(np.arange(size), 20)
    made = grid.records(codes[:, None], np.random.default_rng(1))[:, 0]
    held = set(_codes(grid, *public[~np.isnan(public)]))
    for code in range(size - 1):
        own = made[codes == code]
        if code in held:
            assert set(own) <= set(public)
        else:
            assert len(set(own)) == 20  # even over the cell
    assert np.isnan(made[codes == size - 1]).all()
    tens = [value for value in made if 10.0 < value < 11.0 and value in public]
    assert set(tens) == {10.25, 10.5}


def test_public_rows_without_a_value_are_no_help_and_no_harm():
    column = Column("c", "number", 0, 10, missing=True)
    for public in (np.array([np.nan, np.nan]), np.empty(0)):
        made = _grid(column, public).records(np.arange(20)[:, None], np.random.default_rng(1))
        assert np.isfinite(made).all()


def test_a_whole_table_goes_there_and_back():
    schema = Schema(
        (
            Column("age", "integer", 0, 99),
            Column("income", "number", 0, 1000, missing=True),
            Column("login", "id"),
            Column("job", "category", values=("a", "b"), other=True),
            Column("empty", "category", missing=True),
            Column("smokes", "boolean", missing=True),
        )
    )
    table = pa.table(
        {
            "age": [0, 42, 99, 200],
            "income": [0.0, None, 1000.0, 17.5],
            "login": ["x", "y", "z", "w"],
            "job": ["a", "b", "c", None],
            "empty": pa.array([None] * 4, pa.string()),
            "smokes": [True, None, False, True],
        }
    )
    codec = TableCodec(schema)
    grid = Grid(schema, None)
    assert grid.ordered == (True, True, False, False)
    assert grid.missing == (False, True, False, True)
    assert grid.sizes[0] == 100
    codes = grid.codes(codec.encode(table))
    made = codec.decode(grid.records(codes, np.random.default_rng(0)))
    for name in ("age", "job", "smokes"):
        assert made.column(name).to_pylist() == codec.decode(codec.encode(table)).column(name).to_pylist()
    incomes = made.column("income").to_pylist()
    assert incomes[:3] == [0.0, None, 1000.0]
    assert incomes[3] == pytest.approx(17.5, abs=1.0)


def test_no_rows():
    grid = _grid(COLUMNS["number"])
    assert grid.codes(np.empty((0, 1))).shape == (0, 1)
    assert grid.records(np.empty((0, 1), np.int64), np.random.default_rng(0)).shape == (0, 1)
