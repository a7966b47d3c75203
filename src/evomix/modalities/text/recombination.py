"""Texts without a model: sentences of public texts put together anew, and words of theirs filled into gaps.

A floor for what a language model adds: it knows no more than the public texts, and is fast.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from evomix.core.arguments import whole
from evomix.core.arrays import FloatArray, Population
from evomix.core.errors import SpecError
from evomix.modalities.text.class_shares import assign_classes, checked_shares
from evomix.modalities.text.ngrams import Ngrams, fill
from evomix.modalities.text.records import Record, population
from evomix.modalities.text.sentences import exchange, split
from evomix.modalities.text.words import cut

FRESH_SCALE: Final = 0.5
"""How far a fresh text goes from the public text that it begins with."""
RECOMBINED: Final = 0.5
"""Share of variations that exchange sentences or clauses; the others have words filled in."""
TRIES: Final = 4
"""How often a variation is drawn at most until it differs from its parent."""
MOST_COUNTED: Final = 20_000
"""Public texts of a class whose words are counted; more would fill the memory."""


class Recombination:
    """A :class:`~evomix.core.protocols.Generator` that needs no model. Post-processing; costs nothing.

    A variation exchanges sentences (clauses, where there is one sentence) for some of another public text of the
    class, or has a share of its words filled in anew from what public texts of the class have in such gaps. A class
    without public texts takes those of all.

    Args:
        public: object (m,), public records, m ≥ 1.
        classes: how many classes there are.
        shares: float64 (classes,), shares of classes among fresh texts; ``None`` for those of the public records.

    Raises:
        SpecError: no public text holds a word, shares that are none, a public record of an unknown class.
    """

    def __init__(self, public: Population, *, classes: int = 1, shares: FloatArray | None = None) -> None:
        held: list[Record] = [(position, text) for position, text in public if len(cut(text)) > 1]
        if not held:
            raise SpecError("expected public texts with words to recombine; found none; give some, or a language model")
        self._shares = checked_shares(shares, classes, [position for position, _ in held])
        everything = [text for _, text in held]
        by_class: list[list[str]] = [[] for _ in range(classes)]
        for position, text in held:
            by_class[position].append(text)
        together = _Pool(everything)
        self._pools = [_Pool(texts) if texts else together for texts in by_class]

    def random(self, size: int, rng: np.random.Generator) -> Population:
        """Return ``size`` records, each a public text of its class, far varied."""
        positions = assign_classes(self._shares, whole("size", size, least=0), rng).tolist()
        return self.vary(
            population((position, self._pools[position].draw(rng)) for position in positions), FRESH_SCALE, rng
        )

    def vary(self, parents: Population, scale: float, rng: np.random.Generator) -> Population:
        """Return one variation of each parent, of its class; differs from it where the public texts allow.

        Args:
            parents: object (n,), records.
            scale: in (0, 1], the share of sentences or words that change, at least one.
            rng: public randomness.

        Raises:
            SpecError: a scale outside (0, 1].
        """
        if not 0.0 < scale <= 1.0:
            raise SpecError(f"expected a scale in (0, 1], got scale={scale}")
        return population((position, self._pools[position].vary(text, scale, rng)) for position, text in parents)


class _Pool:
    """The public texts of a class."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._ngrams = Ngrams(texts[:: -(-len(texts) // MOST_COUNTED)])
        self._split = lru_cache(maxsize=MOST_COUNTED)(split)

    def draw(self, rng: np.random.Generator) -> str:
        return self._texts[int(rng.integers(len(self._texts)))]

    def vary(self, text: str, scale: float, rng: np.random.Generator) -> str:
        for _ in range(TRIES):
            made = self._recombined(text, scale, rng) if rng.random() < RECOMBINED else None
            if made is None:
                made = fill(text, scale, self._ngrams, rng)
            if made != text:
                return made
        return text

    def _recombined(self, text: str, scale: float, rng: np.random.Generator) -> str | None:
        """Return ``text`` with sentences of another one, or a clause of it; ``None`` where it does not come apart."""
        donor = self.draw(rng)
        parts, gaps = self._split(text)
        if len(parts) > 1:
            made = exchange(parts, self._split(donor)[0], scale, rng)
            return "".join(part + gap for part, gap in zip(made, [*gaps, ""], strict=True))
        clauses = [self._split(one, clauses=True)[0] for one in (text, donor)]
        if min(map(len, clauses)) < 2:
            return None
        kept = 1 if rng.random() < 0.5 else 0
        # The beginning of one and the end of the other, so that capitals and full stops stay in their places.
        begun, ended = clauses[1 - kept], clauses[kept]
        return " ".join([*begun[: _cut(begun, rng)], *ended[_cut(ended, rng) :]])


def _cut(clauses: Sequence[str], rng: np.random.Generator) -> int:
    return int(rng.integers(1, len(clauses)))
