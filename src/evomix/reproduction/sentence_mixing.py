"""A generator of texts without a model: sentences exchanged with near texts of a public pool.

It stands in for a language model in simulations. Everything it makes consists of sentences of the pool.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, Population
from evomix.modalities.text.sentences import exchange, sentences
from evomix.neighbors.vectors import VectorIndex

NEIGHBOURS: Final = 20
"""Public texts near a parent with which it may exchange sentences."""


class SentenceMixing:
    """Makes texts of a public pool: a :class:`~evomix.core.protocols.Generator`.

    Args:
        pool: object (l,), distinct public texts, l ≥ 2.
        vectors: from texts to their vectors; decides what is near.
    """

    def __init__(self, pool: Population, vectors: Callable[[Population], FloatArray]) -> None:
        self._pool = pool
        self._vectors = vectors
        self._index = VectorIndex(vectors(pool))
        self._sentences = [sentences(text) for text in pool]
        self._others: dict[str, list[int]] = {}

    def random(self, size: int, rng: np.random.Generator) -> Population:
        """Return ``size`` texts of the pool, none twice; the whole pool where it is smaller."""
        return self._pool[rng.permutation(len(self._pool))[:size]]

    def vary(self, parents: Population, scale: float, rng: np.random.Generator) -> Population:
        """Return one variation of each parent, object (len(parents),).

        One of the :data:`NEIGHBOURS` pool texts nearest to the parent is drawn, the parent itself excepted. A share
        ``scale`` of the parent's sentences, at least one, is exchanged for sentences of that text; at scale 1 the
        variation is that text.
        """
        self._find_others(parents)
        varied = np.empty(len(parents), dtype=object)
        for k, parent in enumerate(parents):
            others = self._others[parent]
            varied[k] = self._mix(str(parent), others[int(rng.integers(len(others)))], scale, rng)
        return varied

    def _find_others(self, parents: Population) -> None:
        """Find the pool texts near each parent, and remember them: a round varies its parents many times."""
        if not all(parent in self._others for parent in parents):
            nearest = self._index.nearest(self._vectors(parents), min(NEIGHBOURS + 1, len(self._pool)))
            self._others = {
                parent: [int(j) for j in near if self._pool[j] != parent][:NEIGHBOURS]
                for parent, near in zip(parents, nearest, strict=True)
            }

    def _mix(self, parent: str, other: int, scale: float, rng: np.random.Generator) -> str:
        if scale >= 1.0:
            return str(self._pool[other])
        return " ".join(exchange(sentences(parent), self._sentences[other], scale, rng))
