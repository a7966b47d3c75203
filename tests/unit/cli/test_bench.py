import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evomix.bench import table_contest
from evomix.bench.catalog import CATALOG
from evomix.bench.table_scores import table_measures


@pytest.fixture
def folder(tmp_path):
    """A folder of data with one small benchmark's file."""
    words = ("good", "poor")
    texts = [f"The {k % 7} rooms were {words[k % 2]}, and the {k} meals were {words[k % 2]} too." for k in range(180)]
    sources = [("yelp", "imdb", "amazon")[k // 60] for k in range(180)]
    table = pa.table({"text": texts, "source": sources, "positive": pa.array([k % 2 for k in range(180)], pa.int8())})
    pq.write_table(table, tmp_path / "uci_sentiment.parquet")
    return tmp_path


FAST = ("--generator", "recombine", "--embedder", "tfidf", "--rounds", "1", "--candidates", "30", "--rows", "20")


def test_the_list_names_every_benchmark_and_its_files(evomix):
    answer = evomix("bench", "list")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines()[1:]] == [one.name for one in CATALOG]
    assert "uci_sentiment.parquet" in answer.out
    found = evomix("bench", "list", "--json").json["benchmarks"]
    assert [one["files"] for one in found] == [list(one.files) for one in CATALOG]


def test_a_benchmark_runs_and_goes_on(evomix, folder, tmp_path):
    out = tmp_path / "new" / "out"
    command = ("bench", "run", "text-sentiment", "--data", folder, "--out", out, "--seeds", "1", *FAST)
    answer = evomix(*command, "--epsilon", "2", "--methods", "default,aug-pe")
    assert answer.code == 0, answer.err
    assert "without a privacy guarantee" in answer.err
    assert answer.out.splitlines()[0] == "ε = 2"
    assert "aug-pe" in answer.out
    assert str(out / "text-sentiment.md") in answer.out
    refused = evomix(*command, "--epsilon", "2", "--methods", "default,aug-pe")
    assert refused.code == 2
    assert "--resume" in refused.err
    again = evomix(*command, "--epsilon", "2, 4", "--methods", "default", "--resume", "--json")
    assert again.code == 0, again.err
    assert sorted(again.json["best"]) == ["2", "4"]
    assert {line["name"] for line in again.json["lines"] if line["epsilon"]} == {"default"}
    assert json.loads((out / "text-sentiment.json").read_text())["command"] == again.json["command"]


def test_what_is_missing_is_named(evomix, tmp_path):
    answer = evomix("bench", "run", "text-medical", "--data", tmp_path, "--out", tmp_path / "out", *FAST)
    assert answer.code == 2
    assert "not found in data=" in answer.err
    assert "medical_abstracts.parquet, pubmedqa_abstracts.parquet" in answer.err


def test_wrong_words_are_refused(evomix, folder, tmp_path):
    command = ("bench", "run", "text-sentiment", "--data", folder, "--out", tmp_path / "out")
    assert "found name='texts'" in evomix("bench", "run", "texts", "--data", folder).err
    assert "methods" in evomix(*command, "--methods", "best").err
    for epsilon in ("0", "1,,2", "one"):
        answer = evomix(*command, "--epsilon", epsilon)
        assert answer.code == 2
        assert "epsilon" in answer.err
    assert not (tmp_path / "out").exists()


@pytest.fixture
def scored(monkeypatch):
    """Score at no cost: models have tests of their own."""

    class Quick:
        def __init__(self, _parts):
            pass

        def score(self, table, *, seed):
            return {one.name: table.num_rows / 100.0 + seed for one in table_measures("classification")}

    monkeypatch.setattr(table_contest, "TableScorer", Quick)


def test_a_benchmark_of_tables_runs_by_either_name(evomix, tmp_path, scored):
    for command in ("run", "table"):
        out = tmp_path / command
        words = ("--methods", "jam", "--epsilon", "1", "--seeds", "1", "--rows", "20", "--delta", "1e-5")
        answer = evomix("bench", command, "xor", "--out", out, *words, "--time-limit", "60")
        assert answer.code == 0, answer.err
        assert "needs public records" in answer.out
        content = json.loads((out / "xor.json").read_text())
        assert content["facts"]["δ"] == "1e-05"
        assert content["command"].endswith("--delta 1e-05 --time-limit 60")
        assert [line["name"] for line in content["lines"]][:2] == ["jam", "real_all"]


def test_options_of_another_kind_are_refused(evomix, folder, tmp_path):
    texts = ("bench", "run", "text-sentiment", "--data", folder, "--out", tmp_path / "out")
    for words in (("--delta", "1e-5"), ("--time-limit", "9")):
        answer = evomix(*texts, *words)
        assert answer.code == 2
        assert f"{words[0]} has no effect" in answer.err
    for words in (("--generator", "recombine"), ("--base-url", "http://x")):
        answer = evomix("bench", "run", "xor", *words)
        assert answer.code == 2
        assert f"{words[0]} has no effect" in answer.err
    assert "take evomix bench run" in evomix("bench", "table", "text-sms", "--data", folder).err
    assert "--data" in evomix("bench", "table", "adult").err
    assert evomix("bench", "table", "xor", "--time-limit", "0").code == 2
    assert not (tmp_path / "out").exists()
