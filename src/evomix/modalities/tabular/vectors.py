"""Records of a table as points: the Euclidean distance, squared, is the mixed-type distance of the votes.

A number with weight w takes one coordinate, √w times its value. A category takes a code, and the codes of two different
values lie √w apart: one coordinate of 0 or √w for two values, and for more of them one each, √(w/2) at the record's own
value. Only values that occur among the given records take room.

**Very many values.** A column takes at most ``width`` coordinates, 256 or as many as keep all columns within
:data:`MOST_COORDINATES`. One with more values gets random codes: ``width`` signs, times √(w/(2·width)). Equal values
stay at distance 0; for different ones the squared distance is w·(1 ± 1/√width) (mean ± standard deviation: the number
of signs that differ is binomial), so 6 % at 256. Selection alone reads these points, never the vote: an error costs
quality and no privacy. The signs come from a fixed seed, so the same records give the same points.

Public values; costs nothing.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import IntArray
from evomix.neighbors.tabular import NUMBER

MOST_VALUES: Final = 256
"""Most coordinates of one column."""
MOST_COORDINATES: Final = 12_000
"""Most coordinates of all columns, where each can have one: 20,000 records then take less than 1 GB."""
_SEED: Final = 20_260_101


def as_points(
    coordinates: NDArray[np.float32],
    *,
    kinds: NDArray[np.uint8],
    weights: NDArray[np.float32],
    most: int = MOST_COORDINATES,
) -> NDArray[np.float32]:
    """Return records as points, float32 (n, k), k ≥ 1.

    Args:
        coordinates: float32 (n, c), as :class:`~evomix.neighbors.tabular.TabularIndex` takes them.
        kinds: uint8 (c,), number or category.
        weights: float32 (c,), at least 0.
        most: coordinates that all columns together keep within, where each can have one.
    """
    numbers = np.flatnonzero(kinds == NUMBER)
    values = {int(column): np.unique(coordinates[:, column]) for column in np.flatnonzero(kinds != NUMBER)}
    width = _width([len(found) for found in values.values()], most - len(numbers))
    parts = [coordinates[:, numbers] * np.sqrt(weights[numbers])]
    for column, found in values.items():
        codes = np.sqrt(weights[column]) * _codes(len(found), width, column)
        parts.append(codes[np.searchsorted(found, coordinates[:, column])])
    points = np.hstack(parts, dtype=np.float32)
    return points if points.shape[1] else np.zeros((len(points), 1), np.float32)


def _width(counts: Sequence[int], room: int) -> int:
    """Return the most coordinates of a column such that all columns keep within ``room``, at least 1."""
    sizes: IntArray = np.asarray(counts, np.int64)
    low, high = 1, MOST_VALUES
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if int(np.minimum(sizes, middle).sum()) <= room else (low, middle - 1)
    return low


def _codes(count: int, width: int, column: int) -> NDArray[np.float32]:
    """Return a code for each of ``count`` values, float32 (count, ≤ width), 1 apart (random ones about)."""
    if count <= 2:
        return np.arange(count, dtype=np.float32)[:, None][:, : count - 1] if count else np.zeros((0, 0), np.float32)
    if count <= width:
        return np.eye(count, dtype=np.float32) * np.float32(np.sqrt(0.5))
    signs = np.random.default_rng([_SEED, column]).integers(0, 2, (count, width)) * 2 - 1
    return np.asarray(signs / np.sqrt(2.0 * width), np.float32)
