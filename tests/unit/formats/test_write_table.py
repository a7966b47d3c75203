import csv
import datetime as dt
import decimal
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import EnvironmentFailure, InputFileError, SpecError
from evomix.formats.table import check_output, read_table, write_table

MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5)  # noqa: DTZ001
TABLE = pa.table(
    {
        "n": pa.array([1, None], pa.int64()),
        "x": pa.array([-0.0, float("nan")]),
        "y": pa.array([1e22, 0.1]),
        "whole": pa.array([40.0, float("inf")]),
        "small": pa.array(np.array([0.1, -0.0], dtype=np.float16)),
        "b": pa.array([True, None]),
        "s": pa.array(["plain", 'a,"b"\nc']),
        "d": pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
        "t": pa.array([MOMENT, None]),
        "u": pa.array([MOMENT, MOMENT.replace(microsecond=500_000)]),
        "z": pa.array([MOMENT] * 2, pa.timestamp("us", "UTC")).cast(pa.timestamp("us", "Europe/Berlin")),
        "k": pa.array(["é", None]).dictionary_encode(),
        "c": pa.array([decimal.Decimal("1.50"), None]),
        "none": pa.nulls(2),
        "view": pa.array(["v", None], pa.string_view()),
    }
)
FIRST = ["1", "0", "1e+22", "40", "0.099975586", "true", "plain", "0001-01-01", "2020-01-02T03:04:05"]
FIRST += ["2020-01-02T03:04:05.000", "2020-01-02T03:04:05Z", "é", "1.50", "", "v"]
SECOND = ["", "", "0.1", "", "0", "", 'a,"b"\nc', "9999-12-31", "", "2020-01-02T03:04:05.500"]
SECOND += ["2020-01-02T03:04:05Z", "", "", "", ""]


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_delimited_text(tmp_path, suffix, delimiter):
    path = tmp_path / f"t{suffix}"
    write_table(TABLE, path)
    content = path.read_bytes().decode("utf-8")
    assert list(csv.reader(content.splitlines(keepends=True), delimiter=delimiter)) == [
        TABLE.column_names,
        FIRST,
        SECOND,
    ]
    assert content.splitlines()[0] == delimiter.join(TABLE.column_names)  # no quotes without need
    assert "\r" not in content
    assert content.endswith("\n")


def test_json_lines(tmp_path):
    write_table(
        TABLE.rename_columns(['"n' if name == "n" else name for name in TABLE.column_names]), tmp_path / "t.jsonl"
    )
    lines = (tmp_path / "t.jsonl").read_text(encoding="utf-8").split("\n")
    assert lines[2:] == [""]
    first, second = (json.loads(line) for line in lines[:2])
    moments = {"t": "2020-01-02T03:04:05", "u": "2020-01-02T03:04:05.000", "z": "2020-01-02T03:04:05Z"}
    numbers = {'"n': 1, "x": 0, "y": 1e22, "whole": 40, "small": 0.099975586}
    others = {"b": True, "s": "plain", "d": "0001-01-01", "k": "é", "c": "1.50", "none": None, "view": "v"}
    assert first == moments | numbers | others
    assert second["s"] == 'a,"b"\nc'
    assert [name for name, value in second.items() if value is None] == [
        *['"n', "x", "whole", "b", "t", "k", "c", "none", "view"],
    ]


def test_parquet_keeps_types_and_has_no_odd_numbers(tmp_path):
    write_table(TABLE, tmp_path / "t.parquet")
    back = read_table(tmp_path / "t.parquet")
    assert back["n"].type == pa.int64()
    assert back["d"].type == pa.date32()
    assert back["x"].to_pylist() == [0.0, None]
    assert str(back["x"][0].as_py()) == "0.0"
    assert back["whole"].to_pylist() == [40.0, None]
    assert back.schema.metadata is None


def test_no_annotation_of_the_source_is_written(tmp_path):
    table = pa.Table.from_pandas(pd.DataFrame({"a": [1]}, index=["canary"]), preserve_index=False)
    table = table.replace_schema_metadata({"note": "canary"})
    write_table(table, tmp_path / "t.parquet")
    assert b"canary" not in (tmp_path / "t.parquet").read_bytes()


def test_other_programs_see_a_missing_cell_of_one_column(tmp_path):
    write_table(pa.table({"a": ["x", None, ""]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b'a\nx\n""\n""\n'
    assert len(pd.read_csv(tmp_path / "t.csv")) == 3
    assert read_table(tmp_path / "t.csv")["a"].to_pylist() == ["x", "", ""]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_a_table_without_rows(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    write_table(TABLE.slice(0, 0), path)
    if suffix == ".jsonl":
        assert path.read_bytes() == b""
    else:
        assert read_table(path).column_names == TABLE.column_names
        assert read_table(path).num_rows == 0


@settings(max_examples=80, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_floats_read_back_the_same(tmp_path_factory, numbers):
    folder = tmp_path_factory.getbasetemp()
    for name in ("t.csv", "t.jsonl"):
        write_table(pa.table({"x": pa.array(numbers, pa.float64())}), folder / name)
        assert [float(text) for text in read_table(folder / name)["x"].to_pylist()] == numbers
        assert "-0" not in [*read_table(folder / name)["x"].to_pylist()]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | st.text(st.characters(codec="utf-8"), max_size=8), min_size=1, max_size=8))
def test_texts_survive_json_lines(tmp_path_factory, texts):
    path = tmp_path_factory.getbasetemp() / "t.jsonl"
    write_table(pa.table({"s": pa.array(texts, pa.string())}), path)
    assert read_table(path)["s"].to_pylist() == texts


def test_many_rows_cross_the_batches(tmp_path):
    table = pa.table({"n": range(70_000), "s": [f"{n},x" for n in range(70_000)]})
    for name in ("t.csv", "t.jsonl"):
        write_table(table, tmp_path / name)
        back = read_table(tmp_path / name)
        assert back["s"].to_pylist() == table["s"].to_pylist()
        assert back["n"].cast(pa.int64()).equals(table["n"])


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.arrow", "t.csv.gz"])
def test_unknown_suffixes_are_refused_before_anything_is_written(tmp_path, name):
    for action in (lambda: write_table(TABLE, tmp_path / name), lambda: check_output(tmp_path / name)):
        with pytest.raises(SpecError, match=r"suffix=.*\.csv, \.tsv, \.parquet, \.jsonl"):
            action()
    assert list(tmp_path.iterdir()) == []


def test_check_output_looks_at_the_folder_too(tmp_path):
    check_output(tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SpecError, match="does not exist"):
        check_output(tmp_path / "absent" / "t.csv")


@pytest.mark.parametrize("column", [pa.array([[1]]), pa.array([b"x"]), pa.array([{"a": 1}])])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_what_has_no_text_form_is_refused_by_column(tmp_path, column, suffix):
    (tmp_path / f"t{suffix}").write_text("old")
    with pytest.raises(SpecError, match="column 'odd' of type"):
        write_table(pa.table({"a": [1], "odd": column}), tmp_path / f"t{suffix}")
    assert (tmp_path / f"t{suffix}").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1
    write_table(pa.table({"odd": column}), tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").to_pydict() == {"odd": column.to_pylist()}


def test_repeated_names_are_not_written(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(InputFileError, match="duplicate column name 'a'"):
        write_table(table, tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_of_the_disk_names_the_target(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("evomix.formats.table.write_csv", fail)
    with pytest.raises(EnvironmentFailure, match=r"t\.csv: cannot be written: the disk is full"):
        write_table(TABLE, tmp_path / "t.csv")
