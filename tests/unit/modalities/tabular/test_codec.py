from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evomix.core.errors import SchemaError
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.conform import conform, snap
from evomix.modalities.tabular.fit import check_fit
from evomix.modalities.tabular.schema import Column, Schema

COLUMNS = (
    Column("age", "integer", 18, 90),
    Column("visits", "integer", -3, 12, missing=True, missing_codes=(999,)),
    Column("fives", "integer", 3, 22, multiple_of=5),
    Column("price", "number", -1.25, 500, multiple_of=0.05),
    Column("thirds", "number", 0.3, 9.9, multiple_of=0.3, missing=True),
    Column("x", "number", -1e-3, 1e12),
    Column("region", "category", values=("north", "south"), other=True),
    Column("grade", "category", values=("3", "1"), integer_values=True, missing=True),
    Column("tag", "category", values=("_RARE_", "<NA>", "nan")),
    Column("smokes", "boolean"),
    Column("drinks", "boolean", values=("False", "True"), missing=True),
    Column("seen", "date", -719162, 2932896),
    Column("joined", "date", 14610, 19722, format="%Y%m%d", missing=True),
    Column("at", "datetime", -62135596800, 253402300799),
    Column("near", "datetime", 0, 2e9, missing=True),
    Column("minute", "datetime", 0, 2e9, format="%d.%m.%Y %H:%M"),
    Column("hour", "datetime", 0, 1.8e9, multiple_of=3600),
    Column("login", "id"),
    Column("empty", "category", missing=True),
)
SCHEMA = Schema(COLUMNS)
CODEC = TableCodec(SCHEMA)
CELLS = st.one_of(
    st.none(),
    st.text(max_size=8),
    st.floats().map(repr),
    st.integers().map(str),
    st.dates().map(str),
    st.datetimes().map(str),
    st.sampled_from(["", "nan", "inf", "-inf", "1e400", "-0.0", "12,500", "north", "<NA>", "True", "20200229"]),
)


def table(rows):
    return pa.table({name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate(SCHEMA.names)})


def alone(column, cells):
    return TableCodec(Schema((column,))).encode(pa.table({column.name: cells}))[:, 0]


def words(column, *cells):
    return alone(column, pa.array(cells, pa.string())).tolist()


def assert_inside(population):
    assert population.dtype == np.float64
    for column, cells in zip(SCHEMA.modelled, population.T, strict=True):
        held = cells[~np.isnan(cells)]
        assert column.missing or len(held) == len(cells)
        assert not np.signbit(held[held == 0]).any()
        if column.coded:
            assert np.isin(held, np.arange(len(column.values))).all()
        else:
            assert ((held >= column.min) & (held <= column.max)).all()


@given(st.lists(st.tuples(*[CELLS] * len(COLUMNS)), max_size=4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_becomes_records_inside_the_schema_that_stay_put(rows):
    encoded = CODEC.encode(table(rows))
    assert encoded.shape == (len(rows), len(SCHEMA.modelled))
    assert_inside(encoded)
    decoded = CODEC.decode(encoded)
    check_fit(SCHEMA, decoded, role="public")
    np.testing.assert_array_equal(CODEC.encode(decoded), encoded)
    as_csv = pa.table({name: decoded[name].cast(pa.string()) for name in decoded.column_names})
    np.testing.assert_array_equal(CODEC.encode(as_csv), encoded)


@given(st.lists(st.floats(), min_size=17, max_size=17))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_population_conforms_and_stays_put(cells):
    inside = conform(SCHEMA, np.array([cells]))
    assert_inside(inside)
    np.testing.assert_array_equal(conform(SCHEMA, inside), inside)
    np.testing.assert_array_equal(CODEC.encode(CODEC.decode(np.array([cells]))), inside)


@given(st.lists(st.tuples(*[CELLS] * len(COLUMNS)), min_size=1, max_size=4), st.randoms())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_record_is_encoded_without_a_look_at_the_others(rows, random):
    at = random.randrange(len(rows))
    np.testing.assert_array_equal(CODEC.encode(table(rows))[at], CODEC.encode(table([rows[at]]))[0])


def test_numbers_out_of_bounds_are_clamped():
    age = Column("age", "integer", 18, 90)
    assert words(age, "17.6", "1e400", "-inf", "34.4", "90.4", "-0.0") == [18, 90, 18, 34, 90, 18]
    assert words(age, "", "nan", "n/a", "word", None) == [54] * 5
    assert np.isnan(words(Column("age", "integer", 18, 90, missing=True), "", "nan", "n/a", "word")).all()
    zero = words(Column("x", "number", 0, 0), "-0.0", "5", "word", "-1e-320")
    assert [repr(cell) for cell in zero] == ["0.0"] * 4
    assert words(Column("x", "number", -1, 1), "1e-320", "-5e-324") == [1e-320, -5e-324]


def test_grids():
    assert words(Column("p", "number", 0, 9, multiple_of=0.01), "1.005", "2.675", "8.999") == [1.0, 2.68, 9.0]
    assert words(Column("p", "number", 0.25, 0.95, multiple_of=0.1), "0", "1") == [0.3, 0.9]
    assert words(Column("p", "integer", 3, 22, multiple_of=5), "3", "22", "13") == [5, 20, 15]


def test_unknown_categories():
    assert words(Column("c", "category", values=("a", "b")), "zzz", "", "a") == [1, 1, 0]
    missing = words(Column("c", "category", values=("a", "b"), missing=True), "zzz", "", "a")
    np.testing.assert_array_equal(missing, [np.nan, np.nan, 0])
    assert words(Column("c", "category", values=("a", "b"), other=True), "zzz", "", "a", "other") == [2, 2, 0, 2]
    both = words(Column("c", "category", values=("a",), other="Andere", missing=True), "zzz", "")
    np.testing.assert_array_equal(both, [1, np.nan])


def test_far_dates_are_clamped():
    ends = Column("ends", "date", 18262, 22279)
    assert words(ends, "9999-12-31", "0001-01-01", "2024-05-17", "2024-02-30") == [22279, 18262, 19860, 20270]
    stored = pa.array([2**31 - 1, -(2**31), 19860], pa.int32()).cast(pa.date32())
    assert alone(ends, stored).tolist() == [22279, 18262, 19860]


def test_decoded_types():
    row = {column.name: column.min if column.ordered else 0.0 for column in SCHEMA.modelled}
    decoded = CODEC.decode(np.array([list(row.values())]))
    assert decoded.column_names == list(SCHEMA.names)
    assert decoded.to_pylist() == [
        {
            "age": 18, "visits": -3, "fives": 5, "price": -1.25, "thirds": 0.3, "x": -1e-3, "region": "north",
            "grade": 3, "tag": "_RARE_", "smokes": False, "drinks": "False", "seen": date(1, 1, 1),
            "joined": "20100101", "at": datetime(1, 1, 1), "near": datetime(1970, 1, 1),  # noqa: DTZ001
            "minute": "01.01.1970 00:00", "hour": datetime(1970, 1, 1), "login": "id-000001", "empty": None,  # noqa: DTZ001
        }
    ]  # fmt: skip
    kinds = {name: str(decoded.schema.field(name).type) for name in ("age", "price", "smokes", "seen", "near")}
    assert kinds == {
        "age": "int64",
        "price": "double",
        "smokes": "bool",
        "seen": "date32[day]",
        "near": "timestamp[us]",
    }


def test_missing_cells_come_out_as_nulls():
    decoded = CODEC.decode(np.full((2, len(SCHEMA.modelled)), np.nan))
    for column in SCHEMA.modelled:
        assert decoded[column.name].null_count == (2 if column.missing else 0), column.name
    assert str(decoded.schema.field("visits").type) == "int64"


def test_microseconds_survive():
    moments = pa.array([datetime(2024, 2, 29, 23, 59, 59, 123457)], pa.timestamp("us"))  # noqa: DTZ001
    codec = TableCodec(Schema((Column("at", "datetime", 0, 2e9),)))
    decoded = codec.decode(codec.encode(pa.table({"at": moments})))
    assert decoded["at"].to_pylist() == moments.to_pylist()


def test_ids_are_made_up():
    schema = Schema((Column("n", "id", format="%d"), Column("z", "id", format="%05d"), Column("b", "boolean")))
    codec = TableCodec(schema)
    private = pa.table({"n": ["77"], "z": ["secret"], "b": ["1"]})
    assert codec.encode(private).tolist() == [[1.0]]
    decoded = codec.decode(np.ones((2, 1)))
    assert decoded["n"].to_pylist() == [1, 2]
    assert decoded["z"].to_pylist() == ["00001", "00002"]


def test_columns_are_found_by_name():
    schema = Schema((Column("a", "integer", 0, 9), Column("b", "integer", 0, 9)))
    shuffled = pa.table({"b": [1], "more": [5], "a": [2]})
    assert TableCodec(schema).encode(shuffled).tolist() == [[2.0, 1.0]]
    with pytest.raises(SchemaError, match="'b'"):
        TableCodec(schema).encode(pa.table({"a": [1]}))


def test_no_rows():
    empty = CODEC.encode(table([]))
    assert empty.shape == (0, 17)
    assert CODEC.decode(empty).num_rows == 0


@pytest.mark.parametrize("kind", ["text", "image"])
def test_texts_and_images_are_refused_by_name(kind):
    with pytest.raises(SchemaError, match=f"'note'.*{kind} modality"):
        TableCodec(Schema((Column("note", kind),)))
    with pytest.raises(SchemaError, match="'note'"):
        snap(Column("note", kind), np.zeros(1))


def test_something_must_be_modelled():
    with pytest.raises(SchemaError, match="no column to model"):
        TableCodec(Schema((Column("i", "id"),)))
    with pytest.raises(SchemaError, match="population"):
        CODEC.decode(np.zeros((1, 2)))


def test_whole_numbers_up_to_two_to_the_53_stay_as_they_are():
    whole = Column("a", "integer", -(2**53), 2**53)
    given = np.array([2.0**53 - 1, 2.0**53 - 3, -(2.0**53) + 1, 1.0])
    np.testing.assert_array_equal(snap(whole, given), given)
