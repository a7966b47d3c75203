"""LSCost: what it costs to move votes to where they are missing and to the selected candidates."""

import math

import numpy as np
from numpy.typing import ArrayLike

from evomix.core.arrays import FloatArray, IntArray
from evomix.neighbors.near_lists import near_lists
from evomix.selection.arguments import positions, reach, signed_votes, vectors
from evomix.transport.points import PointTransport

_ROUNDING = 1e-9
"""Share of all votes by which a sum may be off 0 and still count as 0."""


def ls_cost(points: ArrayLike, votes: ArrayLike, chosen: ArrayLike, *, radius: float) -> float:
    """Return the exact LSCost of a selection, in votes times distance; post-processing, costs nothing.

    ``min Σ c(u,v)·f(u,v)`` over flows f ≥ 0 with ``out(v) − in(v) = votes(v)`` at candidates that are not chosen and
    ``out(s) − in(s) ≤ votes(s)`` at chosen ones, where c = min(ρ, radius/3) with ρ the Euclidean distance. Positive
    votes flow to negative ones, which must all be filled, and what is left to the nearest chosen candidate.
    Exact up to 10⁻¹² of (all positive votes)·(largest distance), for up to 100,000 candidates.

    Args:
        points: floats (n, k), finite, at most 1e150 in size.
        votes: floats (n,), signed; their sizes sum to at most 1e150.
        chosen: integers, distinct positions in ``points``.
        radius: R > 0; infinity truncates nothing.

    Returns:
        The cost, or infinity where no flow exists: the votes' sum is negative (by more than 10⁻⁹ of their sizes), or
        it is positive and nothing is chosen to take what is left.

    Raises:
        SpecError: an argument is not as above.

    Source: "Understanding Private Evolution as Learning-Augmented Clustering" (2026), Definition 4.3.
    Proof that flows straight from positive to negative votes suffice: docs/proofs/transport.md.
    """
    points = vectors(points)
    signed, taken = signed_votes(votes, len(points)), positions("chosen", chosen, len(points))
    cap = reach(radius) / 3.0
    positive, negative = np.flatnonzero(signed > 0.0), np.flatnonzero(signed < 0.0)
    left = left_over(signed)
    if left < 0.0 or (left > 0.0 and not taken.size):
        return math.inf
    if not positive.size:
        return 0.0
    # Without a selection nothing is left over, and what rounding leaves costs nothing.
    to_chosen = _distances_to(points, positive, taken, cap) if taken.size else np.zeros(positive.size)
    if not negative.size:
        return float(signed[positive] @ to_chosen)
    missing = -signed[negative]
    missing *= min(1.0, math.fsum(signed[positive]) / math.fsum(missing))
    problem = PointTransport(
        points[positive], points[negative], signed[positive], missing, slack_costs=to_chosen, cap=cap
    )
    problem.solve()
    return problem.flow.cost


def left_over(votes: FloatArray) -> float:
    """Return the sum of the votes, 0 where it may be rounding; below 0 no flow can fill what is missing."""
    left = math.fsum(votes)
    return left if abs(left) > _ROUNDING * math.fsum(np.abs(votes)) else 0.0


def _distances_to(points: FloatArray, rows: IntArray, chosen: IntArray, cap: float) -> FloatArray:
    """Return min(ρ, cap) from each row to the nearest chosen candidate, float64 (len(rows),)."""
    lists = near_lists(points, rows=rows, columns=chosen, count=1, cap=cap)
    distances = np.full(rows.size, cap)
    distances[np.diff(lists.starts) > 0] = lists.distances
    return distances
