import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.modalities.text.lengths import Lengths, count_words, of_range, of_texts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("  \n ", 0),
        ("Good food.", 2),
        ("well-made, don't", 2),
        ("東京", 1),
        ("東京タワー", 3),
        ("新しい phone", 3),
    ],
)
def test_words_are_counted_in_any_script(text, words):
    assert count_words(text) == words


def test_lengths_follow_the_public_texts():
    lengths = of_texts(["one two three"] * 900 + ["word " * 40] * 100 + ["", " "])
    drawn = lengths.draw(20_000, np.random.default_rng(0))
    assert drawn.dtype == np.int64
    assert (drawn.min(), drawn.max()) == (3, 40)
    assert (drawn > 20).mean() == pytest.approx(0.1, abs=0.01)
    assert 3 < np.unique(drawn).size < 30  # smoothed, yet not spread over all between


def test_a_range_is_even_on_a_logarithmic_scale():
    drawn = of_range(4, 64).draw(20_000, np.random.default_rng(0))
    assert drawn.min() == 4
    assert drawn.max() == 64
    assert np.median(drawn) == pytest.approx(16, abs=1)


def test_steps_shrink_with_scale_and_keep_the_middle():
    lengths, parents = of_range(1, 1000), np.full(20_000, 100)
    for scale, spread in ((1.0, 0.5), (0.1, 0.05)):
        stepped = np.log(lengths.step(parents, scale, np.random.default_rng(0)) / 100)
        assert stepped.std() == pytest.approx(spread, rel=0.05)
        assert np.median(stepped) == pytest.approx(0, abs=0.02)
    assert lengths.step(parents, 1.0, np.random.default_rng(0)).max() <= 300


def test_steps_lead_no_farther_out_of_the_range():
    lengths = of_range(10, 20)
    for parent in (2, 10, 20, 50):
        stepped = lengths.step(np.full(2000, parent), 1.0, np.random.default_rng(1))
        assert stepped.min() >= min(parent, 10)
        assert stepped.max() <= max(parent, 20)
    assert lengths.step(np.array([0]), 1.0, np.random.default_rng(0))[0] >= 1


def test_nothing_to_draw():
    assert of_range(1, 5).draw(0, np.random.default_rng(0)).shape == (0,)
    assert Lengths(1, 2, np.empty(0)).step(np.empty(0, np.int64), 0.5, np.random.default_rng(0)).shape == (0,)


@pytest.mark.parametrize(("least", "most"), [(0, 5), (6, 5), (-1, -1)])
def test_ranges_that_are_none(least, most):
    with pytest.raises(SpecError, match="least="):
        of_range(least, most)


def test_public_texts_without_words():
    for public in ([], ["", " "]):
        with pytest.raises(SpecError, match="at least one word"):
            of_texts(public)
