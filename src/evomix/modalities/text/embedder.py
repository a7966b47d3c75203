"""Where a text record lies: its sentence vector, and far from every record of another class.

A sentence vector has length 1, so two are at most 2 apart. A class adds a coordinate of its own, 1.5 at its place: two
records of different classes are more than 2 apart, so a record votes within its class as long as that has a candidate.
One release over all candidates then serves all classes, and selections see them as clusters far apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import IntArray, Population
from evomix.modalities.text.language_model import SentenceEncoder
from evomix.modalities.text.records import classes as classes_of
from evomix.modalities.text.records import texts as texts_of
from evomix.neighbors.vectors import VectorIndex

CLASS_WEIGHT: Final = 1.5
"""2·1.5² = 4.5 > 4, the largest squared distance of two unit vectors."""


class TextEmbedder:
    """Places records of texts.

    Vectors of public records are kept, so that a text is encoded once; of private ones nothing is.

    Args:
        encoder: of sentences.
        classes: how many there are.
    """

    def __init__(self, encoder: SentenceEncoder, *, classes: int) -> None:
        self._encoder, self._classes = encoder, classes
        self._known: dict[str, NDArray[np.float32]] = {}

    @property
    def name(self) -> str:
        """The encoder's."""
        return self._encoder.name

    def place(self, texts: Sequence[str], classes: IntArray) -> NDArray[np.float32]:
        """Return points of records, float32 (n, k); each depends on its record alone, and nothing is kept."""
        return self._with_classes(self._encoder.encode(texts), classes)

    def index(self, candidates: Population) -> "TextIndex":
        """Prepare ``candidates`` (at least one) for exact search."""
        return TextIndex(self, VectorIndex(self.vectors(candidates)))

    def vectors(self, candidates: Population) -> NDArray[np.float32]:
        """Return public records as points, float32 (n, k)."""
        return self._with_classes(self.sentences(texts_of(candidates)), classes_of(candidates))

    def sentences(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return sentence vectors of public texts, float32 (n, k); each text is encoded once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= zip(new, self._encoder.encode(new), strict=True)
        known = [self._known[text] for text in texts] or [self._encoder.encode([""])[0]]
        return np.stack(known)[: len(texts)]

    def _with_classes(self, vectors: NDArray[np.float32], classes: IntArray) -> NDArray[np.float32]:
        if self._classes == 1:
            return vectors
        block = np.zeros((len(vectors), self._classes), np.float32)
        block[np.arange(len(vectors)), classes] = CLASS_WEIGHT
        return np.hstack([vectors, block])


@dataclass(frozen=True, slots=True)
class TextIndex:
    """Candidates ready for search by public records, or by points of private ones."""

    embedder: TextEmbedder
    kernel: VectorIndex

    def nearest(self, records: Population) -> IntArray:
        """Return for each record the position of its nearest candidate, ties to the lowest, int64 (n,)."""
        points = self.embedder.vectors(records) if records.dtype == object else records
        return self.kernel.nearest(points)[:, 0]
