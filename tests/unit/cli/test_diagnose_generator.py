import json
import math
import re
import sys
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest

from evomix.cli.diagnose_generator import _number
from evomix.formats.table import write_table

FEW = ("--points", 20, "--variations", 8, "--rounds", 4)
SCHEMA = {"columns": [{"name": "age", "type": "integer", "min": 0, "max": 89}]}


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    ages = rng.integers(0, 90, 300)
    write_table(pa.table({"age": ages, "job": rng.choice(["a", "b", "c"], 300).tolist()}), "one.csv")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    return tmp_path


def test_the_answer_is_figures_and_a_verdict(evomix, table):
    answer = evomix("diagnose", "generator", "one.csv", *FEW)
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert lines[0] == "public rows: 300, of which 20 held out as targets"
    assert re.match(r"coordinates of a record: \d+ ", lines[1])
    assert lines[2].split()[:3] == ["scale", "length", "λ"]
    assert [line.split()[0] for line in lines[3:7]] == ["1", "0.5", "0.25", "0.125"]
    assert any(line.startswith("first candidates ") for line in lines)
    assert any(line.startswith("random records ") and " × 0." in line for line in lines)
    assert lines[-1].startswith("it ")
    assert not (table / "ledger.sqlite").exists()


def test_json_is_one_object(evomix, table):
    found = evomix("diagnose", "generator", "one.csv", *FEW, "--json").json
    assert found["public_rows"] == [300]
    assert len(found["approaches"][0]["curve"]) == 5
    assert found["verdict"]


def test_a_schema_alone_is_answered_without_reachability(evomix, table):
    answer = evomix("diagnose", "generator", "--schema", "schema.json", *FEW)
    assert answer.code == 0, answer.err
    assert "public rows: none" in answer.out
    assert "ceiling" not in answer.out
    assert "evomix: warning: reachability needs at least 40 public rows" in answer.err


def test_refusals_have_exit_code_two(evomix, table):
    for words in ((), ("one.csv", "--points", 1), ("none.csv",), ("one.csv", "--variations", "many")):
        answer = evomix("diagnose", "generator", *words)
        assert (answer.code, answer.out) == (2, ""), words


def test_all_is_passed_on(evomix, monkeypatch):
    calls = {}

    def record(*given, **settings):
        calls["given"], calls["settings"] = given, settings
        raise KeyboardInterrupt

    stub = ModuleType("evomix.experiment.diagnosing_generator")
    stub.diagnose_generator = record
    monkeypatch.setitem(sys.modules, stub.__name__, stub)
    numbers = ("--points", 5, "--variations", 9, "--rounds", 3, "--seed", 0)
    evomix("diagnose", "generator", "a", "b", *numbers, "--public-encoding", "latin-1", "--unit", "who")
    ((tables,), settings) = calls["given"], calls["settings"]
    assert [str(table) for table in tables] == ["a", "b"]
    assert settings == {
        "points": 5,
        "variations": 9,
        "rounds": 3,
        "seed": 0,
        "public_encoding": "latin-1",
        "unit": "who",
    }


@pytest.mark.parametrize(
    ("value", "shown"),
    [(math.inf, "∞"), (math.nan, "–"), (123.4, "123"), (28.17, "28"), (0.1855, "0.19"), (0.0, "0"), (1.0, "1")],
)
def test_numbers_are_short_and_unknown_ones_are_signs(value, shown):
    assert _number(value) == shown
