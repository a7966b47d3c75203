"""Exact nearest neighbours under the mixed-type distance of tables.

Every distance is computed, by one compiled loop. Measured on mixed columns against trees and against a matrix
product on one-hot columns (``benchmarks/neighbors.py``), this is the fastest of the exact ways: trees prune
next to nothing in that many dimensions, and one-hot columns multiply the work by the number of values.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import IntArray
from evomix.core.compiled import compiled
from evomix.core.errors import SpecError
from evomix.neighbors.blocks import for_each_block
from evomix.neighbors.copies import find_copies

NUMBER: Final = 0
"""Kind of a column whose values are compared by squared difference."""

CATEGORY: Final = 1
"""Kind of a column whose values are compared for equality."""

_TILE = 512
"""Candidates scanned at a time: the partial sums and a few columns fit the first-level cache."""

_BLOCK = 512
"""Queries in a unit of work: a tile loaded from memory serves all of them."""

_FARTHEST = 0x7FFFFFFF
"""Above the bits of any float32 distance."""


class TabularIndex:
    """Candidates of a table, prepared for exact search.

    The distance of a record x to a candidate y is ``Σ_j w_j·(x_j − y_j)²`` over numbers plus
    ``w_j·1[x_j ≠ y_j]`` over categories, evaluated in float32 and summed in column order. Each sum is a
    function of x, y and the weights alone: batches, threads and tiles do not enter it.

    Args:
        candidates: float32 (d, c), finite; d ≥ 1. Category codes below 2²⁴ are exact.
        kinds: uint8 (c,), ``NUMBER`` or ``CATEGORY``.
        weights: float32 (c,), finite, not negative.

    Raises:
        SpecError: shapes disagree, there is no candidate, or a value is outside the ranges above.
    """

    def __init__(
        self, candidates: NDArray[np.float32], *, kinds: NDArray[np.uint8], weights: NDArray[np.float32]
    ) -> None:
        _check(candidates, kinds, weights)
        self._kinds = np.ascontiguousarray(kinds, dtype=np.uint8)
        self._weights = np.ascontiguousarray(weights, dtype=np.float32)
        rows = np.asarray(candidates, dtype=np.float32)
        self._positions = find_copies(rows).first  # a later copy never wins a tie, so it need not be searched
        self._tiles = _tiled(rows[self._positions])

    def nearest(self, queries: NDArray[np.float32]) -> IntArray:
        """Return the position of each query's nearest candidate, int64 (n,); ties go to the lowest position.

        Total: a number that is not finite, or too large to square, makes all candidates equally far, never an
        error.

        Args:
            queries: float32 (n, c); n may be 0.

        Raises:
            SpecError: the number of columns differs from the candidates'.
        """
        columns = len(self._kinds)
        if queries.ndim != 2 or queries.shape[1] != columns:
            raise SpecError(
                f"expected queries of shape (n, {columns}), got shape={queries.shape}; "
                "embed queries and candidates alike"
            )
        rows = np.ascontiguousarray(queries, dtype=np.float32)
        slots = np.zeros(len(rows), dtype=np.int64)

        def search(part: slice) -> None:
            _scan(rows[part], self._tiles, self._kinds, self._weights, slots[part])

        for_each_block(search, rows=len(rows), block=_BLOCK)
        return self._positions[slots]


def _check(candidates: NDArray[np.float32], kinds: NDArray[np.uint8], weights: NDArray[np.float32]) -> None:
    if candidates.ndim != 2 or len(candidates) == 0:
        raise SpecError(f"expected candidates of shape (d, c) with d ≥ 1, got shape={candidates.shape}")
    columns = candidates.shape[1]
    if kinds.shape != (columns,) or weights.shape != (columns,):
        raise SpecError(
            f"expected one kind and one weight a column, got columns={columns}, kinds={kinds.shape}, "
            f"weights={weights.shape}"
        )
    if not np.isin(kinds, (NUMBER, CATEGORY)).all():
        raise SpecError(f"expected kinds of {NUMBER} (number) or {CATEGORY} (category), got {np.unique(kinds)}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise SpecError(f"expected finite weights that are not negative, got weights={weights}")
    if not np.isfinite(candidates).all():
        raise SpecError("expected finite candidates; encode missing values before building the index")


def _tiled(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``rows`` as (tiles, c, _TILE), each tile's columns contiguous.

    The last tile is filled with copies of the last row, which never win against it.
    """
    tiles = -(-len(rows) // _TILE)
    filled = rows[np.minimum(np.arange(tiles * _TILE), len(rows) - 1)]
    return np.ascontiguousarray(filled.reshape(tiles, _TILE, rows.shape[1]).transpose(0, 2, 1))


@compiled
def _distances(
    query: NDArray[np.float32],
    tile: NDArray[np.float32],
    kinds: NDArray[np.uint8],
    weights: NDArray[np.float32],
    sums: NDArray[np.float32],
) -> None:
    """Write the distances from ``query`` (c,) to the candidates of ``tile`` (c, width) into ``sums`` (width,)."""
    sums[:] = np.float32(0)
    for j in range(len(query)):
        x = query[j]
        weight = weights[j]
        if weight == 0:
            continue  # also keeps 0·∞ out of the sum
        column = tile[j]
        if kinds[j] == NUMBER:
            for i in range(len(sums)):
                gap = x - column[i]
                sums[i] += weight * (gap * gap)
        else:
            for i in range(len(sums)):
                sums[i] += weight if x != column[i] else np.float32(0)


@compiled
def _scan(
    queries: NDArray[np.float32],
    tiles: NDArray[np.float32],
    kinds: NDArray[np.uint8],
    weights: NDArray[np.float32],
    slots: NDArray[np.int64],
) -> None:
    """Write each query's first nearest slot into ``slots`` (n,), which starts as zeros."""
    count, _, width = tiles.shape
    sums = np.empty(width, np.float32)
    # Distances are not negative, so they order like their bits, and a minimum of whole numbers vectorises where
    # one of floats must watch for NaN. Only a query's own NaN can enter, and then in all sums alike.
    bits = sums.view(np.int32)
    least = np.full(len(queries), _FARTHEST, np.int32)
    for t in range(count):
        for q in range(len(queries)):
            _distances(queries[q], tiles[t], kinds, weights, sums)
            low = np.int32(_FARTHEST)
            for i in range(width):
                low = min(low, bits[i])
            if low < least[q]:
                least[q] = low
                i = 0
                while bits[i] != low:
                    i += 1
                slots[q] = t * width + i
