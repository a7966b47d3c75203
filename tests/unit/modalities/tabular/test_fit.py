import numpy as np
import pyarrow as pa
import pytest

from evomix.core.errors import SchemaError
from evomix.modalities.tabular.fit import check_fit, type_clash
from evomix.modalities.tabular.inference import infer_schema
from evomix.modalities.tabular.schema import Column, Schema

SCHEMA = Schema((
    Column("age", "integer", 18, 90),
    Column("region", "category", values=("north", "south")),
    Column("seen", "date", 0, 20_000),
    Column("smokes", "boolean"),
    Column("login", "id"),
))  # fmt: skip
FITTING = {"age": ["33"], "region": ["north"], "seen": ["2020-01-01"], "smokes": ["true"], "login": ["x"]}


def fault(table, role="private", schema=SCHEMA, **options):
    with pytest.raises(SchemaError) as caught:
        check_fit(schema, table, role=role, **options)
    return str(caught.value)


def test_order_does_not_matter():
    for role in ("private", "public"):
        check_fit(SCHEMA, pa.table(dict(reversed(FITTING.items()))), role=role)
    check_fit(SCHEMA, pa.table(FITTING).schema, role="private")


def test_all_name_faults_at_once_with_their_sides():
    table = pa.table({"Age": ["33"], "region": ["x"], "seen": ["x"], "smokes": ["x"], "height": ["170"]})
    message = fault(table, described="the public table")
    assert "'age' of the public table is spelled 'Age' in the private table" in message
    assert "only the public table has 'login'" in message
    assert "only the private table has 'height'" in message
    assert "33" not in message
    assert "170" not in message


def test_a_repeated_name():
    twice = pa.table([pa.array(["33"])] * 6, names=[*FITTING, "age"])
    assert "'age' occurs more than once" in fault(twice)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("age", pa.list_(pa.int8())), ("age", pa.timestamp("s")), ("age", pa.binary()), ("region", pa.struct([])),
     ("seen", pa.int64()), ("seen", pa.bool_()), ("login", pa.binary()), ("smokes", pa.date32())],
)  # fmt: skip
def test_storage_that_cannot_hold_the_type(name, kind):
    fields = [(other, kind if other == name else pa.string()) for other in SCHEMA.names]
    message = fault(pa.schema(fields))
    assert f"'{name}' is {SCHEMA.column(name).type}" in message
    assert str(kind) in message


@pytest.mark.parametrize(
    ("name", "kind"),
    [("age", pa.float64()), ("age", pa.dictionary(pa.int8(), pa.string())), ("age", pa.null()),
     ("region", pa.int8()), ("region", pa.date32()), ("seen", pa.timestamp("ns", tz="UTC")), ("smokes", pa.int8()),
     ("login", pa.int64())],
)  # fmt: skip
def test_storage_that_can(name, kind):
    fields = [(other, kind if other == name else pa.string()) for other in SCHEMA.names]
    check_fit(SCHEMA, pa.schema(fields), role="private")


def test_eight_digit_dates_may_be_whole_numbers():
    schema = Schema((Column("d", "date", 0, 20_000, format="%Y%m%d"),))
    check_fit(schema, pa.table({"d": [20200101, 20210101]}), role="public")
    assert "'d'" in fault(pa.table({"d": [1, 2]}), role="public", schema=schema)


def test_public_values_must_be_of_the_declared_type():
    message = fault(pa.table({**FITTING, "age": ["young"]}), role="public")
    assert "'age' is integer in the schema and text in the public table" in message
    assert "'region' is category" in fault(pa.table({**FITTING, "region": ["7"]}), role="public")
    assert "'seen' is date" in fault(pa.table({**FITTING, "seen": ["soon"]}), role="public")
    assert "number in the public table" in fault(pa.table({**FITTING, "smokes": ["7"]}), role="public")


def test_public_values_of_the_type_may_be_missing_unknown_or_out_of_bounds():
    wider = {"age": ["999", "NA", ""], "region": ["east", "north", ""], "seen": ["9999-12-31", "", "null"],
             "smokes": ["yes", "0", ""], "login": ["", "a", "b"]}  # fmt: skip
    check_fit(SCHEMA, pa.table(wider), role="public")


def test_private_values_never_decide_by_check_fit():
    check_fit(SCHEMA, pa.table({name: ["odd \ud7ff"] * 40 for name in SCHEMA.names}), role="private")


def clash(cells, column):
    return type_clash(Schema((column,)), pa.table({"c": cells}))


def test_words_where_numbers_are_declared_and_the_reverse():
    words = [f"secret{k % 7}" for k in range(100)]
    numbers = [str(k) for k in range(100)]
    assert clash(words, Column("c", "integer", 0, 9)) == [
        "column 'c' is integer in the schema and text in the private table"
    ]
    assert clash(words, Column("c", "date", 0, 9)) == ["column 'c' is date in the schema and text in the private table"]
    assert clash(numbers, Column("c", "category", values=("young", "old"))) == [
        "column 'c' is category in the schema and number in the private table"
    ]
    assert clash(numbers, Column("c", "boolean")) == [
        "column 'c' is boolean in the schema and number in the private table"
    ]


def test_what_never_clashes():
    words = [f"USR-{k}" for k in range(100)]
    numbers = [str(k) for k in range(100)]
    assert clash(words, Column("c", "category", values=("P0",))) == []
    assert clash(numbers, Column("c", "category", values=("00501", "x"))) == []
    assert clash(words[:19], Column("c", "integer", 0, 9)) == []
    assert clash([""] * 50 + words[:19], Column("c", "integer", 0, 9)) == []
    assert clash(["NA"] * 50 + ["?"] * 50, Column("c", "integer", 0, 9, missing_codes=("?",))) == []
    assert clash(["inf", "1e400", "-5"] * 30, Column("c", "integer", 0, 9)) == []
    assert (
        type_clash(Schema((Column("c", "id"), Column("b", "boolean"))), pa.table({"c": words, "b": ["1"] * 100})) == []
    )


def test_one_record_does_not_decide_away_from_the_line():
    column = Column("c", "integer", 0, 9)
    for words in range(95):
        assert clash(["x"] * words + ["1"] * (100 - words), column) == []
    assert clash(["x"] * 95 + ["1"] * 5, column) == []
    assert clash(["x"] * 96 + ["1"] * 4, column) != []


def test_a_table_fits_the_schema_read_off_it():
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.integers(0, 5, 40), "w": rng.choice(["x", "y"], 40), "t": rng.random(40) < 0.5})
    schema = infer_schema(table).schema
    for role in ("private", "public"):
        check_fit(schema, table, role=role)
    assert type_clash(schema, table) == []
