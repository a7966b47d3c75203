"""Words that fit into a gap, by how often public texts have them between the words around it."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final

import numpy as np

from evomix.modalities.text.words import cut

EDGE: Final = ""
"""What stands beside the first and the last word of a sentence."""
_ENDS: Final = frozenset(".!?؟。！？\n")

_SEEN: Final = 10.0
"""What a word seen in just this gap weighs more, for each time."""
_REMEMBERED: Final = 100_000

_Law = tuple[list[str], list[float]]
"""Words, and their cumulated weights."""


class Ngrams:
    """Counts of words, pairs and triples of words, from public texts; case makes no difference.

    Args:
        texts: public texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        singles: Counter[str] = Counter()
        forms: Counter[tuple[str, str]] = Counter()
        self._after: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._before: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._between: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for text in texts:
            parts = cut(text)
            keys = neighbours(parts)
            for k, word in enumerate(parts[1::2]):
                before, key, after = keys[k]
                singles[key] += 1
                forms[key, word] += 1 if before != EDGE else 0  # a first word's capital is the sentence's
                self._after[before][key] += 1
                self._before[after][key] += 1
                self._between[before, after][key] += 1
        self._forms: dict[str, str] = {}
        for (key, word), seen_inside in forms.most_common():
            self._forms.setdefault(key, word if seen_inside else word.lower())
        self._singles = _law(singles)
        self._law = lru_cache(maxsize=_REMEMBERED)(self._fitting)

    def word(self, before: str, after: str, at: float) -> str:
        """Return a word for the gap between two, in the form that is usual inside a sentence; empty without texts.

        Words seen in just this gap come first, then those seen after the one and before the other, then those seen
        beside one of them, then any. ``at`` in [0, 1) says which, by cumulated frequency.
        """
        words, weights = self._law(before, after)
        if not words:
            return ""
        return self._forms[words[min(bisect_right(weights, at * weights[-1]), len(words) - 1)]]

    def _fitting(self, before: str, after: str) -> _Law:
        # .get, as a look-up of a missing key would make these tables grow
        left, right = self._after.get(before, Counter()), self._before.get(after, Counter())
        seen = self._between.get((before, after), Counter())
        both = {word: float(left[word] * right[word]) for word in left.keys() & right.keys()}
        weights = {word: weight + _SEEN * seen[word] for word, weight in sorted(both.items())}
        return _law(weights or left or right) if weights or left or right else self._singles


def neighbours(parts: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return for each word of a text that was :func:`cut` the word before, itself and the one after, folded."""
    keys = [word.casefold() for word in parts[1::2]]
    found = []
    for k, key in enumerate(keys):
        before = EDGE if k == 0 or _ENDS & set(parts[2 * k]) else keys[k - 1]
        after = EDGE if k + 1 == len(keys) or _ENDS & set(parts[2 * k + 2]) else keys[k + 1]
        found.append((before, key, after))
    return found


def fill(text: str, share: float, ngrams: Ngrams, rng: np.random.Generator) -> str:
    """Return ``text`` with a share of its words, at least one, filled in anew, from left to right."""
    parts = cut(text)
    keys = neighbours(parts)
    count = min(max(1, round(share * len(keys))), len(keys))
    for k, at in zip(np.sort(rng.permutation(len(keys))[:count]).tolist(), rng.random(count).tolist(), strict=True):
        before, _, after = keys[k]
        before = parts[2 * k - 1].casefold() if before != EDGE else EDGE  # may have been filled in just now
        word = ngrams.word(before, after, at)
        first_of_all = before == EDGE and parts[2 * k + 1][:1].isupper()
        parts[2 * k + 1] = word[:1].upper() + word[1:] if first_of_all else word
    return "".join(parts)


def _law(weights: "Counter[str] | dict[str, float]") -> _Law:
    words = list(weights)
    return words, list(accumulate(map(float, weights.values())))
