import datetime as dt
import decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evomix.core.errors import InputFileError, SpecError
from evomix.formats.frames import from_frame


def test_the_pandas_index_is_ignored():
    table = from_frame(pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="who")))
    assert table.to_pydict() == {"a": [1, 2]}


def test_missing_values_of_pandas_become_null():
    frame = pd.DataFrame(
        {
            "float": [1.5, float("nan")],
            "object": pd.Series(["x", None], dtype=object),
            "nullable": pd.array([1, None], dtype="Int64"),
            "when": [pd.Timestamp("2020-01-01"), pd.NaT],
            "kind": pd.Categorical(["u", None]),
        }
    )
    table = from_frame(frame)
    assert [column.null_count for column in table.columns] == [1] * 5
    assert table.schema.field("nullable").type == pa.int64()


class Odd:
    def __str__(self):
        return "odd \ud800"


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1, "x", None, 2.5], ["1", "x", None, "2.5"]),
        ([True, "no", float("nan")], ["True", "no", None]),
        ([dt.date(2020, 1, 2), 7], ["2020-01-02", "7"]),
        ([dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3)], ["2020-01-02", "2020-01-02 03:00:00"]),  # noqa: DTZ001
        ([1.5, True], ["1.5", "True"]),
        ([b"x", "y"], ["b'x'", "y"]),
        ([2**70, 1], [str(2**70), "1"]),
        ([1 + 2j], ["(1+2j)"]),
    ],
)
def test_mixed_objects_become_strings(values, texts):
    frame = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    assert from_frame(frame)["a"].to_pylist() == texts


def test_uniform_objects_keep_their_type():
    for values in ([decimal.Decimal("1.5"), None], [dt.date(2020, 1, 2), None], [1, 2.5], [None, None]):
        frame = pd.DataFrame({"a": pd.Series(values, dtype=object)})
        assert from_frame(frame)["a"].to_pylist() == values


def test_what_has_no_text_is_refused_without_quoting_it():
    with pytest.raises(InputFileError, match="column 'a'") as caught:
        from_frame(pd.DataFrame({"a": [Odd(), 1]}))
    assert caught.value.__context__ is None


def test_repeated_and_empty_names_are_refused():
    for names in (["age", "age"], ["1", 1]):
        with pytest.raises(InputFileError, match="duplicate"):
            from_frame(pd.DataFrame([[1, 2]], columns=names))
    with pytest.raises(InputFileError, match="column 2 of 2 has no name"):
        from_frame(pd.DataFrame([[1, 2]], columns=["a", ""]))
    with pytest.raises(InputFileError, match="no columns"):
        from_frame(pd.DataFrame(index=[1, 2]))
    with pytest.raises(InputFileError, match="has no name"):
        from_frame(pl.DataFrame({"": [1]}))


def test_polars_and_arrow_frames():
    frame = pl.DataFrame(
        {"a": [1, None], "s": ["x", "y"], "k": pl.Series(["u", "v"], dtype=pl.Categorical)}
    ).with_columns(pl.Series("o", [{1}, None], dtype=pl.Object))
    table = from_frame(frame)
    assert table.to_pydict() == {"a": [1, None], "s": ["x", "y"], "k": ["u", "v"], "o": ["{1}", None]}
    assert from_frame(pa.RecordBatch.from_pydict({"a": [1]})).to_pydict() == {"a": [1]}


@pytest.mark.parametrize("thing", [None, 3, [{"a": 1}], {"a": [1]}, b"x.csv"])
def test_anything_else_is_an_argument_error(thing):
    with pytest.raises(SpecError, match="expected a path or a pandas, polars or Arrow table"):
        from_frame(thing)


def test_a_lazy_frame_gets_a_hint():
    with pytest.raises(SpecError, match=r"\.collect\(\)"):
        from_frame(pl.DataFrame({"a": [1]}).lazy())
