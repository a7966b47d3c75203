import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SchemaError
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.conform import conform
from evomix.modalities.tabular.determined_rule import Determined
from evomix.modalities.tabular.ordered_rule import Ordered
from evomix.modalities.tabular.rules import Rules
from evomix.modalities.tabular.schema import Column, Schema
from evomix.modalities.tabular.sum_rule import Sum

COLUMNS = (
    Column("note", "id"),
    Column("start", "date", 0, 40, missing=True),
    Column("middle", "date", 5, 30),
    Column("end", "date", 0, 40, missing=True),
    Column("a", "number", 0, 3, multiple_of=0.1),
    Column("b", "number", -1, 4, multiple_of=0.1, missing=True),
    Column("total", "number", 0.05, 5, multiple_of=0.1),
    Column("zip", "category", values=("10", "20", "30"), missing=True),
    Column("state", "category", values=("A", "B"), other=True, missing=True),
    Column("coast", "boolean"),
)
RULES = (
    Determined("coast", "state", (("A", True), ("B", False))),
    Ordered(("start", "middle", "end")),
    Sum("total", ("a", "b")),
    Determined("state", "zip", (("10", "A"), ("20", "B"))),
)
SCHEMA = Schema(COLUMNS, RULES)
NAMES = [column.name for column in SCHEMA.modelled]
CELL = st.one_of(st.floats(-10, 50), st.just(math.nan), st.sampled_from([0.0, 1.0, 2.0, math.inf, -math.inf]))


def decoded(rows, schema=SCHEMA):
    return TableCodec(schema).decode(np.array(rows, np.float64).reshape(-1, len(schema.modelled))).to_pylist()


def assert_kept(row):
    if None not in (row["start"], row["end"]):
        assert row["start"] <= row["middle"] <= row["end"]
    if row["b"] is not None:
        assert round(row["a"] * 10) + round(row["b"] * 10) == round(row["total"] * 10)
    if row["state"] is not None and row["zip"] in ("10", "20"):
        assert row["state"] == {"10": "A", "20": "B"}[row["zip"]]
    if row["state"] in ("A", "B"):
        assert row["coast"] is (row["state"] == "A")


@given(st.lists(st.tuples(*[CELL] * len(NAMES)), min_size=1, max_size=6))
@settings(max_examples=200, deadline=None)
def test_every_row_written_keeps_rules_and_schema_and_stays_put(rows):
    for row in decoded(rows):
        assert_kept(row)
    inside = conform(SCHEMA, np.array(rows))
    rules = Rules(COLUMNS, RULES)
    repaired = rules.repair(inside)
    np.testing.assert_array_equal(rules.repair(repaired), repaired)
    np.testing.assert_array_equal(conform(SCHEMA, repaired), repaired)
    np.testing.assert_array_equal(np.isnan(repaired), np.isnan(inside))


def test_an_unruled_schema_would_fail_that_test():
    row = dict.fromkeys(NAMES, 1.0) | {"start": 30.0, "middle": 20.0, "end": 10.0}
    with pytest.raises(AssertionError):
        assert_kept(decoded([list(row.values())], Schema(COLUMNS))[0])


def test_rows_that_keep_all_rules_are_left_alone_and_so_is_the_argument():
    row = {"start": 3, "middle": 5, "end": 5, "a": 1.2, "b": 0.3, "total": 1.5, "zip": 2, "state": 2, "coast": 1}
    given_ = np.array([list(row.values()), list((row | {"start": 9}).values())], np.float64)
    before = given_.copy()
    repaired = Rules(COLUMNS, RULES).repair(given_)
    np.testing.assert_array_equal(given_, before)
    np.testing.assert_array_equal(repaired[0], given_[0])
    assert repaired[1].tolist() != given_[1].tolist()


def test_a_rule_is_silent_where_one_of_its_columns_is_missing():
    row = {"start": 30, "middle": 20, "end": math.nan, "a": 1, "b": math.nan, "total": 5, "zip": 0, "state": math.nan}
    given_ = np.array([[*row.values(), 0]], np.float64)
    np.testing.assert_array_equal(Rules(COLUMNS, RULES).repair(given_), given_)


def test_no_rows():
    assert decoded([]) == []
    assert Rules(COLUMNS, RULES).repair(np.empty((0, len(NAMES)))).shape == (0, len(NAMES))


CHAIN = (
    Column("p", "integer", 0, 9),
    Column("q", "integer", 2, 9, multiple_of=3),
    Column("r", "number", 1, 7),
    Column("s", "integer", 0, 8, multiple_of=2),
)
SPANS = [range(10), (3, 6, 9), range(1, 8), range(0, 9, 2)]


def fewest_changes(row):
    """Try all rows in order; a change between whole numbers suffices, as all given cells are whole."""
    return min(
        sum(old != new for old, new in zip(row, tried, strict=True))
        for tried in itertools.product(*SPANS)
        if list(tried) == sorted(tried)
    )


def test_order_changes_as_few_cells_as_possible():
    rng = np.random.default_rng(0)
    rows = np.stack([rng.choice(np.array(span), 60) for span in SPANS], axis=1).astype(np.float64)
    repaired = Rules(CHAIN, [Ordered(("p", "q", "r", "s"))]).repair(rows)
    assert (np.diff(repaired, axis=1) >= 0).all()
    for row, after in zip(rows, repaired, strict=True):
        assert (row != after).sum() == fewest_changes(row)
        assert all(after[j] in SPANS[j] for j in range(4))


def test_of_two_in_the_wrong_order_the_second_moves_to_the_first():
    columns = (Column("a", "integer", 0, 9), Column("b", "integer", 0, 9))
    repaired = Rules(columns, [Ordered(("a", "b"))]).repair(np.array([[7.0, 2.0], [2.0, 7.0]]))
    assert repaired.tolist() == [[7, 7], [2, 7]]


def test_the_first_moves_where_the_second_cannot_follow():
    columns = (Column("a", "integer", 0, 9), Column("b", "integer", 0, 5))
    repaired = Rules(columns, [Ordered(("a", "b"))]).repair(np.array([[7.0, 2.0]]))
    assert repaired.tolist() == [[2, 2]]


def summed(columns, rows):
    names = [column.name for column in columns]
    return Rules(columns, [Sum(names[0], tuple(names[1:]))]).repair(np.array(rows, np.float64)).tolist()


def test_the_total_becomes_the_sum_and_parts_move_only_where_it_cannot():
    columns = (Column("t", "integer", 0, 10), Column("a", "integer", 0, 9), Column("b", "integer", 1, 9))
    assert summed(columns, [[0, 4, 5]]) == [[9, 4, 5]]
    assert summed(columns, [[0, 9, 4]]) == [[10, 6, 4]]
    assert summed(columns, [[3, 2, 9]]) == [[10, 2, 8]]
    columns = (Column("t", "integer", 12, 20), Column("a", "integer", 0, 9), Column("b", "integer", 1, 9))
    assert summed(columns, [[15, 0, 2]]) == [[12, 9, 3]]


def test_sums_on_a_decimal_grid_are_exact():
    columns = tuple(Column(name, "number", 0, 1000, multiple_of=0.01) for name in "tab")
    rows = summed(columns, [[0, 0.1, 0.2], [1, 999.99, 0.02]])
    assert rows[0] == [0.3, 0.1, 0.2]
    assert rows[1] == [1000.0, 999.98, 0.02]


@given(st.lists(st.tuples(st.floats(-1e12, 1e12), st.floats(0, 1e3), st.floats(-1e15, 1e15)), min_size=1, max_size=5))
@settings(deadline=None)
def test_continuous_sums_hold_to_rounding_and_stay_put(rows):
    columns = (Column("t", "number", -1e3, 1e4), Column("a", "number", 0, 1e3), Column("b", "number", -1e15, 1e15))
    inside = conform(Schema(columns), np.array(rows))
    rules = Rules(columns, [Sum("t", ("a", "b"))])
    repaired = rules.repair(inside)
    np.testing.assert_allclose(repaired[:, 0], repaired[:, 1] + repaired[:, 2], rtol=0, atol=1e-5)
    np.testing.assert_array_equal(rules.repair(repaired), repaired)
    np.testing.assert_array_equal(conform(Schema(columns), repaired), repaired)


def test_the_largest_whole_numbers_add_up():
    most = 2**53
    columns = (Column("t", "integer", -most, most), Column("a", "integer", 0, most), Column("b", "integer", 0, most))
    assert summed(columns, [[5, most, most], [5, most - 1, 1]]) == [[most, 0, most], [most, most - 1, 1]]


def test_a_column_may_determine_a_number_and_unlisted_values_say_nothing():
    columns = (Column("plan", "category", values=("s", "m", "l")), Column("price", "number", 0, 9, multiple_of=0.1))
    schema = Schema(columns, (Determined("price", "plan", (("s", 0.3), ("m", 2))),))
    assert decoded([[0, 5], [1, 5], [2, 5]], schema) == [
        {"plan": "s", "price": 0.3}, {"plan": "m", "price": 2.0}, {"plan": "l", "price": 5.0},
    ]  # fmt: skip


def test_a_schema_file_keeps_its_rules(tmp_path):
    path = tmp_path / "schema.json"
    SCHEMA.to_json(path)
    assert Schema.from_json(path) == SCHEMA
    assert json.loads(path.read_text("utf-8"))["rules"] == [
        {"determined": "coast", "by": "state", "map": {"A": True, "B": False}},
        {"ordered": ["start", "middle", "end"]},
        {"sum": "total", "of": ["a", "b"]},
        {"determined": "state", "by": "zip", "map": {"10": "A", "20": "B"}},
    ]
    assert "rules" not in Schema(COLUMNS).to_dict()
    assert Schema.from_dict(Schema(COLUMNS).to_dict() | {"rules": []}) == Schema(COLUMNS)


MAP = {"10": "A"}
ROUND = [{"determined": "state", "by": "zip", "map": MAP}, {"determined": "zip", "by": "state", "map": {"A": "10"}}]


@pytest.mark.parametrize(
    ("rules", "place", "said"),
    [
        ({}, "key 'rules'", "a list"),
        (["ordered"], "rules[0]", "expected one of"),
        ([{}], "rules[0]", "expected one of"),
        ([{"ordered": ["start", "end"], "sum": "total"}], "rules[0]", "expected one of"),
        ([{"ordered": ["start", "end"], "strict": True}], "rules[0], key 'strict'", "not a key"),
        ([{"sum": "total"}], "rules[0], key 'of'", "missing"),
        ([{"sum": 3, "of": ["a", "b"]}], "rules[0], key 'sum'", "name of a column"),
        ([{"sum": "total", "of": ["a"]}], "rules[0], key 'of'", "at least two"),
        ([{"ordered": "start"}], "rules[0], key 'ordered'", "at least two"),
        ([{"ordered": ["start", 1]}], "rules[0], key 'ordered'", "at least two"),
        ([{"ordered": ["start", "finish"]}], "rules[0]", "no column 'finish'"),
        ([{"ordered": ["start", "start"]}], "rules[0]", "each column once"),
        ([{"sum": "a", "of": ["a", "b"]}], "rules[0]", "each column once"),
        ([{"ordered": ["start", "note"]}], "rules[0]", "'note' of type 'id'"),
        ([{"ordered": ["start", "a"]}], "rules[0]", "dates only"),
        ([{"ordered": ["zip", "state"]}], "rules[0]", "numbers only"),
        ([{"sum": "total", "of": ["a", "start"]}], "rules[0]", "'start' of type 'date'"),
        ([{"sum": "whole", "of": ["a", "b"]}], "rules[0]", "multiples of one number"),
        ([{"sum": "far", "of": ["a", "b"]}], "rules[0]", "no sum of the parts"),
        ([{"ordered": ["far", "a"]}], "rules[0]", "no row can keep it"),
        ([{"determined": "state", "by": "zip", "map": {}}], "rules[0], key 'map'", "an object"),
        ([{"determined": "state", "by": "zip", "map": {"10": None}}], "rules[0], key 'map'", "None"),
        ([{"determined": "state", "by": "zip", "map": {"10": "C"}}], "rules[0]", "'C' is no value of column 'state'"),
        ([{"determined": "state", "by": "zip", "map": {"11": "A"}}], "rules[0]", "'11' is no value of column 'zip'"),
        ([{"determined": "state", "by": "a", "map": MAP}], "rules[0]", "category or boolean"),
        ([{"determined": "start", "by": "zip", "map": MAP}], "rules[0]", "found 'date'"),
        ([{"determined": "a", "by": "zip", "map": {"10": 0.25}}], "rules[0]", "0.25 is no value of column 'a'"),
        ([{"determined": "a", "by": "zip", "map": {"10": 4}}], "rules[0]", "4 is no value of column 'a'"),
        ([{"determined": "a", "by": "zip", "map": {"10": True}}], "rules[0]", "True is no value of column 'a'"),
        ([{"ordered": ["a", "b"]}, {"sum": "total", "of": ["a", "b"]}], "rules[1]", "set by rules[0] already"),
        (ROUND, "schema", "in a circle"),
    ],
)  # fmt: skip
def test_wrong_rules_are_refused_with_their_place(rules, place, said):
    columns = (*COLUMNS, Column("whole", "integer", 0, 9), Column("far", "number", 90, 99, multiple_of=0.1))
    with pytest.raises(SchemaError) as refused:
        Schema.from_dict(Schema(columns).to_dict() | {"rules": rules})
    assert place in str(refused.value)
    assert said in str(refused.value)


def test_a_value_of_the_map_twice_is_refused():
    with pytest.raises(SchemaError, match="listed twice"):
        Schema(COLUMNS, (Determined("state", "zip", (("10", "A"), ("10", "B"))),))


def test_the_example_of_the_documentation_is_a_schema():
    page = Path(__file__).parents[4] / "docs" / "rules.md"
    (example,) = re.findall(r"```json\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL)
    assert len(Schema.from_dict(json.loads(example)).rules) == 3
