import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evomix.reproduction.catalog import CATALOG


def test_the_list_names_every_figure(evomix):
    answer = evomix("reproduce", "list")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines()[1:]] == [one.name for one in CATALOG]
    assert "--data FILE" in answer.out


def test_the_list_as_json(evomix):
    figures = evomix("reproduce", "list", "--json").json["figures"]
    assert [one["name"] for one in figures] == [one.name for one in CATALOG]
    assert figures[0]["needs_data"] is True


@pytest.mark.parametrize("name", [one.name for one in CATALOG])
def test_every_figure_is_a_command_with_help(evomix, name):
    answer = evomix("reproduce", name, "--help")
    assert answer.code == 0
    assert "--quick" in answer.out


def test_a_figure_without_data(evomix, tmp_path):
    answer = evomix("reproduce", "pubmix-fig3", "--out", tmp_path)
    assert answer.code == 0
    assert "supported: " in answer.out
    assert "water-filling" in answer.out
    assert str(tmp_path / "pubmix-fig3.svg") in answer.out
    assert answer.err == ""
    assert json.loads((tmp_path / "pubmix-fig3.json").read_text())["private"] is False


def test_a_figure_as_json(evomix, tmp_path):
    found = evomix("reproduce", "pubmix-fig3", "--out", tmp_path, "--json").json
    assert len(found["files"]) == 3
    assert found["quick"] is False
    assert {claim["preliminary"] for claim in found["claims"]} == {False}
    assert {claim["supported"] for claim in found["claims"]} == {True, "not comparable"}


def test_a_figure_from_data_says_that_it_is_not_private(evomix, tmp_path):
    codes = {"RAC1P": 1, "SEX": 1, "COW": 1, "MAR": 1, "SCHL": 1, "DIS": 1, "ENG": 1}
    sizes = {"AA": 40, "BB": 30, "CC": 25, "DD": 20}
    states = [name for name, rows in sizes.items() for _ in range(rows)]
    columns = {name: [1 + k % 2 for k in range(len(states))] for name in codes}
    pq.write_table(pa.table({"state": states, **columns}), tmp_path / "states.parquet")
    answer = evomix("reproduce", "pubmix-fig1d", "--data", tmp_path / "states.parquet", "--quick", "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert "without a privacy guarantee" in answer.err
    assert "AA" in answer.out
    assert "supported (preliminary): " in answer.out or "not comparable (preliminary): " in answer.out
    assert ": supported: " not in answer.out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("pubmix-fig4",), "RAC1P"),
        (("pubmix-fig4", "--data", "nowhere.parquet"), "no such file"),
        (("pubmix-fig9",), "No such command"),
        (("pubmix-fig2", "--data", "x.parquet"), "reads no data"),
        (("pubmix-fig2", "--seeds", "two"), "whole number"),
    ],
)
def test_refusals_are_exit_code_2_and_write_nothing(evomix, tmp_path, monkeypatch, words, why):
    monkeypatch.chdir(tmp_path)
    answer = evomix("reproduce", *words)
    assert answer.code == 2
    assert why in answer.err
    assert answer.out == ""
    assert list(tmp_path.iterdir()) == []
