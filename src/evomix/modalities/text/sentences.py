"""Texts cut into sentences, and sentences exchanged between texts."""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

_SENTENCE_END: Final = re.compile(r"""(?<=[.!?؟])(\s+)(?=["'(]?[A-Z0-9\u0590-\u06ff])|(?<=[。！？])(\s*)(?=\S)""")
_CLAUSE_END: Final = re.compile(
    r"(?<=[,;:،、，；])(\s+|(?<=[、，；]))(?=\S)|(\s+)(?=(?:and|but|so|because|while|although)\s)"
)


def sentences(text: str) -> list[str]:
    """Return the sentences of ``text``, at least one: cut after . ! ? before a capital letter or a digit.

    Scripts without capitals are cut before any letter, and after their own full stops.

    >>> sentences("One, e.g. this. Two? Three!")
    ['One, e.g. this.', 'Two?', 'Three!']
    """
    return split(text)[0]


def split(text: str, *, clauses: bool = False) -> tuple[list[str], list[str]]:
    """Return the sentences of ``text`` (or its clauses), and the white space that follows each but the last.

    >>> split("Good food, but slow.", clauses=True)
    (['Good food,', 'but slow.'], [' '])
    """
    stripped, start = text.strip(), 0
    parts: list[str] = []
    gaps: list[str] = []
    for end in (_CLAUSE_END if clauses else _SENTENCE_END).finditer(stripped):
        parts.append(stripped[start : end.start()])
        gaps.append(end.group())
        start = end.end()
    return [*parts, stripped[start:]], gaps


def exchange(mixed: Sequence[str], given: Sequence[str], share: float, rng: np.random.Generator) -> list[str]:
    """Return ``mixed`` with a share of its parts, at least one, exchanged for parts of ``given``, in their order."""
    made = list(mixed)
    exchanged = min(max(1, round(share * len(made))), len(given), len(made))
    places = np.sort(rng.permutation(len(made))[:exchanged])
    taken = np.sort(rng.permutation(len(given))[:exchanged])
    for place, source in zip(places, taken, strict=True):
        made[place] = given[source]
    return made
