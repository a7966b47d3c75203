"""Which records score, and which may vote: whole groups on one side each."""

from collections.abc import Hashable, Sequence

import numpy as np

from evomix.core.arrays import IntArray
from evomix.core.errors import SpecError


def split_groups(groups: Sequence[Hashable], shares: Sequence[float], *, seed: int) -> tuple[IntArray, ...]:
    """Return row positions of disjoint parts that hold about ``shares`` of the rows, and last those of the rest.

    Rows of a group, be it a person's or copies of a text, stay together, so that nobody is on two sides.

    Args:
        groups: the group of each row.
        shares: of the parts, each above 0, in sum below 1.
        seed: of the order of groups.

    Raises:
        SpecError: there are too few groups for every part to have one.
    """
    at: dict[Hashable, list[int]] = {}
    for row, group in enumerate(groups):
        at.setdefault(group, []).append(row)
    held = list(at.values())
    order = np.random.default_rng(seed).permutation(len(held))
    parts: list[list[int]] = [[] for _ in range(len(shares) + 1)]
    part = 0
    for place in order.tolist():
        while part < len(shares) and len(parts[part]) >= max(shares[part] * len(groups), 1.0):
            part += 1
        parts[part] += held[place]
    if not all(parts):
        raise SpecError(f"expected a table that splits into {len(parts)} parts, found {len(held)} different records")
    return tuple(np.sort(np.array(rows, np.int64)) for rows in parts)
