"""How long texts are, in words and in characters. Reads real texts: not private."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import wasserstein_distance

from evomix.core.arrays import FloatArray, IntArray
from evomix.evaluation.text.text_set import Beside
from evomix.evaluation.text.words import words

PERCENTILES: Final = (5, 25, 50, 75, 95)
_BINS: Final = 20
_TAIL: Final = 99.0
"""Percentile of the lengths of all sets where the last bin begins."""


@dataclass(frozen=True, slots=True)
class LengthsOf:
    """Lengths of one set.

    Attributes:
        mean: mean length.
        percentiles: those of :data:`PERCENTILES`.
        shares: share of the texts in each bin.
        distance: W1 to the lengths of the real texts, in words or characters; None for the real texts themselves.
    """

    mean: float
    percentiles: tuple[float, ...]
    shares: tuple[float, ...]
    distance: float | None


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths of all sets in one unit.

    Attributes:
        unit: "words" or "characters".
        edges: lower ends of the bins; the last bin has no upper end.
        sets: by name: real, synthetic, ceiling and, with public texts, floor.
    """

    unit: str
    edges: tuple[int, ...]
    sets: dict[str, LengthsOf]


def measure_lengths(beside: Beside) -> tuple[Lengths, ...]:
    """Return lengths in words and in characters."""
    texts = {"real": beside.real.texts} | {name: found.texts for name, found in beside.arms.items()}
    return (
        _lengths("words", {name: _counts([len(words(text)) for text in some]) for name, some in texts.items()}),
        _lengths("characters", {name: _counts([len(text) for text in some]) for name, some in texts.items()}),
    )


def _counts(lengths: Sequence[int]) -> IntArray:
    return np.asarray(lengths, np.int64)


def _lengths(unit: str, counts: Mapping[str, IntArray]) -> Lengths:
    edges = _edges(np.concatenate(list(counts.values())))
    real = counts["real"]
    sets = {
        name: LengthsOf(
            mean=float(found.mean()),
            percentiles=tuple(np.percentile(found, PERCENTILES).tolist()),
            shares=tuple(_shares(found, edges).tolist()),
            distance=None if name == "real" else float(wasserstein_distance(real, found)),
        )
        for name, found in counts.items()
    }
    return Lengths(unit, tuple(edges.tolist()), sets)


def _edges(together: IntArray) -> IntArray:
    """Return whole lower ends of at most 20 equal bins; the tail beyond the 99th percentile is one bin."""
    low, high = int(together.min()), int(np.percentile(together, _TAIL))
    step = max(1, -(-(high - low + 1) // (_BINS - 1)))
    return np.arange(low, max(high, low + step) + 1, step, dtype=np.int64)


def _shares(counts: IntArray, edges: IntArray) -> FloatArray:
    places = np.searchsorted(edges, counts, side="right") - 1
    return np.asarray(np.bincount(places, minlength=len(edges)) / len(counts), np.float64)
