"""Values too rare to tell from noise made one value, and drawn apart again in the end."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.bench.rivals.estimation import Measurement
from evomix.core.arrays import FloatArray, IntArray

RARE_STDDEVS: Final = 3.0
"""A value is rare where its noisy count is under so many standard deviations (McKenna et al. 2021, section 4.2)."""


@dataclass(frozen=True, slots=True, eq=False)
class Compression:
    """What each value becomes.

    Attributes:
        values: for each column the compressed value of every value, int64 (cells,); the rare ones share the last.
    """

    values: tuple[IntArray, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of compressed values of each column."""
        return tuple(int(column.max()) + 1 for column in self.values)

    def reduce(self, codes: IntArray) -> IntArray:
        """Return compressed rows, int64 (n, columns)."""
        return np.stack([column[codes[:, j]] for j, column in enumerate(self.values)], axis=1)

    def expand(self, codes: IntArray, rng: np.random.Generator) -> IntArray:
        """Return rows with a value for each compressed one, even among those that share it."""
        return np.stack([_draw(column, codes[:, j], rng) for j, column in enumerate(self.values)], axis=1)


def _draw(column: IntArray, few: IntArray, rng: np.random.Generator) -> IntArray:
    order = np.argsort(column, kind="stable")
    shared = np.bincount(column)
    first = np.cumsum(shared) - shared
    return np.asarray(order[first[few] + rng.integers(0, shared[few])], np.int64)


def compress(noisy: Sequence[FloatArray], stddev: float) -> tuple[Compression, list[Measurement]]:
    """Return the compression that noisy counts call for, and these as measurements of the compressed columns.

    The count of a value that ``k`` rare ones share has √k times the noise.

    Args:
        noisy: counts of each column, float64 (cells,).
        stddev: of their noise.
    """
    found, measured = [], []
    for j, counts in enumerate(noisy):
        rare = counts < RARE_STDDEVS * stddev
        kept = int((~rare).sum())
        values = np.where(rare, kept, np.cumsum(~rare) - 1).astype(np.int64)
        found.append(values)
        # Equal noise in each cell: the sum of k counts is divided by √k, and so is what it is compared with.
        measured.append(
            Measurement((j,), np.asarray(np.bincount(values, counts), np.float64), _weights(values, stddev))
        )
    return Compression(tuple(found)), measured


def _weights(values: IntArray, stddev: float) -> FloatArray:
    return np.asarray(1.0 / (stddev**2 * np.bincount(values)))
