"""One encoder for all runs of a benchmark, which encodes real and public texts once.

Runs name their encoder by words, and a run of its own would encode thousands of public texts again each time. They
are told ``evomix.bench.shared_encoder:encode``, which asks the encoder of the benchmark that is going on.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.errors import SpecError
from evomix.modalities.text.language_model import SentenceEncoder

NAME: Final = f"{__name__}:encode"
"""What a run calls it."""


class SharedEncoder:
    """Vectors by text, in memory alone: those of the benchmark's own texts stay, others until the next result.

    Each result so pays for the texts that it proposes, whatever was made before, and its times compare.

    Args:
        encoder: what makes the vectors; works in this process.

    Raises:
        SpecError: the encoder sends texts away.
    """

    def __init__(self, encoder: SentenceEncoder) -> None:
        if not encoder.local:
            raise SpecError(
                f"expected an encoder that works in this process, found embedder={encoder.name!r}, which sends texts "
                "away; take minilm, tfidf or a model folder"
            )
        self._encoder = encoder
        self._kept: dict[str, NDArray[np.float32]] = {}
        self._passing: dict[str, NDArray[np.float32]] = {}

    @property
    def name(self) -> str:
        """The encoder's."""
        return self._encoder.name

    def keep(self, texts: Iterable[str]) -> None:
        """Encode texts whose vectors stay."""
        self._encode(texts, self._kept)

    def forget(self) -> None:
        """Drop the vectors of all other texts."""
        self._passing.clear()

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, float32 (n, k), n ≥ 1."""
        self._encode((text for text in texts if text not in self._kept), self._passing)
        return np.stack([self._kept[text] if text in self._kept else self._passing[text] for text in texts])

    def _encode(self, texts: Iterable[str], into: dict[str, NDArray[np.float32]]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in into]
        if new:
            into.update(zip(new, self._encoder.encode(new), strict=True))


_in_use: list[SharedEncoder] = []


@contextmanager
def in_use(encoder: SharedEncoder) -> Iterator[None]:
    """Answer :func:`encode` with this encoder while the block runs."""
    _in_use.append(encoder)
    try:
        yield
    finally:
        _in_use.pop()


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of the benchmark that is going on, float32 (n, k).

    Raises:
        SpecError: none is.
    """
    if not _in_use:
        raise SpecError(f"embedder={NAME!r} is for runs of a benchmark; none is going on: take minilm or tfidf")
    return _in_use[-1].vectors(texts)


# What it asks places each text by itself: of one at a time, most of the encoder's blocks would be filling.
encode.independent = True  # type: ignore[attr-defined]
