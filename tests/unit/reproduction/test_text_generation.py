import math
import sys

import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.modalities.text.sentences import sentences
from evomix.reproduction.sentence_mixing import NEIGHBOURS, SentenceMixing
from evomix.reproduction.text_embedding import TextVectors, fit_embedder, load_embedder


def objects(texts):
    found = np.empty(len(texts), dtype=object)
    found[:] = texts
    return found


def on_a_line(texts):
    """Place a text at the number it ends with."""
    return np.array([[float(str(text).rstrip(".").rsplit(" ", 1)[-1])] for text in texts])


POOL = objects([f"Red {k}. Green {k}. Blue {k}. Grey {k}." for k in range(60)])


@pytest.fixture
def generator():
    return SentenceMixing(POOL, on_a_line)


def test_sentences():
    assert sentences("One, e.g. this. Two? (Three!) Four 3.5 mm") == ["One, e.g. this.", "Two?", "(Three!) Four 3.5 mm"]
    assert sentences("Two? Yes! 3 more.") == ["Two?", "Yes!", "3 more."]
    assert sentences("none") == ["none"]


def test_random_texts_are_of_the_pool_and_differ(generator):
    rng = np.random.default_rng(0)
    some = generator.random(20, rng)
    assert len(set(some)) == 20
    assert set(some) <= set(POOL)
    assert sorted(generator.random(1000, rng)) == sorted(POOL)


def test_at_scale_one_a_variation_is_a_near_text_of_the_pool_and_another(generator):
    rng = np.random.default_rng(0)
    parents = POOL[[0, 30]]
    seen = [set(), set()]
    for _ in range(400):
        for k, text in enumerate(generator.vary(parents, 1.0, rng)):
            seen[k].add(text)
    assert seen[0] == set(POOL[1 : NEIGHBOURS + 1])
    assert seen[1] == set(POOL[[*range(20, 30), *range(31, 41)]])


@pytest.mark.parametrize(("scale", "exchanged"), [(0.5, 2), (0.75, 3), (0.25, 1), (0.01, 1)])
def test_a_share_of_the_sentences_is_exchanged_with_one_near_text(generator, scale, exchanged):
    rng = np.random.default_rng(1)
    for text in generator.vary(POOL[[30] * 50], scale, rng):
        mixed, kept = sentences(text), sentences(POOL[30])
        assert len(mixed) == 4
        others = [one for one in mixed if one not in kept]
        assert len(others) == exchanged
        assert [one for k, one in enumerate(mixed) if one in kept] == [
            o for o, m in zip(kept, mixed, strict=True) if o == m
        ]
        sources = {one.rstrip(".").rsplit(" ", 1)[-1] for one in others}
        assert len(sources) == 1
        assert 20 <= int(sources.pop()) <= 40


def test_texts_of_one_sentence_are_exchanged_whole():
    pool = objects([f"Red {k}." for k in range(10)])
    made = SentenceMixing(pool, on_a_line).vary(pool[:3], 0.1, np.random.default_rng(0))
    assert all(one in set(pool) and one != parent for one, parent in zip(made, pool, strict=False))


def test_the_default_embedder_has_unit_vectors_that_depend_on_their_text_alone(texts):
    public = texts.texts[:60].tolist()
    embed = fit_embedder(public, dimension=16)
    some = texts.texts[60:90].tolist()
    together, alone = embed(some), np.concatenate([embed([text]) for text in some])
    assert together.shape == (30, 17)
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0)
    assert np.allclose(together, alone, atol=1e-12)
    strange = embed(["wordsthatnobodyknows", ""])
    assert np.linalg.norm(strange, axis=1).tolist() == [1.0, 1.0]
    assert np.abs(together @ strange.T).max() == 0.0  # at a right angle to all, so in the middle of none
    same = np.abs(embed(["Alpha1 alpha2 common3."]) - embed(["alpha2 common3, alpha1 nobodyknows"]))
    assert same.max() < 1e-12


def test_near_texts_share_their_topic(texts):
    vectors = fit_embedder(texts.texts.tolist())(texts.texts.tolist())
    products = vectors @ vectors.T
    np.fill_diagonal(products, -1.0)
    assert (texts.topics[products.argmax(axis=1)] == texts.topics).mean() > 0.9


def test_vectors_are_made_once_a_text():
    asked = []

    def embed(some):
        asked.extend(some)
        return on_a_line(some)

    vectors = TextVectors(embed, ["a 1", "b 2"])
    assert vectors(objects(["b 2", "c 3", "a 1", "c 3"])).ravel().tolist() == [2.0, 3.0, 1.0, 3.0]
    assert vectors(objects(["d 4", "c 3"])).ravel().tolist() == [4.0, 3.0]
    assert asked == ["a 1", "b 2", "c 3", "d 4"]
    assert vectors(objects(["c 3", "a 1"])).ravel().tolist() == [3.0, 1.0]
    vectors(objects(["d 4"]))
    assert asked == ["a 1", "b 2", "c 3", "d 4", "d 4"]  # what was not asked for last is forgotten


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "own_embedder.py").write_text(
        "import numpy as np\n"
        "def good(texts): return [[len(text), 1] for text in texts]\n"
        "def short(texts): return np.ones((2, 3))\n"
        "def flat(texts): return np.ones(len(texts))\n"
        "def empty(texts): return np.full((len(texts), 2), np.nan)\n"
        "NUMBER = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "own_embedder"
    sys.modules.pop("own_embedder", None)


def test_an_embedder_of_the_users_own(module):
    found = load_embedder(f"{module}:good")(["ab", "cde"])
    assert found.dtype == np.float64
    assert found.tolist() == [[2.0, 1.0], [3.0, 1.0]]


@pytest.mark.parametrize("name", ["nomodule:f", "{}:missing", "{}", ":good", "", "{}:NUMBER"])
def test_what_is_no_embedder_is_refused(module, name):
    name = name.format(module)
    with pytest.raises(SpecError, match="--embedder"):
        load_embedder(name)


@pytest.mark.parametrize("function", ["short", "flat", "empty"])
def test_vectors_that_are_none_are_refused(module, function):
    with pytest.raises(SpecError, match="finite vectors of shape"):
        load_embedder(f"{module}:{function}")(["a", "b"])


def test_distances_to_the_pool_decide(generator):
    assert math.isclose(float(on_a_line(["x 3."])[0, 0]), 3.0)
    far = generator.vary(objects(["Pink 1000."]), 1.0, np.random.default_rng(0))
    assert on_a_line(far)[0, 0] >= 40
