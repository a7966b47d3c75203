import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evomix.core.errors import InputFileError, SpecError
from evomix.reproduction.texts import TAKEN, read_texts, split_texts


def write(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def test_columns_of_strings_are_joined_as_sentences_and_topics_ranked_by_size(tmp_path):
    many = [f"Body {k}." for k in range(30)]
    path = write(
        tmp_path / "x.parquet",
        title=["A headline", "Is it?", " ", *(f"T{k}" for k in range(27))],
        label=pa.array([7] * 10 + [3] * 20, pa.int8()),
        body=many,
        words=pa.array(range(30)),
    )
    found = read_texts(path)
    assert found.texts[:4].tolist() == ["A headline. Body 0.", "Is it? Body 1.", "Body 2.", "T0. Body 3."]
    assert found.names == ("3", "7")
    assert found.topics.tolist() == [1] * 10 + [0] * 20
    assert found.source == "x.parquet"
    assert len(found.sha256) == 64


def test_a_text_that_occurs_twice_is_kept_once_with_its_first_topic(tmp_path):
    words = [f"w{k}" for k in range(22)]
    path = write(tmp_path / "x.parquet", text=[*words, "w0", None], topic=["a"] * 11 + ["b"] * 11 + ["b", "a"])
    found = read_texts(path)
    assert found.texts.tolist() == words
    assert np.bincount(found.topics).tolist() == [11, 11]


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"text": ["x"] * 30}, "topic, condition, category or label"),
        ({"topic": ["a"] * 30}, "columns of text"),
        ({"topic": ["a"] * 30, "text": [f"w{k}" for k in range(30)]}, "2 topics or more"),
        ({"topic": ["a"] * 25 + ["b"] * 5, "text": [f"w{k}" for k in range(30)]}, "10 distinct texts or more"),
        ({"topic": pa.array([], pa.string()), "text": pa.array([], pa.string())}, "2 topics or more"),
    ],
)
def test_tables_that_will_not_do(tmp_path, columns, why):
    with pytest.raises(InputFileError, match=why):
        read_texts(write(tmp_path / "x.parquet", **columns))


def test_a_shifted_split_halves_topics_and_has_an_even_pool(texts):
    split = split_texts(texts, shifted=True, ratio=37, seed=1)
    topic = dict(zip(texts.texts, texts.topics, strict=True))
    real = np.bincount([topic[text] for text in [*split.private, *split.held_out]])
    largest = TAKEN * 110
    assert real.tolist() == [int(largest), int(largest / 2), int(largest / 4)]
    pool = np.bincount([topic[text] for text in split.public])
    assert pool.tolist() == [110 - int(largest)] * 3
    assert split.topics.tolist() == [topic[text] for text in split.private]
    assert split.size == real.sum() // 38
    assert len(split.private) >= 37 * split.size
    everyone = [*split.private, *split.held_out, *split.public]
    assert len(set(everyone)) == len(everyone)


def test_an_even_split_has_the_same_sizes_and_the_mixture_of_the_file(texts):
    one, other = (split_texts(texts, shifted=shifted, ratio=10, seed=2) for shifted in (True, False))
    for part in ("private", "held_out", "public"):
        assert len(getattr(one, part)) == len(getattr(other, part))
    everyone = [*other.private, *other.held_out, *other.public]
    assert len(set(everyone)) == len(everyone)
    # 24 % of the file is of the smallest topic, and 14 % of a shifted private part: a hypergeometric count is far off.
    shares = [float((split.topics == 2).mean()) for split in (one, other)]
    assert shares[0] < 0.17
    assert shares[1] > 0.19


def test_splits_are_those_of_their_seed(texts):
    found = [split_texts(texts, shifted=True, ratio=10, seed=seed) for seed in (0, 0, 1)]
    assert found[0].private.tolist() == found[1].private.tolist()
    assert set(found[0].private) != set(found[2].private)


def test_too_few_texts_are_refused(texts):
    with pytest.raises(SpecError, match="ratio=60"):
        split_texts(texts, shifted=True, ratio=60, seed=0)
