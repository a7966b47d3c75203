"""Finding identical candidates, so that each distinct one is searched once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import IntArray


@dataclass(frozen=True, slots=True)
class Copies:
    """Positions of identical rows, grouped; groups are in order of first appearance.

    Attributes:
        members: int64 (d,), positions, group after group, ascending within a group.
        starts: int64 (groups + 1,), group g is ``members[starts[g]:starts[g + 1]]``.
    """

    members: IntArray
    starts: IntArray

    @property
    def first(self) -> IntArray:
        """Position of each group's first row, int64 (groups,), ascending."""
        return self.members[self.starts[:-1]]


def find_copies(rows: NDArray[Any]) -> Copies:
    """Group identical rows of a finite float array (d, c); +0.0 and -0.0 count as one value."""
    count, columns = rows.shape
    if columns == 0:
        return Copies(np.arange(count), np.array([0, count]))
    plain = np.ascontiguousarray(rows + 0.0)  # turns -0.0 into +0.0, so that equal rows have equal bytes
    whole = plain.view(np.dtype((np.void, plain.itemsize * columns))).ravel()
    _, first, group = np.unique(whole, return_index=True, return_inverse=True)
    # np.unique numbers groups by their bytes; a group's first position is the key that follows appearance.
    key = first[group]
    members = np.argsort(key, kind="stable")
    starts = np.append(np.flatnonzero(np.diff(key[members], prepend=-1)), count)
    return Copies(members.astype(np.int64), starts.astype(np.int64))
