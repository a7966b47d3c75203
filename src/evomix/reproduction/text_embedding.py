"""Texts as vectors: a local embedder fitted on public texts, or one of the user's own."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, Population
from evomix.modalities.text.function_encoder import FunctionEncoder
from evomix.modalities.text.tfidf import DIMENSION, TfidfEncoder

Embedder = Callable[[list[str]], FloatArray]
"""From k texts to floats (k, dimension); the vector of a text depends on that text alone."""

DEFAULT: Final = "TF-IDF and truncated SVD, fitted on the public pool"


def fit_embedder(public: Sequence[str], *, dimension: int = DIMENSION) -> Embedder:
    """Return TF-IDF along its first singular directions, fitted on the texts of the pool; private ones never enter."""
    return TfidfEncoder.fit(public, dimension=dimension).vectors


def load_embedder(name: str) -> Embedder:
    """Return the function MODULE:FUNCTION, which takes a list of texts and returns a float array, one row a text.

    Raises:
        SpecError: there is no such module or function.
    """
    return FunctionEncoder.load(name).vectors


class TextVectors:
    """An embedder that remembers: the pool for good, and what it was last asked for.

    A round's parents are among the round before, so that only new texts are embedded and memory stays small.
    """

    def __init__(self, embed: Embedder, pool: Sequence[str]) -> None:
        self._embed = embed
        self._pool = dict(zip(pool, embed(list(pool)), strict=True))
        self._recent: dict[str, FloatArray] = {}

    def __call__(self, texts: Population) -> FloatArray:
        """Return the vectors of ``texts``, float64 (k, dimension), in their order."""
        new = [text for text in dict.fromkeys(texts) if text not in self._pool and text not in self._recent]
        made = dict(zip(new, self._embed(new), strict=True)) if new else {}
        known = {**self._recent, **made}
        self._recent = {text: known[text] for text in texts if text not in self._pool}
        return np.stack([self._pool[text] if text in self._pool else self._recent[text] for text in texts])
