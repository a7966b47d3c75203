"""Texts with their vectors and targets: what every measure of texts takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError

MOST_ROWS: Final = 50_000
"""Texts of each set that figures other than copies are taken over."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TextSet:
    """n texts.

    Attributes:
        texts: the n texts.
        vectors: floats (n, k), of one encoder for all sets that are compared.
        targets: what models predict: class names as an object array (n,) or float64 (n,); None and NaN are missing.
            None: the set has no targets.

    Raises:
        SpecError: the parts have different lengths, or vectors are not finite.
    """

    texts: Sequence[str]
    vectors: FloatArray
    targets: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.vectors) != len(self.texts) or not np.isfinite(self.vectors).all():
            raise SpecError(
                f"expected one finite vector for each of {len(self.texts)} texts, found shape={self.vectors.shape}"
            )
        if self.targets is not None and self.targets.shape != (len(self.texts),):
            raise SpecError(f"expected {len(self.texts)} targets, one a text, found shape={self.targets.shape}")

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.texts)

    def take(self, rows: IntArray) -> "TextSet":
        """Return the texts at ``rows``, in that order."""
        return TextSet(
            [self.texts[row] for row in rows.tolist()],
            self.vectors[rows],
            None if self.targets is None else self.targets[rows],
        )

    def draw(self, most: int, rng: np.random.Generator) -> "TextSet":
        """Return ``most`` texts at random without repeats, or all of them, in random order."""
        return self.take(rng.permutation(len(self))[:most])

    def with_targets(self) -> "TextSet":
        """Return the texts that have a target; none where the set has no targets."""
        if self.targets is None:
            return TextSet((), self.vectors[:0], np.empty(0, object))
        missing = (
            np.isnan(self.targets)
            if self.targets.dtype.kind == "f"
            else np.fromiter((target is None for target in self.targets), np.bool_, len(self))
        )
        return self.take(np.flatnonzero(~missing))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Beside:
    """Sets of one size, each to be compared with the same real texts.

    Most figures of texts grow or shrink with the number of texts, so only sets of one size can be compared.

    Attributes:
        real: texts to compare with.
        synthetic: the synthetic texts.
        ceiling: other real texts in their place.
        floor: public texts in their place; None without any. Fewer than the others where there are no more.
    """

    real: TextSet
    synthetic: TextSet
    ceiling: TextSet
    floor: TextSet | None

    @property
    def arms(self) -> dict[str, TextSet]:
        """The sets that are compared with the real texts, by name."""
        arms = {"synthetic": self.synthetic, "ceiling": self.ceiling}
        return arms if self.floor is None else arms | {"floor": self.floor}


def set_beside(
    real: TextSet, synthetic: TextSet, public: TextSet | None, *, rng: np.random.Generator, most: int = MOST_ROWS
) -> Beside | None:
    """Split the real texts, at most half for the ceiling, and draw all sets of one size; None of fewer than 2 texts."""
    if len(real) < 2 or not len(synthetic):
        return None
    shuffled = real.draw(2 * most, rng)
    size = min(len(synthetic), len(shuffled) // 2, most)
    return Beside(
        real=shuffled.take(np.arange(size, len(shuffled))),
        synthetic=synthetic.draw(size, rng),
        ceiling=shuffled.take(np.arange(size)),
        floor=public.draw(size, rng) if public is not None and len(public) else None,
    )
