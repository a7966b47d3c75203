"""Texts as vectors without a model: TF-IDF along its first singular directions, fitted on public texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError

DIMENSION: Final = 128
"""Most directions by default."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TfidfEncoder:
    """TF-IDF weights along their first singular directions, scaled to unit length.

    Words count that stand in two public texts or more (in one, where there are no such words) and are no English stop
    words. A text without any has a last coordinate to itself, at a right angle to all others: in the middle of the
    sphere it would be the nearest to many. Make one with :meth:`fit`.
    Source: latent semantic analysis (Deerwester et al. 1990).
    """

    _words: Any
    _directions: Any

    @classmethod
    def fit(cls, public: Sequence[str], *, dimension: int = DIMENSION) -> "TfidfEncoder":
        """Return the encoder of a public corpus.

        Args:
            public: public texts; private ones never enter.
            dimension: most directions, at least 1.

        Raises:
            SpecError: the texts have fewer than two words between them that count.
        """
        from sklearn.decomposition import TruncatedSVD  # noqa: PLC0415  (seconds to load; most commands need none)
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

        texts = list(public)
        for least in (2, 1):
            words = TfidfVectorizer(min_df=least, stop_words="english", sublinear_tf=True)
            try:
                counted = words.fit_transform(texts)
            except ValueError:  # no word is left
                continue
            if min(counted.shape) > 1:
                directions = TruncatedSVD(min(dimension, min(counted.shape) - 1), random_state=0).fit(counted)
                return cls(words, directions)
        raise SpecError(
            f"expected public texts with some different words in them to learn TF-IDF from, found texts={len(texts)} "
            "with almost none that count; give more public texts, or use an encoder that is not learned from them"
        )

    @property
    def name(self) -> str:
        """What it is, and its size."""
        return f"tfidf-{self._directions.components_.shape[0]}"

    @property
    def local(self) -> bool:
        """Always: it is arithmetic in this process."""
        return True

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, float32 (n, directions + 1); each depends on its text alone."""
        return self.vectors(texts).astype(np.float32)

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        """Return the same in double precision."""
        width = self._directions.components_.shape[0]
        if not len(texts):
            return np.empty((0, width + 1))
        vectors = np.asarray(self._directions.transform(self._words.transform(list(texts))), dtype=np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        return np.column_stack([vectors / np.where(lengths > 0.0, lengths, 1.0)[:, None], lengths == 0.0])
