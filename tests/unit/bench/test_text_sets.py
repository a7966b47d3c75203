import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evomix.bench.catalog import CATALOG, entry
from evomix.bench.splitting import split_groups
from evomix.bench.text_sets import labels_of, read_text_tables
from evomix.core.errors import InputFileError, SpecError


def test_groups_stay_whole_and_every_row_is_in_one_part():
    groups = [k // 3 for k in range(300)]
    parts = split_groups(groups, (0.3, 0.05), seed=1)
    assert sorted(np.concatenate(parts).tolist()) == list(range(300))
    held = [{groups[row] for row in part.tolist()} for part in parts]
    assert not held[0] & held[1]
    assert not held[0] & held[2]
    assert not held[1] & held[2]
    assert [round(len(part) / 300, 2) for part in parts[:2]] == [0.3, 0.05]


def test_a_split_is_the_same_again_and_another_with_another_seed():
    first, again, other = (split_groups(range(50), (0.5,), seed=seed)[0].tolist() for seed in (0, 0, 1))
    assert first == again != other


def test_too_few_groups_cannot_be_split():
    with pytest.raises(SpecError, match="splits into 2 parts, found 1 different"):
        split_groups(["a", "a", "a"], (0.3,), seed=0)


@pytest.mark.parametrize("name", [one.name for one in CATALOG if one.kind == "text"])
def test_every_set_is_read_and_split(data, name):
    tables = read_text_tables(entry(name), data)
    private, test = (set(part.column("text").to_pylist()) for part in (tables.private, tables.test))
    assert private
    assert test
    assert not private & test
    columns = ["text", tables.target, *([] if tables.unit is None else [tables.unit])]
    assert tables.private.column_names == columns
    assert tables.public.column_names == ["text", tables.target]
    assert not any(column.null_count for part in (tables.private, tables.test, tables.public) for column in part)
    assert len(labels_of(tables.test, tables.target, tables.task)) == tables.test.num_rows


def test_nobody_is_on_two_sides(data):
    tables = read_text_tables(entry("text-instruments"), data)
    assert not set(tables.private.column("user").to_pylist()) & set(tables.test.column("user").to_pylist())


def test_labels_are_lent_by_the_shares_of_what_was_set_apart(data):
    tables = read_text_tables(entry("text-medical"), data)
    assert tables.private.num_rows + tables.test.num_rows < 300  # some are set apart
    assert set(tables.public.column("condition").to_pylist()) == {"neoplasms", "digestive", "nervous"}
    assert "lent one at random" in tables.notes[0]


def test_positive_snippets_are_lent_high_ratings(data):
    tables = read_text_tables(entry("text-instruments"), data)
    liked = np.asarray(pq.read_table(data / "rt_polarity.parquet").column("positive")) == 1
    ratings = np.asarray(tables.public.column("rating"))
    assert ratings[liked].min() >= 4
    assert ratings[~liked].max() <= 3


def test_a_missing_file_is_named(data, tmp_path):
    (tmp_path / "sms_spam.parquet").write_bytes((data / "sms_spam.parquet").read_bytes())
    with pytest.raises(SpecError, match=r"not found in data=.*: ag_news_7600\.parquet$"):
        read_text_tables(entry("text-sms"), tmp_path)


def test_a_missing_column_is_named(tmp_path):
    pq.write_table(pa.table({"text": ["a"], "positive": [1]}), tmp_path / "uci_sentiment.parquet")
    with pytest.raises(InputFileError, match="it lacks source"):
        read_text_tables(entry("text-sentiment"), tmp_path)


def test_an_unknown_benchmark_is_refused():
    with pytest.raises(SpecError, match="found name='tables'"):
        entry("tables")
