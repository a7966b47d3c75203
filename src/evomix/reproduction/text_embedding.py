"""Texts as vectors: a local embedder fitted on public texts, or one of the user's own."""

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from evomix.core.arrays import FloatArray, Population
from evomix.core.errors import SpecError

Embedder = Callable[[list[str]], FloatArray]
"""From k texts to floats (k, dimension); the vector of a text depends on that text alone."""

DIMENSION: Final = 128
"""Of the default embedder, or as many as the pool's words allow."""
DEFAULT: Final = "TF-IDF and truncated SVD, fitted on the public pool"


def fit_embedder(public: Sequence[str], *, dimension: int = DIMENSION) -> Embedder:
    """Return an embedder: TF-IDF weights along their first singular directions, scaled to unit length.

    Words count that stand in two public texts or more and are no English stop words. A text without any has a last
    coordinate to itself, at a right angle to all others: in the middle of the sphere it would be the nearest to many.
    Source: latent semantic analysis (Deerwester et al. 1990).

    Args:
        public: texts of the pool; private ones never enter.
        dimension: most directions.
    """
    from sklearn.decomposition import TruncatedSVD  # noqa: PLC0415  (seconds to load; other figures need none)
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

    words = TfidfVectorizer(min_df=2, stop_words="english", sublinear_tf=True)
    counted = words.fit_transform(list(public))
    directions = TruncatedSVD(min(dimension, min(counted.shape) - 1), random_state=0).fit(counted)

    def embed(texts: list[str]) -> FloatArray:
        vectors = np.asarray(directions.transform(words.transform(texts)), dtype=np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        return np.column_stack([vectors / np.where(lengths > 0.0, lengths, 1.0)[:, None], lengths == 0.0])

    return embed


def load_embedder(name: str) -> Embedder:
    """Return the function MODULE:FUNCTION, which takes a list of texts and returns a float array, one row a text.

    Raises:
        SpecError: there is no such module or function.
    """
    module, _, function = name.partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise SpecError(
            f"expected --embedder MODULE:FUNCTION that Python can import, found --embedder={name!r}: {error}; "
            "set PYTHONPATH to the folder of the module"
        ) from None
    if not callable(found):
        raise SpecError(f"expected a function of a list of texts, found --embedder={name!r}, which cannot be called")

    def embed(texts: list[str]) -> FloatArray:
        vectors = np.asarray(found(texts), dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise SpecError(
                f"expected finite vectors of shape ({len(texts)}, k) from --embedder={name!r}, found "
                f"shape={vectors.shape}{'' if np.isfinite(vectors).all() else ' with values that are not finite'}"
            )
        return vectors

    return embed


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
