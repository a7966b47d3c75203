import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.modalities.tabular import values
from evomix.modalities.tabular.schema import Column


def numbers(*words):
    return values.parse_numbers(pa.array(words, pa.string())).tolist()


def test_spellings_of_numbers():
    assert numbers("1", " 2.5 ", "+3", "-4e2", ".5", "5.", "12,500", "-1,234,567.5") == [
        1.0, 2.5, 3.0, -400.0, 0.5, 5.0, 12500.0, -1234567.5,
    ]  # fmt: skip
    assert numbers("inf", "-Infinity", "1e400", "-1e400", "+INF") == [
        np.inf,
        -np.inf,
        np.inf,
        -np.inf,
        np.inf,
    ]
    assert numbers("1e-320", "5e-324", "1" * 40) == [1e-320, 5e-324, float("1" * 40)]


@pytest.mark.parametrize(
    "word",
    [
        "",
        " ",
        "nan",
        "NaN",
        "n/a",
        "word",
        "1_000",
        "0x10",
        "12,50",
        "1,2345",
        "1.2.3",
        "--1",
        "٣",
        "1 2",
        "e5",
    ],
)
def test_what_is_no_number(word):
    assert np.isnan(numbers(word, "1")[0])


@given(st.lists(st.one_of(st.none(), st.floats().map(repr), st.integers().map(str), st.text())))
def test_numbers_agree_with_python(words):
    for word, number in zip(words, numbers(*words), strict=True):
        try:
            expected = float(word)
        except (TypeError, ValueError):
            continue
        if word.strip().isascii() and "_" not in word:
            np.testing.assert_equal(number, expected)


@pytest.mark.parametrize(
    "cells",
    [pa.array([1, None], pa.int8()), pa.array([1.0, np.nan]), pa.array([1.0, None], pa.float16()),
     pa.array([decimal.Decimal("1.00"), None]), pa.array([True, None]), pa.array(["1", None]).dictionary_encode(),
     pa.array(["1", ""], pa.string_view()), pa.chunked_array([["1"], [None]], pa.string()),
     pa.chunked_array([pa.array(["1"]).dictionary_encode(), pa.array([None], pa.string()).dictionary_encode()])],
)  # fmt: skip
def test_numbers_in_any_storage(cells):
    np.testing.assert_array_equal(values.parse_numbers(cells), [1.0, np.nan])


def test_storage_that_holds_no_numbers():
    for cells in (pa.array([[1]]), pa.array([b"1"]), pa.array([0], pa.time32("s")), pa.nulls(1)):
        assert np.isnan(values.parse_numbers(cells)).all()
    assert values.parse_numbers(pa.chunked_array([], pa.string())).shape == (0,)


def test_dates_and_times_in_any_storage():
    day = pa.array([18262, None], pa.int32()).cast(pa.date32())
    for cells in (day, day.cast(pa.date64()), day.cast(pa.timestamp("ns")), day.cast(pa.timestamp("s", tz="UTC")),
                  pa.array(["2020-01-01", "x"]), pa.array(["2020-01-01T23:00", ""])):  # fmt: skip
        np.testing.assert_array_equal(values.parse_dates(cells), [18262.0, np.nan])
    np.testing.assert_array_equal(values.parse_datetimes(day), [18262 * 86400.0, np.nan])
    for cells in (pa.array([20200101, None]), pa.array([20200101.0, None]), pa.array(["20200101", None])):
        np.testing.assert_array_equal(values.parse_dates(cells, layout="%Y%m%d"), [18262.0, np.nan])
    far = pa.array([-(2**63), 2**63 - 1], pa.int64()).cast(pa.timestamp("s"))
    assert np.isfinite(values.parse_datetimes(far)).all()


def test_booleans():
    words = pa.array(["TRUE", "f", "Yes", "0", "1.0", "maybe", None, ""])
    expected = [1, 0, 1, 0, 1, np.nan, np.nan, np.nan]
    np.testing.assert_array_equal(values.parse_booleans(words, spellings=("false", "true")), expected)
    np.testing.assert_array_equal(
        values.parse_booleans(pa.array(["Nein", "ja", "true"]), spellings=("nein", "ja")), [0, 1, 1]
    )
    np.testing.assert_array_equal(
        values.parse_booleans(pa.array(["a", "A", "y"]), spellings=("a", "A")), [0, 1, np.nan]
    )
    np.testing.assert_array_equal(
        values.parse_booleans(pa.array([1.0, 0.0, 2.0, None]), spellings=("false", "true")),
        [1, 0, np.nan, np.nan],
    )


def test_categories_match_exactly_then_trimmed_and_normalised():
    known = ("a", " a", "cafe\u0301", "1")
    words = pa.array(["a", " a", "  a ", "caf\u00e9", "A", "", None])
    np.testing.assert_array_equal(values.parse_categories(words, values=known), [0, 1, 0, 2, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(values.parse_categories(words, values=known, other="1")[4:], [3, np.nan, np.nan])
    for cells in (pa.array([1, 2]), pa.array([1.0, 2.0]), pa.array(["1", "2"])):
        np.testing.assert_array_equal(values.parse_categories(cells, values=("1",)), [0, np.nan])


def test_bytes_that_are_not_utf8_are_values_like_others():
    broken = pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xffbad", b"ok"]).buffers())
    np.testing.assert_array_equal(values.parse_categories(broken, values=("ok",)), [np.nan, 0])
    assert np.isnan(values.parse_numbers(broken)).all()


def test_missing_codes_by_text_and_by_value():
    age = Column("age", "integer", 0, 120, missing_codes=(999, "-1", 7.5))
    cells = pa.array(["999", "999.0", "-1", "7.5", "98", "?"])
    np.testing.assert_array_equal(values.parse(age, cells), [np.nan] * 4 + [98, np.nan])
    np.testing.assert_array_equal(values.parse(age, pa.array([999, 98])), [np.nan, 98])
    ends = Column("ends", "date", 0, 9, missing_codes=("9999-12-31",))
    np.testing.assert_array_equal(values.parse(ends, pa.array(["9999-12-31", "1970-01-02"])), [np.nan, 1])
    np.testing.assert_array_equal(values.parse(ends, pa.array(["9999-12-31"]).cast(pa.date32())), [np.nan])
    word = Column("w", "category", values=("a", "b"), missing_codes=("b", "?"))
    np.testing.assert_array_equal(values.parse(word, pa.array(["a", "b", "?"])), [0, np.nan, np.nan])


def test_empty_cells():
    assert values.is_empty(pa.array(["", " ", None, "0"])).tolist() == [True, True, True, False]
    assert values.is_empty(pa.array([np.nan, None, 0.0])).tolist() == [True, True, False]
