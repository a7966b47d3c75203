import json
import math

import pytest

from evomix.core.errors import InputFileError, SchemaError
from evomix.modalities.tabular.schema import Column, Schema

FULL = {
    "columns": [
        {
            "name": "age",
            "type": "integer",
            "min": 18,
            "max": 90,
            "missing_codes": [999, "?"],
            "missing": True,
        },
        {"name": "income", "type": "number", "min": 0, "max": 150000.5, "missing": True, "multiple_of": 0.5},
        {"name": "region", "type": "category", "values": ["north", "south"], "other": True},
        {"name": "grade", "type": "category", "values": [3, 1, 2]},
        {"name": "seen", "type": "date", "min": "2020-01-01", "max": "2025-12-31"},
        {"name": "joined", "type": "date", "min": "20100101", "max": "20231231", "format": "%Y%m%d"},
        {"name": "at", "type": "datetime", "min": "2020-01-01T10:00:00", "max": "2020-01-02T00:00:00.250000"},
        {"name": "smokes", "type": "boolean", "values": ["False", "True"]},
        {"name": "code", "type": "id", "format": "P%04d"},
        {"name": "note", "type": "text"},
    ]
}


def one(**entry):
    return Schema.from_dict({"columns": [{"name": "c", **entry}]}).columns[0]


def test_reads_units_and_comes_back_as_written(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text("\ufeff" + json.dumps(FULL), encoding="utf-8")
    schema = Schema.from_json(path)
    assert schema.column("seen").min == 18262.0
    assert schema.column("at").max == 18263 * 86400.0 + 0.25
    assert schema.column("joined").max == 19722.0
    again = tmp_path / "again.json"
    schema.to_json(again)
    assert Schema.from_json(again) == schema
    spelled = {entry["name"]: entry for entry in json.loads(again.read_text("utf-8"))["columns"]}
    given = {entry["name"]: entry for entry in FULL["columns"]}
    for name in given.keys() - {"region", "seen"}:
        assert spelled[name] == given[name]
    assert spelled["region"] == {
        "name": "region", "type": "category", "values": ["north", "south", "other"], "other": "other",
    }  # fmt: skip


def test_integers_are_written_without_a_point(tmp_path):
    Schema((Column("a", "integer", 18, 90),)).to_json(tmp_path / "s.json")
    assert '"min": 18, "max": 90' in (tmp_path / "s.json").read_text("utf-8")


def test_modelled_leaves_out_ids_and_always_empty_columns():
    schema = Schema((Column("i", "id"), Column("e", "category", missing=True), Column("b", "boolean")))
    assert [column.name for column in schema.modelled] == ["b"]
    assert schema.names == ("i", "e", "b")


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ({"type": "integer", "min": 0}, "max"),
        ({"type": "integer", "min": 3, "max": 2}, "min"),
        ({"type": "integer", "min": 0.5, "max": 2}, "min"),
        ({"type": "integer", "min": 0, "max": 2**53 + 1}, "max"),
        ({"type": "integer", "min": True, "max": 2}, "min"),
        ({"type": "number", "min": 0, "max": math.inf}, "max"),
        ({"type": "number", "min": 0, "max": 1e308}, "max"),
        ({"type": "number", "min": "0", "max": 1}, "min"),
        ({"type": "number", "min": 0.1, "max": 0.2, "multiple_of": 5}, "multiple_of"),
        ({"type": "number", "min": 0, "max": 1, "multiple_of": 0}, "multiple_of"),
        ({"type": "number", "min": 0, "max": 1e15, "multiple_of": 0.01}, "multiple_of"),
        ({"type": "integer", "min": 0, "max": 1, "multiple_of": 0.5}, "multiple_of"),
        ({"type": "integer", "min": 0, "max": 1, "values": ["a"]}, "values"),
        ({"type": "number", "min": 0, "max": 1, "colour": "red"}, "colour"),
        ({"type": "number", "min": 0, "max": 1, "missing": "yes"}, "missing"),
        ({"type": "number", "min": 0, "max": 1, "missing": False, "missing_codes": [9]}, "missing"),
        ({"type": "number", "min": 0, "max": 1, "missing_codes": [None]}, "missing_codes"),
        ({"type": "category"}, "values"),
        ({"type": "category", "values": []}, "values"),
        ({"type": "category", "values": ["a", "a"]}, "values"),
        ({"type": "category", "values": ["a", ""]}, "values"),
        ({"type": "category", "values": ["a", 1.5]}, "values"),
        ({"type": "category", "values": ["a"], "other": ""}, "other"),
        ({"type": "category", "values": ["a"], "other": 3}, "other"),
        ({"type": "boolean", "values": ["no", "no"]}, "values"),
        ({"type": "date", "min": "2020-02-30", "max": "2021-01-01"}, "min"),
        ({"type": "date", "min": "2020-01-01", "max": "2021-01-01", "format": "%d.%m."}, "format"),
        ({"type": "date", "min": "2020-01-01", "max": "2021-01-01", "format": 8}, "format"),
        ({"type": "id", "format": "no number"}, "format"),
        ({"type": "id", "format": "%s %d"}, "format"),
        ({"type": "money"}, "type"),
        ({}, "type"),
    ],
)
def test_faults_name_column_and_key(entry, key):
    with pytest.raises(SchemaError, match=rf"column 'c', key '{key}'"):
        one(**entry)


@pytest.mark.parametrize(
    "content",
    [[], {}, {"columns": []}, {"columns": {}}, {"columns": ["a"]}, {"columns": [{"type": "id"}]},
     {"columns": [{"name": "a", "type": "id"}], "extra": 1},
     {"columns": [{"name": "a", "type": "id"}, {"name": "a", "type": "id"}]}],
)  # fmt: skip
def test_other_content_is_refused(content):
    with pytest.raises(SchemaError):
        Schema.from_dict(content)


def test_files_that_are_no_schema(tmp_path):
    with pytest.raises(InputFileError, match="nowhere"):
        Schema.from_json(tmp_path / "nowhere.json")
    broken = tmp_path / "broken.json"
    broken.write_bytes(b"{")
    with pytest.raises(SchemaError, match=r"broken\.json"):
        Schema.from_json(broken)
    broken.write_bytes(b'{"columns": "\xff"}')
    with pytest.raises(SchemaError, match=r"broken\.json"):
        Schema.from_json(broken)


def test_an_unknown_column_is_named():
    with pytest.raises(SchemaError, match="'b'"):
        Schema((Column("a", "id"),)).column("b")


def test_other_is_a_word_of_the_users_and_never_clashes():
    assert one(type="category", values=["a"], other="Andere").values == ("a", "Andere")
    assert one(type="category", values=["other", "a"], other=True).values == ("other", "a")
    assert one(type="category", values=["a"]).values == ("a",)


def test_fallbacks_are_fixed_by_the_schema():
    assert one(type="integer", min=0, max=5).fallback == 2.0
    assert one(type="number", min=0, max=5).fallback == 2.5
    assert one(type="category", values=["a", "b", "c"]).fallback == 2.0
    assert one(type="category", values=["other", "b"], other=True).fallback == 0.0
    assert one(type="boolean").fallback == 0.0
    assert math.isnan(one(type="boolean", missing=True).fallback)
    assert math.isnan(one(type="integer", min=0, max=5, missing_codes=[9]).fallback)


def test_steps():
    assert one(type="integer", min=0, max=9).step == 1.0
    assert one(type="integer", min=0, max=10, multiple_of=5).step == 5.0
    assert one(type="number", min=0, max=9).step is None
    near = {"type": "datetime", "min": "2020-01-01", "max": "2021-01-01"}
    assert one(**near).step == 1e-6
    assert one(**near, format="%Y-%m-%d %H:%M").step == 60.0
    assert one(**near, multiple_of=3600).step == 3600.0
    far = {"type": "datetime", "min": "0001-01-01", "max": "9999-12-31T23:59:59.999"}
    assert one(**far).step == 1e-3
    assert one(**far, format="%Y-%m-%dT%H:%M:%S.%f").step == 1e-3
