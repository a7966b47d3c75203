"""How many fresh texts each class gets."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError


def checked_shares(shares: FloatArray | None, classes: int, public: Sequence[int] = ()) -> FloatArray:
    """Return shares of classes that sum to 1, float64 (classes,).

    Args:
        shares: what was asked for, or ``None`` for shares as among the public records, even without these.
        classes: how many there are.
        public: class positions of the public records.

    Raises:
        SpecError: no class, shares that are none, or a public record of an unknown class.
    """
    if classes < 1:
        raise SpecError("expected at least one class; found classes=0; for texts without labels give one empty word")
    if public and not 0 <= min(public) <= max(public) < classes:
        raise SpecError(f"expected public records of the classes 0..{classes - 1}; found one of another")
    if shares is None:
        weights: Any = np.bincount(public, minlength=classes) if public else np.ones(classes)
    else:
        weights = np.asarray(shares, np.float64)
        if weights.shape != (classes,) or not np.isfinite(weights).all() or weights.min() < 0 or not weights.sum() > 0:
            raise SpecError(f"expected {classes} shares of classes, at least 0 and not all 0; found shares={shares!r}")
    return np.asarray(weights / weights.sum(), np.float64)


def assign_classes(shares: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Return class positions in random order, int64 (size,): of each class its share of ``size``, up to one."""
    ends = np.cumsum(shares)
    at = (np.arange(size) + rng.random()) / max(size, 1) * ends[-1]
    drawn = np.minimum(np.searchsorted(ends, at, side="right"), np.flatnonzero(shares)[-1])
    return rng.permutation(drawn).astype(np.int64)
