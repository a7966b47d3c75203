import re

import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.modalities.text.ngrams import Ngrams, fill
from evomix.modalities.text.recombination import Recombination
from evomix.modalities.text.records import classes, population, texts
from evomix.modalities.text.sentences import exchange, sentences, split
from evomix.modalities.text.words import BLANK, blank, cut

GOOD = [
    "The red soup was good. We liked it.",
    "A blue soup is fine. They liked that, and so did I.",
    "The soup was fine.",
]
POOR = ["My new phone broke. It was bad.", "This old phone is bad, but cheap. It broke.", "Her phone was old."]
PUBLIC = population([*((0, text) for text in GOOD), *((1, text) for text in POOR)])


def words_of(some):
    return {word.casefold() for text in some for word in cut(text)[1::2]}


@pytest.fixture(scope="module")
def generator():
    return Recombination(PUBLIC, classes=2)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two? Three!\nFour", ["One.", "Two?", "Three!", "Four"]),
        ("", [""]),
        ("高い。安い！", ["高い。", "安い！"]),
        ("שלום. עולם", ["שלום.", "עולם"]),
        ("e.g. this 3.5 mm", ["e.g. this 3.5 mm"]),
    ],
)
def test_sentences(text, parts):
    assert sentences(text) == parts
    found, gaps = split(text)
    assert "".join(one + gap for one, gap in zip(found, [*gaps, ""], strict=True)) == text


def test_clauses():
    assert split("Good, but slow and dear", clauses=True)[0] == ["Good,", "but slow", "and dear"]


def test_exchange_takes_a_share_in_order():
    rng = np.random.default_rng(0)
    for share, changed in ((0.01, 1), (0.5, 2), (1.0, 4)):
        made = exchange(list("abcd"), list("wxyz"), share, rng)
        new = [one for one in made if one in "wxyz"]
        assert len(new) == changed
        assert new == sorted(new)
        assert all(one in "wxyz" or one == was for one, was in zip(made, "abcd", strict=True))
    assert len(set(exchange(["a"], list("wxyz"), 1.0, rng))) == 1


@pytest.mark.parametrize(
    "text", ["Good, don't!", "", "👩🏽‍🚀 flew 🏳️‍🌈", "שלום עולם 123", "東京タワー、とても", "हिन्दी में", "Z͑ͫ̓algo x"]
)
def test_words_and_what_is_between_make_the_text(text):
    assert "".join(cut(text)) == text
    assert all(re.search(r"\S", word) for word in cut(text)[1::2])


def test_combined_letters_are_one_word():
    assert cut("👩🏽‍🚀 हिन्दी café")[1::2] == ["👩🏽‍🚀", "हिन्दी", "café"]


def test_blanks_are_a_share_of_the_words():
    text = "one two three four five six seven eight, nine ten."
    for share, blanks in ((0.01, 1), (0.3, 3), (1.0, 10)):
        made = blank(text, share, np.random.default_rng(0))
        assert made.count(BLANK) == blanks
        assert len(cut(made.replace(BLANK, "x"))) == len(cut(text))
    assert blank("...", 0.5, np.random.default_rng(0)) == "..."


def test_gaps_take_what_public_texts_have_there():
    ngrams = Ngrams(["a red fox ran"] * 3 + ["a red dog ran", "the blue fox sat", "The blue cow. The old cow."])
    drawn = [ngrams.word("red", "ran", at) for at in np.linspace(0, 0.999, 200)]
    assert set(drawn) == {"fox", "dog"}
    assert drawn.count("fox") > 2 * drawn.count("dog")
    assert {ngrams.word("blue", "zebra", at) for at in (0.0, 0.3, 0.6, 0.9)} <= {"fox", "cow"}
    assert ngrams.word("zebra", "zebra", 0.5) in words_of(["a red fox dog ran the blue sat cow old"])
    assert Ngrams([]).word("a", "b", 0.5) == ""


def test_filling_keeps_what_is_around_the_words():
    rng = np.random.default_rng(0)
    for text in GOOD:
        for share, most in ((0.01, 1), (1.0, 99)):
            made = fill(text, share, Ngrams(GOOD), rng)
            assert cut(made)[::2] == cut(text)[::2]
            assert sum(a != b for a, b in zip(cut(made), cut(text), strict=True)) <= most
            assert made[0].isupper()


def test_variations_are_of_public_words_of_the_class_and_differ(generator):
    parents = population([(k % 2, (GOOD, POOR)[k % 2][k % 3]) for k in range(300)])
    for scale in (0.1, 1.0):
        made = generator.vary(parents, scale, np.random.default_rng(0))
        assert classes(made).tolist() == classes(parents).tolist()
        for position, pool in enumerate((GOOD, POOR)):
            assert words_of(text for k, text in made if k == position) <= words_of(pool)
        assert np.mean([a != b for a, b in zip(texts(made), texts(parents), strict=True)]) > 0.8


def test_the_scale_says_how_many_words_change(generator):
    parents = population([(0, "The soup was fine the soup was good the red soup was good.")] * 300)

    def changed(scale):
        made = texts(generator.vary(parents, scale, np.random.default_rng(0)))
        return np.mean([np.mean([a != b for a, b in zip(cut(x), cut(parents[0][1]), strict=False)]) for x in made])

    assert changed(0.05) < 0.5 * changed(0.9)


def test_fresh_texts_have_the_shares_of_the_classes():
    generator = Recombination(PUBLIC, classes=3, shares=np.array([0.5, 0.0, 0.5]))
    made = generator.random(101, np.random.default_rng(0))
    assert np.bincount(classes(made), minlength=3).tolist() in ([50, 0, 51], [51, 0, 50])
    third = [text for position, text in made if position == 2]  # has no public texts, so takes those of all
    assert words_of(third) & words_of(GOOD)
    assert words_of(third) & words_of(POOR)


def test_equal_generators_make_equal_texts(generator):
    def run(one):
        rng = np.random.default_rng(7)
        fresh = one.random(50, rng)
        return [*fresh, *one.vary(fresh, 0.4, rng)]

    assert run(generator) == run(Recombination(PUBLIC, classes=2))


def test_nothing_and_odd_texts(generator):
    rng = np.random.default_rng(0)
    assert len(generator.random(0, rng)) == len(generator.vary(PUBLIC[:0], 0.5, rng)) == 0
    odd = population([(0, ""), (1, "..."), (0, "👩🏽‍🚀"), (1, "unknownword")])
    made = generator.vary(odd, 1.0, rng)
    assert classes(made).tolist() == [0, 1, 0, 1]
    assert all(isinstance(text, str) for text in texts(made))
    assert texts(made)[:2] == ["", "..."]


@pytest.mark.parametrize("scale", [0.0, 1.1, -1.0, float("nan")])
def test_scales_that_are_none(generator, scale):
    with pytest.raises(SpecError, match="scale="):
        generator.vary(PUBLIC, scale, np.random.default_rng(0))


def test_what_cannot_be_recombined_is_refused():
    for records in ([], [(0, ""), (0, "?!")]):
        with pytest.raises(SpecError, match="words to recombine"):
            Recombination(population(records))
    with pytest.raises(SpecError, match="of another"):
        Recombination(population([(1, "fine text")]))
    with pytest.raises(SpecError, match="shares="):
        Recombination(PUBLIC, classes=2, shares=np.array([1.0, -1.0]))
