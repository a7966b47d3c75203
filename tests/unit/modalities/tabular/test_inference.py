from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from evomix.core.errors import SchemaError
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.column_inference import is_identifier_name
from evomix.modalities.tabular.inference import infer_schema
from evomix.modalities.tabular.schema import Schema


def infer(cells, name="c", kind=None, **options):
    inferred = infer_schema(pa.table({name: pa.array(cells, kind)}), **options)
    assert Schema.from_dict(inferred.schema.to_dict()) == inferred.schema
    return inferred.schema.columns[0], inferred.warnings


def column(cells, **options):
    found, warnings = infer(cells, **options)
    assert warnings == ()
    return found


def shape(cells, **options):
    found = column(cells, **options)
    return (found.type, found.min, found.max, found.missing)


def test_text_numbers():
    assert shape(["18", "90", "41"]) == ("integer", 18, 90, False)
    assert shape(["0", "150,000", "60,000"]) == ("integer", 0, 150_000, False)
    assert shape(["0", "12", "", " 6 "]) == ("integer", 0, 12, True)
    assert shape(["0", "NA", "12", "null"]) == ("integer", 0, 12, True)
    assert shape(["0.5", "-1e3", "12"]) == ("number", -1000, 12, False)
    assert shape(["1,234.5", "7"]) == ("number", 7, 1234.5, False)
    assert shape(["17.0", "", "3.0"]) == ("integer", 3, 17, True)
    assert shape(["inf", "1.5", "2"]) == ("number", 1.5, 2, False)
    assert shape(["2024"] * 3) == ("integer", 2024, 2024, False)
    assert shape(["0", "1"]) == ("integer", 0, 1, False)


def test_typed_numbers():
    assert shape([1, None, 3], kind=pa.int8()) == ("integer", 1, 3, True)
    assert shape([1.0, None, 3.0]) == ("integer", 1, 3, True)
    assert shape([1.0, float("nan"), 3.0]) == ("integer", 1, 3, True)
    assert shape([1.0, 3.0]) == ("number", 1, 3, False)
    assert shape([Decimal("1.25"), Decimal(3)]) == ("number", 1.25, 3, False)
    assert shape([1, 2], kind=pa.uint64()) == ("integer", 1, 2, False)


def test_the_grid_of_many_numbers():
    cents = [round(0.25 * k, 2) for k in range(30)]
    assert column(cents).multiple_of == 0.01
    assert column([repr(cent) for cent in cents]).multiple_of == 0.01
    assert column(cents[:10]).multiple_of is None
    assert column([float(k) for k in range(30)]).multiple_of == 1.0
    assert column(list(np.random.default_rng(0).random(30))).multiple_of is None


def test_codes_keep_their_zeros():
    zips = ["00501", "01002", "20500", "94105"]
    assert column(zips).values == tuple(zips)
    assert column(["1", "2", "007"]).type == "category"
    assert column(["0", "10", "0.5"]).type == "number"


def test_booleans():
    assert column(["True", "False"]).values == ("False", "True")
    assert column(["TRUE"]).values == ("FALSE", "TRUE")
    assert column(["true", "", "false"]).missing
    assert column([True, None]).type == "boolean"
    assert column(["true", "False"]).type == "category"
    assert column(["yes", "no"]).values == ("no", "yes")


def test_dates():
    assert shape(["2020-01-01", "2030-12-31", ""]) == ("date", 18262, 22279, True)
    far = column(["0001-01-01", "9999-12-31"])
    assert (far.type, far.min, far.max) == ("date", -719162, 2932896)
    assert shape([date(2020, 1, 1), None]) == ("date", 18262, 18262, True)
    assert column(["31.12.2020", "01.02.2021"]).format == "%d.%m.%Y"
    assert column(["12/31/2020", "02/01/2021"]).format == "%m/%d/%Y"
    assert column(["01/02/2020", "03/04/2021"]).type == "category"
    assert column(["2020-02-30", "2020-01-01"]).type == "category"


def test_eight_digits():
    days = ["20100101", "20231231", "20150615"]
    assert (column(days).type, column(days).format) == ("date", "%Y%m%d")
    assert column([int(day) for day in days], kind=pa.int64()).type == "integer"
    assert column(days[:2]).type == "integer"
    assert column(days[:2], name="birth_day").type == "date"
    assert column([*days, "20231301"]).type == "integer"


def test_times():
    found = column(["2020-01-01T10:00:00", "2020-01-01T12:30:00"])
    assert (found.type, found.format) == ("datetime", "%Y-%m-%dT%H:%M:%S")
    assert column(["2020-01-01 10:00"]).format == "%Y-%m-%d %H:%M"
    hours = [datetime(2020, 1, 1) + timedelta(hours=k) for k in range(30)]  # noqa: DTZ001
    assert column(hours).multiple_of == 3600.0
    assert column([str(hour) for hour in hours]).multiple_of == 3600.0
    assert column(hours[:3]).multiple_of is None
    zoned, warnings = infer(hours, kind=pa.timestamp("us", tz="Europe/Berlin"))
    assert zoned.type == "datetime"
    assert "UTC" in warnings[0]
    assert "UTC" in infer(["2020-01-01T10:00:00Z"])[1][0]


def test_categories_by_frequency_then_text():
    assert column(["b", "a", "c", "c", "NA"]).values == ("c", "NA", "a", "b")
    assert column(["x", "x"]).values == ("x",)
    words = ["_RARE_", "other", "__missing__", "<NA>", "UNKNOWN", "[MASK]"]
    assert set(column(words).values) == set(words)
    assert column(["a", None]).missing
    assert column(pa.array(["a", "b"]).dictionary_encode()).type == "category"
    assert column(["a", "b"], kind=pa.string_view()).type == "category"


def test_nearly_distinct_columns_become_made_up_ids():
    logins, warnings = infer([f"user{k}@mail" for k in range(60)], name="login")
    assert (logins.type, logins.missing) == ("id", False)
    assert "'login'" in warnings[0]
    assert "user" not in warnings[0]
    many, _ = infer([f"w{k // 2 if k < 10 else k}" for k in range(2100)])
    assert many.type == "id"
    padded, _ = infer([f"{k:05d}" for k in range(60)])
    assert padded.format == "%05d"
    assert column([f"w{k}" for k in range(20)]).type == "category"
    assert column([f"w{k % 40}" for k in range(60)]).type == "category"


def test_whole_numbers_that_identify():
    numbers, warnings = infer([5000 + k for k in range(60)], name="patient_nbr")
    assert (numbers.type, numbers.format) == ("id", "%d")
    assert "'patient_nbr'" in warnings[0]
    assert column([5000 + k for k in range(60)], name="weight").type == "integer"
    kept, warnings = infer([1, 2] * 30, name="type_id")
    assert kept.type == "integer"
    assert "identifier-like" in warnings[0]
    assert infer([2**60 + k for k in range(60)])[0].type == "id"
    assert infer([str(2**60), "3"])[0].type == "id"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("id", True), ("user_id", True), ("ID", True), ("userId", True), ("UUID", True), ("patient nr", True), ("", True),
     ("Unnamed: 0", True), ("index", True), ("id_person", True), ("paid", False), ("grid", False), ("idle", False),
     ("number", False), ("bmi_index", False)],
)  # fmt: skip
def test_names_of_identifiers(name, expected):
    assert is_identifier_name(name) is expected


def test_empty_columns_stay_empty():
    for cells in (
        ["", " ", ""],
        [None, None],
        pa.array([None, None], pa.int64()),
        [float("nan")] * 2,
        [float("inf")] * 2,
    ):
        found, warnings = infer(cells)
        assert not found.modelled
        assert "no public value" in warnings[0]
    table = pa.table({"e": ["", ""], "a": ["1", "2"]})
    codec = TableCodec(infer_schema(table).schema)
    assert codec.decode(codec.encode(table))["e"].null_count == 2


def test_missing_codes():
    found = column(["999", "18", "90", "?"], missing_codes={"c": (999, "?")})
    assert (found.type, found.max, found.missing, found.missing_codes) == ("integer", 90, True, (999, "?"))
    assert column([999, 18], missing_codes={"c": (999,)}).max == 18
    assert column(["a", "none"], missing_codes={"c": ("none",)}).values == ("a",)
    with pytest.raises(SchemaError, match="'d'"):
        infer(["1"], missing_codes={"d": (1,)})


@pytest.mark.parametrize("cells", [["1,5", "2,75"], [f"{k},{k % 10}0" for k in range(100)]])
def test_decimal_commas_are_refused(cells):
    with pytest.raises(SchemaError, match=r"'c'.*decimal comma.*decimal point"):
        infer(cells)


@pytest.mark.parametrize("cells", [[[1]], [{"a": 1}], [b"x"], [timedelta(1)]])
def test_storage_that_no_table_holds(cells):
    with pytest.raises(SchemaError, match="'c'"):
        infer(cells)


def test_no_rows_and_repeated_names():
    with pytest.raises(SchemaError, match="no rows"):
        infer_schema(pa.table({"a": pa.array([], pa.string())}))
    with pytest.raises(SchemaError, match="'a'"):
        infer_schema(pa.table([pa.array(["1"]), pa.array(["2"])], names=["a", "a"]))


def test_the_schema_fits_its_own_table():
    rng = np.random.default_rng(3)
    table = pa.table({
        "n": rng.integers(0, 9, 50), "x": rng.normal(size=50), "c": rng.choice(["a", "b"], 50),
        "b": rng.random(50) < 0.5, "d": rng.integers(0, 9999, 50).astype("datetime64[D]"),
    })  # fmt: skip
    codec = TableCodec(infer_schema(table).schema)
    assert codec.decode(codec.encode(table)).to_pylist() == table.to_pylist()
