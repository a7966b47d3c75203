"""Which two inputs count as neighbours, and how far one private unit moves a vote vector.

A vote vector is a non-negative vector over the candidates; every private unit contributes a non-negative part
of total mass exactly one (a single vote, soft votes, k nearest candidates, or one user's rows averaged).

* ``replace-one``: one unit is exchanged for another, the number of units is public. The difference of two
  such parts ``w - w'`` has L1 norm at most 2 and, because both parts are non-negative with sum one,
  ``|w - w'|² = |w|² + |w'|² - 2 w·w' <= 2``.
* ``add-remove``: one unit is there or not. The difference is one part: L1 norm 1, L2 norm at most 1.

Both are attained by units with a single vote. The proof pages of the mechanisms build on these two numbers.

An ε under one relation is not an ε under the other. :func:`convert_guarantee` goes the one way that a theorem allows.
"""

import math
from typing import Literal, get_args

from evomix.core.arguments import number
from evomix.core.errors import SpecError, UnsupportedAdjacency

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


def convert_guarantee(epsilon: float, delta: float, *, source: Adjacency, target: Adjacency) -> tuple[float, float]:
    """Return what an (ε, δ) guarantee under ``source`` says under ``target``: (ε, δ) there, rounded up.

    Replacing a unit is removing one and adding another, so for any set A of outcomes

        Pr[M(D) ∈ A] ≤ e^ε·Pr[M(D∖x) ∈ A] + δ ≤ e^ε·(e^ε·Pr[M(D∖x ∪ y) ∈ A] + δ) + δ,

    which is (2ε, (1 + e^ε)·δ) under replace-one. There is no way back: a mechanism that publishes the number of
    units and nothing else is (0, 0) under replace-one and no (ε, δ < 1) under add-remove. A guarantee that is *proven*
    under both relations (as Gaussian and Laplace noise have it) is better than a converted one.

    Args:
        epsilon: ε ≥ 0, finite.
        delta: δ in [0, 1].
        source: the relation under which the guarantee was proven, for data sets of every size.
        target: the relation wanted.

    Raises:
        SpecError: ε or δ is out of range.
        UnsupportedAdjacency: from replace-one to add-remove, or a relation that no theorem covers.
    """
    epsilon, delta = number("epsilon", epsilon), number("delta", delta)
    if not (0.0 <= epsilon < math.inf and 0.0 <= delta <= 1.0):
        raise SpecError(
            "epsilon must be finite and at least 0, and delta must lie in [0, 1]; "
            f"found epsilon={epsilon!r}, delta={delta!r}"
        )
    from_replace, to_replace = _replaces(source), _replaces(target)
    if from_replace == to_replace:
        return epsilon, delta
    if from_replace:
        raise UnsupportedAdjacency(
            "A guarantee under replace-one says nothing about add-remove, which hides the number of units as well; "
            f"found source={source!r}, target={target!r}. Calibrate the mechanism under add-remove instead."
        )
    if delta == 0.0:
        return 2.0 * epsilon, 0.0
    growth = math.exp(epsilon) if epsilon < 709.0 else math.inf
    # Four roundings and the library's last place: less than a relative 2⁻⁵⁰.
    return 2.0 * epsilon, min(1.0, math.nextafter((1.0 + growth) * delta * (1.0 + 2.0**-50), math.inf))


def _replaces(adjacency: str) -> bool:
    if adjacency not in ADJACENCIES:
        raise UnsupportedAdjacency(
            f"Expected a neighbour relation of {' or '.join(ADJACENCIES)}; found adjacency={adjacency!r}."
        )
    return adjacency == "replace-one"
