import numpy as np
import pyarrow as pa
import pytest

from evomix.bench.catalog import entry
from evomix.bench.shared_encoder import NAME, SharedEncoder, encode, in_use
from evomix.bench.text_scores import TextScorer, measures_of
from evomix.bench.text_sets import read_text_tables
from evomix.core.errors import SpecError
from evomix.modalities.text.named_encoder import make_encoder


class Counting:
    """An encoder that remembers what it was asked."""

    name, local = "counting", True

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked += texts
        return np.array([[float(len(text)), 1.0] for text in texts], np.float32)


@pytest.fixture(scope="module")
def sentiment(data):
    tables = read_text_tables(entry("text-sentiment"), data)
    return tables, TextScorer(tables, SharedEncoder(make_encoder("tfidf", tables.public.column("text").to_pylist())))


def test_real_texts_score_above_wrong_labels_and_far_texts(sentiment):
    tables, scorer = sentiment
    real = scorer.score(tables.private, seed=0, points=True)
    assert list(real) == [one.name for one in measures_of("classification")]
    flipped = pa.table(
        {"text": tables.private["text"], "positive": [1 - one for one in tables.private["positive"].to_pylist()]}
    )
    wrong = scorer.score(flipped, seed=0, points=True)
    assert real["accuracy"] > 0.8
    assert wrong["accuracy"] == pytest.approx(1.0 - real["accuracy"], abs=0.05)
    assert wrong["wasserstein"] == real["wasserstein"]  # figures of points know no labels
    far = pa.table({"text": [f"nothing of that kind {k}" for k in range(40)], "positive": [k % 2 for k in range(40)]})
    away = scorer.score(far, seed=0, points=True)
    assert away["wasserstein"] > real["wasserstein"]
    assert away["recall"] < real["recall"]
    assert away["mauve"] < real["mauve"]


def test_figures_of_points_may_be_left_out(sentiment):
    tables, scorer = sentiment
    found = scorer.score(tables.private, seed=0, points=False)
    assert found["recall"] is None
    assert found["accuracy"] is not None


def test_a_class_that_no_test_text_has_is_always_wrong(sentiment):
    tables, scorer = sentiment
    other = pa.table({"text": tables.private["text"], "positive": [7] * tables.private.num_rows})
    assert scorer.score(other, seed=0, points=False)["accuracy"] == 0.0


def test_texts_without_any_label_have_no_score_of_models(sentiment):
    tables, scorer = sentiment
    bare = pa.table({"text": tables.private["text"], "positive": pa.nulls(tables.private.num_rows, pa.int8())})
    found = scorer.score(bare, seed=0, points=True)
    assert found["accuracy"] is None
    assert found["wasserstein"] is not None


def test_ratings_are_scored_by_regression(data):
    tables = read_text_tables(entry("text-instruments"), data)
    scorer = TextScorer(tables, SharedEncoder(make_encoder("tfidf", tables.public.column("text").to_pylist())))
    found = scorer.score(tables.private, seed=0, points=False)
    assert found["rmse"] > 0.0
    assert [one.better for one in measures_of("regression")][:2] == ["lower", "higher"]


def test_kept_texts_are_encoded_once_and_others_until_the_next_result():
    encoder = Counting()
    shared = SharedEncoder(encoder)
    shared.keep(["real", "public"])
    assert shared.vectors(["real", "new", "new"]).shape == (3, 2)
    shared.vectors(["new", "public"])
    assert encoder.asked == ["real", "public", "new"]
    shared.forget()
    shared.vectors(["new", "real"])
    assert encoder.asked == ["real", "public", "new", "new"]


def test_runs_ask_the_encoder_of_the_benchmark_that_is_going_on():
    with pytest.raises(SpecError, match="none is going on"):
        encode(["a"])
    with in_use(SharedEncoder(Counting())):
        assert encode(["ab"]).tolist() == [[2.0, 1.0]]
        assert make_encoder(NAME).encode(["ab"]).shape == (1, 3)
    with pytest.raises(SpecError, match="none is going on"):
        encode(["a"])


def test_an_encoder_that_sends_texts_away_is_refused():
    away = Counting()
    away.local = False
    with pytest.raises(SpecError, match="sends texts away"):
        SharedEncoder(away)
