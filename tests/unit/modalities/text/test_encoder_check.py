"""What cannot serve as an encoder is refused before it costs anything."""

import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.modalities.text.encoder_check import TRIED, check_encoder
from evomix.modalities.text.function_encoder import FunctionEncoder
from evomix.modalities.text.tfidf import TfidfEncoder


class Encoder:
    name, local = "own", True

    def __init__(self, function):
        self.encode = lambda texts: np.asarray(function(list(texts)), np.float32)


def unit(vectors):
    vectors = np.asarray(vectors, np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def good(texts):
    return unit([[1.0, len(text), text.count("a")] for text in texts])


class Moody:
    calls = 0

    def __call__(self, texts):
        self.calls += 1
        return unit([[1.0, self.calls] for _ in texts])


def test_a_good_encoder_passes():
    check_encoder(Encoder(good))
    check_encoder(TfidfEncoder.fit(["the bread was warm", "the people were kind", "warm bread, kind people"]))


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda texts: unit([[1.0, len(texts)] for _ in texts]), "depend on what else"),
        (lambda texts: unit(good(texts) - 0.01 * np.mean(good(texts), axis=0)), "depend on what else"),
        (Moody(), "depend on what else"),
        (lambda texts: 2.0 * good(texts), "length 1"),
        (lambda texts: np.full((len(texts), 2), np.nan), "finite"),
        (lambda texts: np.ones(len(texts)), "one vector a text"),
        (lambda _: unit(np.ones((3, 2))), "one vector a text"),
        (lambda texts: unit(np.ones((len(texts), len(texts) + 1))), "one vector a text"),
    ],
    ids=["count", "mean", "moody", "long", "nan", "flat", "three", "wide"],
)
def test_what_would_break_the_guarantee_or_the_run_is_refused(function, told):
    with pytest.raises(SpecError, match=told):
        check_encoder(Encoder(function))


def test_a_function_of_the_users_is_given_one_text_at_a_time():
    seen = []

    def mean_of_all(texts):
        seen.append(list(texts))
        return np.array([[float(sum(map(len, texts))) + 1.0, 1.0] for _ in texts])

    encoder = FunctionEncoder("own", mean_of_all)
    check_encoder(encoder)
    assert np.array_equal(encoder.encode(TRIED), np.concatenate([encoder.encode([text]) for text in TRIED]))
    assert all(len(texts) == 1 for texts in seen)


def test_what_a_function_makes_of_one_private_text_decides_nothing():
    def brittle(texts):
        if texts == ["secret"]:
            raise ValueError("cannot place 'secret'")
        return np.array([[np.nan if text == "odd" else 1.0] * (3 if text == "wide" else 2) for text in texts])

    placed = FunctionEncoder("own", brittle).encode(["fine", "secret", "odd", "wide"])
    assert placed.shape == (4, 3)
    assert placed[1:].tolist() == [[0.0, 0.0, 1.0]] * 3  # as a text without a direction


def test_a_function_that_says_so_is_given_many_texts_at_once():
    seen = []

    def place(texts):
        seen.append(len(texts))
        return np.array([[1.0, np.nan if text == "odd" else float(len(text))] for text in texts]).reshape(len(texts), 2)

    place.independent = True
    encoder = FunctionEncoder("own", place)
    check_encoder(encoder)
    seen.clear()
    plain = encoder.encode(["a", "bb", "ccc"])
    assert 3 in seen
    with_odd = encoder.encode(["a", "odd", "bb", "ccc"])  # one that fails is looked at by itself
    assert np.array_equal(with_odd[[0, 2, 3]], plain)
    assert with_odd[1].tolist() == [0.0, 0.0, 1.0]


def test_what_says_so_wrongly_is_found():
    def mean_of_all(texts):
        return np.array([[float(sum(map(len, texts))) + 1.0, 1.0] for _ in texts]).reshape(len(texts), 2)

    mean_of_all.independent = True
    with pytest.raises(SpecError, match="depend on what else"):
        check_encoder(FunctionEncoder("own", mean_of_all))
