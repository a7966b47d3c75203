"""Texts cut into words, and words taken out of them."""

import re
from typing import Final

import numpy as np

_UNSPACED: Final = r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_PUNCTUATION: Final = r"\s!-/:-@\[-^`{-~«»“”‘’„…。、，！？；：「」『』؟،؛–—·"
_LETTERS: Final = rf"(?:(?!{_UNSPACED})[^{_PUNCTUATION}])+"
_WORD: Final = re.compile(rf"({_UNSPACED}|{_LETTERS}(?:['’\-]{_LETTERS})*)")
BLANK: Final = "___"
"""What stands for a word to be filled in."""


def cut(text: str) -> list[str]:
    """Return what is between words and the words, in turn: words are at odd positions, and all joined is ``text``.

    >>> cut("Good food, slow!")
    ['', 'Good', ' ', 'food', ', ', 'slow', '!']
    """
    return _WORD.split(text)


def blank(text: str, share: float, rng: np.random.Generator) -> str:
    """Return ``text`` with a share of its words, drawn at random and at least one, as blanks.

    >>> blank("Good food", 1.0, np.random.default_rng(0))
    '___ ___'
    """
    parts = cut(text)
    words = len(parts) // 2
    for k in rng.permutation(words)[: max(1, round(share * words))]:
        parts[2 * k + 1] = BLANK
    return "".join(parts)
