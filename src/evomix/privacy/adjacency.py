"""Which two inputs count as neighbours, and how far one private unit moves a vote vector.

A vote vector is a non-negative vector over the candidates; every private unit contributes a non-negative part
of total mass exactly one (a single vote, soft votes, k nearest candidates, or one user's rows averaged).

* ``replace-one``: one unit is exchanged for another, the number of units is public. The difference of two
  such parts ``w - w'`` has L1 norm at most 2 and, because both parts are non-negative with sum one,
  ``|w - w'|² = |w|² + |w'|² - 2 w·w' <= 2``.
* ``add-remove``: one unit is there or not. The difference is one part: L1 norm 1, L2 norm at most 1.

Both are attained by units with a single vote. The proof pages of the mechanisms build on these two numbers.
"""

import math
from typing import Literal, get_args

from evomix.core.errors import UnsupportedAdjacency

Adjacency = Literal["replace-one", "add-remove"]
"""The neighbour relation that a guarantee speaks of."""

LATTICE = 2**20
"""Micro-votes in the mass of one private unit: votes and noise are integers of this fineness."""

ADJACENCIES: tuple[Adjacency, ...] = get_args(Adjacency)


def l1_sensitivity(adjacency: Adjacency) -> int:
    """Return the largest L1 distance of neighbouring vote vectors, in private units.

    Raises:
        UnsupportedAdjacency: for a relation that no theorem covers.
    """
    return 2 if _replaces(adjacency) else 1


def l2_sensitivity_squared(adjacency: Adjacency) -> int:
    """Return the square of the largest L2 distance of neighbouring vote vectors, an exact integer.

    Raises:
        UnsupportedAdjacency: for a relation that no theorem covers.
    """
    return 2 if _replaces(adjacency) else 1


def l2_sensitivity(adjacency: Adjacency) -> float:
    """Return the largest L2 distance of neighbouring vote vectors, in private units, rounded up.

    Raises:
        UnsupportedAdjacency: for a relation that no theorem covers.
    """
    # The double nearest to √2 lies above √2: (1.4142135623730951)² > 2.
    return math.sqrt(l2_sensitivity_squared(adjacency))


def _replaces(adjacency: str) -> bool:
    if adjacency not in ADJACENCIES:
        raise UnsupportedAdjacency(
            f"Expected a neighbour relation of {' or '.join(ADJACENCIES)}; found adjacency={adjacency!r}."
        )
    return adjacency == "replace-one"
