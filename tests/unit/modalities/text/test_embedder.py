"""A record votes within its class; its place is its own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.modalities.text.embedder import TextEmbedder
from evomix.modalities.text.records import population


class Letters:
    """Counts of letters, to unit length: an encoder that is easy to follow."""

    name, local = "letters", True

    def __init__(self):
        self.seen = []

    def encode(self, texts):
        self.seen += texts
        counts = np.array([[1e-3, *(text.count(letter) for letter in "abcdef")] for text in texts], np.float64)
        counts = counts.reshape(len(texts), 7)
        return (counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-30)).astype(np.float32)


words = st.text("abcdef ", max_size=8)


@given(st.lists(st.tuples(st.integers(0, 2), words), min_size=3, max_size=12), words, st.integers(0, 2))
def test_a_record_votes_for_the_nearest_of_its_class(candidates, text, position):
    embedder, records = TextEmbedder(Letters(), classes=3), population(candidates)
    found = embedder.index(records).nearest(embedder.place([text], np.array([position])))[0]
    vectors, own = Letters().encode([c[1] for c in candidates]).astype(float), Letters().encode([text]).astype(float)
    gaps = ((vectors - own) ** 2).sum(axis=1)
    eligible = [k for k, (c, _) in enumerate(candidates) if c == position]
    if eligible:
        assert candidates[found][0] == position
        assert gaps[found] <= gaps[eligible].min() + 1e-6
    else:
        assert gaps[found] <= gaps.min() + 1e-6


def test_opposite_vectors_of_a_class_are_nearer_than_equal_ones_of_two():
    class Opposite(Letters):
        def encode(self, texts):
            return np.array([[1.0] if "+" in text else [-1.0] for text in texts], np.float32).reshape(len(texts), 1)

    embedder = TextEmbedder(Opposite(), classes=2)
    index = embedder.index(population([(0, "-"), (1, "+")]))
    assert index.nearest(population([(0, "+")])).tolist() == [0]


def test_without_classes_vectors_are_those_of_the_encoder():
    records = population([(0, "ab"), (0, "cc")])
    assert np.array_equal(TextEmbedder(Letters(), classes=1).vectors(records), Letters().encode(["ab", "cc"]))


def test_public_texts_are_encoded_once_and_private_ones_are_not_kept():
    encoder = Letters()
    embedder = TextEmbedder(encoder, classes=1)
    records = population([(0, "ab"), (0, "ab"), (0, "c")])
    for _ in range(3):
        embedder.vectors(records)
    assert encoder.seen == ["ab", "c"]
    embedder.place(["secret"], np.zeros(1, np.int64))
    assert "secret" not in str(vars(embedder))


def test_no_records_have_no_points():
    embedder = TextEmbedder(Letters(), classes=2)
    assert embedder.vectors(population([])).shape == (0, 9)
    index = embedder.index(population([(0, "a")]))
    assert index.nearest(population([])).shape == (0,)


@pytest.mark.parametrize("text", ["", " ", "🙂", "a" * 10_000])
def test_any_text_has_a_place(text):
    place = TextEmbedder(Letters(), classes=1).place([text], np.zeros(1, np.int64))
    assert np.isfinite(place).all()
