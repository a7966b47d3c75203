"""Two-way marginals of all pairs of columns at once, in blocks of one column against all later ones."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evomix.core.arrays import FloatArray, IntArray

Pair: TypeAlias = tuple[int, int]
Shares: TypeAlias = NDArray[np.float32]
"""Parts of 1: of cells, of two-way marginals or of components."""


class PairCounts:
    """How many rows have each pair of cells.

    Args:
        codes: int64 (n, columns), two columns or more.
        sizes: number of cells of each column.
    """

    def __init__(self, codes: IntArray, sizes: Sequence[int]) -> None:
        self.rows = len(codes)
        self.offsets = np.concatenate([[0], np.cumsum(sizes)])
        places = (codes + self.offsets[:-1]).ravel()
        every = np.arange(0, places.size + 1, len(sizes))
        shape = (self.rows, int(self.offsets[-1]))
        known = sparse.csc_array(sparse.csr_array((np.ones(places.size, np.float32), places, every), shape=shape))
        self._blocks: list[Shares] = [
            (known[:, first:after].T @ known[:, after:]).toarray() for first, after in pairwise(self.offsets[:-1])
        ]

    def pair(self, pair: Pair) -> FloatArray:
        """Return the counts of two columns, the lower first, float64 (cells,), the second running fastest."""
        first, second = pair
        after = self.offsets[first + 1]
        block = self._blocks[first][:, self.offsets[second] - after : self.offsets[second + 1] - after]
        return block.astype(np.float64).ravel()

    def worst(self, shares: Shares) -> list[FloatArray]:
        """Return the largest error in any cell of each pair, in rows: of each column but the last, against later ones.

        Args:
            shares: float32 (components, all cells), a mixture of products with equal weights: the share of each cell
                in each component.
        """
        found = []
        scale = np.float32(self.rows / len(shares))
        for first, block in enumerate(self._blocks):
            after = self.offsets[first + 1]
            model = shares[:, self.offsets[first] : after].T @ shares[:, after:]
            columns = np.abs(block - scale * model).max(axis=0)
            found.append(np.maximum.reduceat(columns, self.offsets[first + 1 : -1] - after).astype(np.float64))
        return found
