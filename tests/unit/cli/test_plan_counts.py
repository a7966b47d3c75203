"""``evomix plan`` for tables that are counted: what is planned is what a run does."""

import json

import pytest

SCHEMA = {
    "columns": [
        {"name": "age", "type": "integer", "min": 18, "max": 90},
        {"name": "income", "type": "number", "min": 0, "max": 150_000, "missing": True},
        {"name": "region", "type": "category", "values": ["north", "south", "east"]},
        {"name": "person", "type": "id"},
        {"name": "smokes", "type": "boolean"},
    ]
}
BASIC = ("plan", "--n", "300", "--epsilon", "1")


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA))
    return path


@pytest.fixture
def private(tmp_path):
    path = tmp_path / "private.csv"
    rows = [f"{18 + i % 70},{100 * i},{('north', 'south', 'east')[i % 3]},{i},{i % 2 == 0}" for i in range(300)]
    path.write_text("\n".join(["age,income,region,person,smokes", *rows, ""]))
    return path


def test_a_schema_plans_counts_in_words(evomix, schema):
    answer = evomix(*BASIC, "--schema", schema, "--target", "smokes")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0].startswith("method: marginals, counts of column sets")
    assert "stages: 4, each one release of all its counts" in lines
    (first,) = (line for line in lines if line.startswith("stage 1: "))
    assert first.startswith("stage 1: each column (5 column sets), 10 % of the budget, σ = ")
    assert any(line.startswith("stage 2: each column and the target (3 column sets), 20 % of the ") for line in lines)
    once_more = "stage 3: the most telling column and the target (1 column set), 15 % of the "
    assert any(line.startswith(once_more) for line in lines)
    assert any(line.startswith("stage 4: two columns and the target (3 column sets), 55 % of the ") for line in lines)
    for word in ("rounds of votes", "candidates", "variations", "noise-free", "note: "):
        assert word not in answer.out


def test_the_plan_is_that_of_a_dry_run(evomix, schema, private):
    planned = evomix(*BASIC, "--schema", schema, "--target", "smokes", "--json").json
    rehearsed = evomix(
        "synth", private, "--schema", schema, "--epsilon", "1", "--target", "smokes", "--dry-run", "--json"
    )
    assert {name: rehearsed.json[name] for name in planned if name != "warnings"} == {
        name: value for name, value in planned.items() if name != "warnings"
    }
    assert planned["method"] == "marginals"
    assert "selection" not in rehearsed.json


def test_a_run_says_what_was_planned(evomix, schema, private, tmp_path):
    planned = evomix(*BASIC, "--schema", schema, "--target", "smokes")
    words = ("synth", private, "--schema", schema, "--epsilon", "1", "--target", "smokes", "--rows", "20")
    dry = evomix(*words, "--dry-run")
    assert [line for line in dry.out.splitlines() if line.startswith("stage")] == [
        line for line in planned.out.splitlines() if line.startswith("stage")
    ]
    assert dry.out.startswith("method: marginals, counts of column sets")
    assert "selection" not in dry.out
    done = evomix(*words, "--out", tmp_path / "s.csv")
    stages = [line for line in planned.out.splitlines() if line.startswith("stage ")]
    assert [line for line in done.out.splitlines() if line.startswith("stage ")] == stages
    assert "on a vote" not in done.out


@pytest.mark.parametrize(
    "given",
    [
        ("--method", "votes"),
        ("--rounds", "3"),
        ("--mechanism", "gaussian"),
        ("--candidates", "40"),
        ("--preset", "pe"),
    ],
)
def test_a_setting_of_votes_plans_votes(evomix, schema, given):
    answer = evomix(*BASIC, "--schema", schema, *given)
    assert answer.out.startswith("method: votes for candidates\n")
    assert "rounds of votes: " in answer.out
    assert "note: " not in answer.out


def test_defaults_that_are_named_and_public_rows_do_not_ask_for_votes(evomix, schema):
    for given in (("--mechanism", "auto"), ("--proximity", "auto"), ("--public",), ("--no-public",), ("--rows", "7")):
        assert evomix(*BASIC, "--schema", schema, *given).out.startswith("method: marginals"), given


def test_few_possible_records_are_voted_on_unless_counts_are_asked_for(evomix, tmp_path):
    path = tmp_path / "small.json"
    path.write_text(json.dumps({"columns": [{"name": "smokes", "type": "boolean"}]}))
    voted = evomix(*BASIC, "--schema", path)
    assert "candidates in a round: at most 2" in voted.out
    assert "rounds of votes: 1" in voted.out
    counted = evomix(*BASIC, "--schema", path, "--method", "marginals", "--target", "smokes")
    assert "stage 1: each column (1 column set), 100 % of the budget, σ = " in counted.out


def test_the_cells_of_a_large_table_with_a_large_budget_stay_few(evomix, schema):
    told = evomix("plan", "--n", "1000000000", "--epsilon", "100", "--schema", schema, "--json").json
    assert [one["candidates"] for one in told["per_round"]] == [100_000, 100_000]


def test_without_a_schema_votes_are_planned_and_that_is_said(evomix):
    out = evomix(*BASIC).out
    assert out.startswith("method: votes for candidates\n")
    assert out.endswith("note: tables are counted unless votes are asked for; --schema SCHEMA.json plans that\n")
    assert "note: " not in evomix(*BASIC, "--method", "votes").out


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (("--method", "marginals"), "give their schema (--schema)"),
        (("--method", "counts"), "method must be one of auto, marginals, votes; found method='counts'"),
        (("--target", "smokes"), "has no effect on a plan of votes"),
        (("--schema", "{schema}", "--target", "person"), "expected target to be one of 'age', 'income'"),
        (("--schema", "{schema}", "--method", "marginals", "--rounds", "3"), "rounds has no effect with method="),
        (("--schema", "{schema}", "--method", "marginals", "--plot", "x.svg"), "plot has no effect with method="),
        (("--schema", "{schema}", "--method", "votes", "--target", "smokes"), "has no effect on a plan of votes"),
        (("--schema", "none.json"), "none.json"),
    ],
)
def test_what_would_have_no_effect_is_refused(evomix, schema, given, why):
    answer = evomix(*BASIC, *(word.format(schema=schema) for word in given))
    assert (answer.code, answer.out) == (2, "")
    assert why in answer.err


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ([{"name": "review", "type": "text"}], "'review' of the schema is none of a table"),
        ([{"name": "person", "type": "id"}], "holds ids only"),
    ],
)
def test_a_schema_without_columns_to_count_is_refused(evomix, tmp_path, columns, why):
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"columns": columns}))
    answer = evomix(*BASIC, "--schema", path)
    assert answer.code == 2
    assert why in answer.err
