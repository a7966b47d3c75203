"""An encoder of the user's own: a Python function from texts to vectors."""

import importlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError


@dataclass(frozen=True, slots=True)
class FunctionEncoder:
    """The function MODULE:FUNCTION, which takes a list of texts and returns a float array, one row a text.

    Whoever names a function vouches that it computes here and that a text's vector depends on that text alone. One that
    sends texts elsewhere says so with an attribute ``local = False``, and is then never given a private text. It is
    given one text at a time, unless it says with an attribute ``independent = True`` that no other text in a list can
    move a vector, bit by bit.

    Attributes:
        name: MODULE:FUNCTION.
    """

    name: str
    _function: Any

    @classmethod
    def load(cls, name: str) -> "FunctionEncoder":
        """Import the function.

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
            raise SpecError(
                f"expected a function of a list of texts, found --embedder={name!r}, which cannot be called"
            )
        return cls(name, found)

    @property
    def local(self) -> bool:
        """Whether the function says nothing else."""
        return bool(getattr(self._function, "local", True))

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        """Return what the function gives, float64 (n, k).

        A vector that is not finite, or has another length than that of an empty text, counts as one of zeros: what the
        function makes of one private text must not decide whether a run ends.

        Raises:
            SpecError: of an empty text it gives no vector.
        """
        width = self._called([""]).shape[1]
        if getattr(self._function, "independent", False):
            with suppress(SpecError):
                together = self._called(list(texts))
                if together.shape[1] == width:
                    return together
        vectors = np.zeros((len(texts), width))
        for place, text in enumerate(texts):
            with suppress(SpecError):
                vector = self._called([text])[0]
                vectors[place] = vector if len(vector) == width else 0.0
        return vectors

    def _called(self, texts: list[str]) -> FloatArray:
        """Return finite vectors, one for each text."""
        asked = "one text" if len(texts) == 1 else f"{len(texts)} texts"
        try:
            vectors = np.asarray(self._function(texts), dtype=np.float64)
        except Exception as error:  # noqa: BLE001  (whatever a foreign function brings up; it may quote a text)
            raise SpecError(
                f"expected vectors of shape ({len(texts)}, k) for {asked} from --embedder={self.name!r}; it failed "
                f"with {type(error).__name__}"
            ) from None
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise SpecError(
                f"expected finite vectors of shape ({len(texts)}, k) for {asked} from --embedder={self.name!r}, found "
                f"shape={vectors.shape}{'' if np.isfinite(vectors).all() else ' with values that are not finite'}"
            )
        return vectors

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors scaled to unit length, float32 (n, k + 1).

        The last coordinate is 1 for a vector of zeros and 0 for all others: a text without a direction is as far from
        every text that has one.

        Raises:
            SpecError: as for :meth:`vectors`.
        """
        vectors = self.vectors(texts)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        scaled = vectors / np.where(lengths > 0.0, lengths, 1.0)[:, None]
        return np.column_stack([scaled, lengths == 0.0]).astype(np.float32)
