import numpy as np
import pytest
from text_sets import reviews

from evomix.core.errors import SpecError
from evomix.evaluation.text.lengths import measure_lengths
from evomix.evaluation.text.text_set import TextSet, set_beside
from evomix.evaluation.text.vocabulary import measure_vocabulary
from evomix.evaluation.text.words import normalised, words


def plain(texts):
    return TextSet(list(texts), np.zeros((len(texts), 1)))


def beside(real, synthetic, public=None):
    return set_beside(
        plain(real), plain(synthetic), None if public is None else plain(public), rng=np.random.default_rng(0)
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Don't stop: it’s a well-known 3.5 mm plug!",
            ["don't", "stop", "it's", "a", "well-known", "3", "5", "mm", "plug"],
        ),
        ("Straße CAFÉ", ["strasse", "café"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("👍👍 __ --", []),
        ("", []),
    ],
)
def test_words(text, found):
    assert words(text) == found


def test_texts_without_words_keep_their_signs():
    assert normalised("👍  👍") == "👍 👍" != normalised("👎 👎")


def test_sets_are_of_one_size_and_real_texts_are_split_without_overlap():
    real = [f"real {k}" for k in range(30)]
    found = beside(real, [f"made {k}" for k in range(100)], [f"public {k}" for k in range(8)])
    assert [len(arm) for arm in found.arms.values()] == [15, 15, 8]
    assert sorted([*found.real.texts, *found.ceiling.texts]) == sorted(real)
    assert len(beside(real, ["made"]).ceiling) == 1
    assert beside(["one"], ["made"]) is None


def test_lengths_know_how_far_and_in_which_unit():
    real = ["one two three"] * 40
    found = {lengths.unit: lengths for lengths in measure_lengths(beside(real, ["one two three four five"] * 20))}
    assert found["words"].sets["synthetic"].distance == 2.0
    assert found["words"].sets["ceiling"].distance == 0.0
    assert found["characters"].sets["synthetic"].distance == len(" four five")
    assert "floor" not in found["words"].sets
    assert found["words"].sets["real"].distance is None


def test_the_histogram_holds_every_text_and_a_long_tail_is_one_bin():
    rng = np.random.default_rng(0)
    real = [" ".join(["word"] * k) for k in rng.integers(3, 60, 400)] + [" ".join(["word"] * 5_000)] * 2
    found = measure_lengths(beside(real, real[:150]))[0]
    assert len(found.edges) <= 20
    assert found.edges[0] == 3
    assert 50 < found.edges[-1] < 70
    for lengths in found.sets.values():
        assert sum(lengths.shares) == pytest.approx(1.0)
        assert len(lengths.shares) == len(found.edges)


def figures(real, synthetic, public=None):
    found = measure_vocabulary(beside(real, synthetic, public))
    return {figure.name: figure for figure in found.figures}


def test_vocabulary_is_covered_by_band():
    real = [f"common w{k} w{k + 1} w{k + 2}" for k in range(400)]
    found = figures(real, ["common nothing else here"] * 100)
    every, frequent = (
        found["share of the real vocabulary: all words"],
        found["share of the real vocabulary: 100 most frequent"],
    )
    assert frequent.synthetic == 0.01
    assert 0.0 < every.synthetic < every.ceiling
    assert found["share of the real vocabulary: rarer"].synthetic is None, "there are no such words"


def test_more_of_the_same_is_less_diverse_and_repeats_itself():
    real = reviews(200, 1).texts
    found = figures(real, [real[0]] * 100, reviews(100, 2).texts)
    ratio = found["different words among all words (type-token ratio)"]
    assert ratio.synthetic < 0.1 < ratio.ceiling
    assert found["texts that repeat another"].synthetic == 1.0
    assert found["texts that repeat another"].ceiling == 0.0
    assert found["texts that share 5 words in a row with another"].synthetic == 1.0
    assert ratio.floor == pytest.approx(ratio.ceiling, rel=0.1)


def test_diversity_does_not_depend_on_how_long_texts_are():
    """All sets are cut to one number of running words, or the set of longer texts would look poorer."""
    rng = np.random.default_rng(0)

    def texts(number, length):
        return [" ".join(f"w{k}" for k in rng.integers(0, 900, length)) for _ in range(number)]

    ratio = figures(texts(400, 20), texts(200, 4))["different words among all words (type-token ratio)"]
    assert ratio.synthetic == pytest.approx(ratio.ceiling, abs=0.03)


def test_texts_without_words_are_counted_all_the_same():
    found = figures(["👍"] * 10 + ["👎"] * 10, ["👍", "👎", "🎉"])
    assert found["different words among all words (type-token ratio)"].synthetic is None
    assert found["texts that repeat another"].synthetic == 0.0


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(SpecError, match="one finite vector for each of 2 texts"):
        TextSet(["a", "b"], np.zeros((1, 3)))
    with pytest.raises(SpecError, match="finite"):
        TextSet(["a"], np.full((1, 3), np.nan))
    with pytest.raises(SpecError, match="2 targets"):
        TextSet(["a", "b"], np.zeros((2, 3)), np.array(["x"], object))
