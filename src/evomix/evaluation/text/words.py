"""Texts as words: one rule for every count of words."""

import re
import unicodedata
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")


def words(text: str) -> list[str]:
    """Return the words of a text in order: compatibility forms unified, case folded, punctuation left out.

    Scripts without spaces (Chinese, Japanese, Thai) give a word per run of letters, which is coarse: read figures of
    words with care there, and figures of characters instead.

    >>> words("Don't go -- the ﬁre’s HOT!")
    ["don't", 'go', 'the', "fire's", 'hot']
    """
    return [word.replace("’", "'") for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold())]


def normalised(text: str) -> str:
    """Return the words with one space between; texts equal in this differ in case, spaces and punctuation alone.

    A text without words, such as one of emoji, stands as it is but for its spaces.

    >>> normalised("Great,  phone!") == normalised("great phone")
    True
    """
    return " ".join(words(text)) or " ".join(text.split())
