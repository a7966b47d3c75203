"""How long texts should be, in words: as public texts are, and as the parents are that survived."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError

_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of scripts that are written without spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese."""
_LETTERS_A_WORD: Final = 2
"""Such letters that make about one word."""
_SMOOTHING: Final = 0.15
"""Standard deviation of the logarithm of a drawn length around a public one."""
_STEP: Final = 0.5
"""Standard deviation of the logarithm of a variation's length around its parent's, at scale 1."""
_FARTHEST: Final = 3.0
"""The most a variation's length may differ from its parent's, as a factor."""
_MOST_PUBLIC: Final = 100_000
"""Public texts that are measured; more would tell no more."""


def count_words(text: str) -> int:
    """Return about how many words a text has; letters of scripts without spaces count as half a word.

    >>> count_words("Good food, slow service."), count_words("東京タワー")
    (4, 3)
    """
    unspaced = len(_UNSPACED.findall(text))
    spaced = len(_UNSPACED.sub(" ", text).split()) if unspaced else len(text.split())
    return spaced + -(-unspaced // _LETTERS_A_WORD)


@dataclass(frozen=True, slots=True)
class Lengths:
    """Target lengths of texts.

    Attributes:
        least, most: words; no fresh text is to be shorter or longer, 1 ≤ least ≤ most.
        seen: float64 (m,), lengths of public texts in words, or empty: then lengths are even on a logarithmic scale.
    """

    least: int
    most: int
    seen: FloatArray

    def draw(self, size: int, rng: np.random.Generator) -> IntArray:
        """Return lengths for ``size`` fresh texts in words, int64 (size,)."""
        if len(self.seen):
            logarithms = np.log(self.seen[rng.integers(len(self.seen), size=size)]) + rng.normal(0, _SMOOTHING, size)
        else:
            logarithms = rng.uniform(np.log(self.least), np.log(self.most), size)
        return np.asarray(np.clip(np.rint(np.exp(logarithms)), self.least, self.most), np.int64)

    def step(self, parents: IntArray, scale: float, rng: np.random.Generator) -> IntArray:
        """Return lengths for variations of texts of ``parents`` words, int64 as ``parents``.

        A length is its parent's times a lognormal step that shrinks with ``scale``, so lengths follow the survivors.
        None moves farther out of ``least..most`` than its parent is.
        """
        words = np.maximum(parents.astype(np.float64), 1.0)
        factors = np.exp(np.clip(rng.normal(0, _STEP * scale, len(words)), -np.log(_FARTHEST), np.log(_FARTHEST)))
        stepped = np.clip(words * factors, np.minimum(words, self.least), np.maximum(words, self.most))
        return np.asarray(np.maximum(np.rint(stepped), 1), np.int64)


def of_range(least: int, most: int) -> Lengths:
    """Return lengths between two numbers of words, for a domain without public texts.

    Raises:
        SpecError: the range is empty or begins below 1.
    """
    if not 1 <= least <= most:
        raise SpecError(f"expected a range of words with 1 ≤ least ≤ most, got least={least}, most={most}")
    return Lengths(least, most, np.empty(0))


def of_texts(public: Sequence[str]) -> Lengths:
    """Return lengths as public texts have them, empty texts excepted.

    Raises:
        SpecError: no public text holds a word.
    """
    step = -(-len(public) // _MOST_PUBLIC) or 1
    seen = np.array([words for text in public[::step] if (words := count_words(text))], np.float64)
    if not len(seen):
        raise SpecError("expected public texts with at least one word among them; found none; give a range of lengths")
    return Lengths(int(seen.min()), int(seen.max()), seen)
