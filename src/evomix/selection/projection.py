"""The bounded-Lipschitz projection: the probability measure nearest to signed votes."""

import math

import numpy as np
from numpy.typing import ArrayLike

from evomix.core.arguments import number
from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.selection.arguments import LARGEST, signed_votes, total, vectors
from evomix.transport.points import PointTransport


def project(points: ArrayLike, votes: ArrayLike, *, units: float | None = None) -> FloatArray:
    """Return a probability measure on the points that is nearest to ``votes / units``; post-processing, costs nothing.

    Nearest in the bounded-Lipschitz distance: mass moves at the Euclidean distance, divided by any number that makes
    the diameter at most 2, and is created or deleted at 1 a unit. Which number does not matter: moving costs at most a
    deletion and a creation, so as little as can be is created or deleted, and the moves are the cheapest for that.
    Negative votes are filled from positive ones at least transport cost. If more than 1 is left, every part of
    it shrinks alike. If the votes sum to less than 1, the missing mass fills the negative votes that are the costliest
    to fill, and what it does not fill goes to where mass remains, in proportion (evenly where none does).

    Args:
        points: floats (n, k), n ≥ 1, finite, at most 1e150 in size.
        votes: floats (n,), signed; their sizes sum to at most 1e150, divided by units as well.
        units: private units, positive; ``None``: the votes' sum, which must be positive.

    Returns:
        float64 (n,), at least 0, of sum 1.

    Raises:
        SpecError: an argument is not as above.

    Source: González et al. (2025). Proof that this is the projection: docs/proofs/bl_projection.md.
    """
    points = vectors(points)
    if not len(points):
        raise SpecError(f"expected points (n, k), n ≥ 1, got shape={points.shape}")
    signed = signed_votes(votes, len(points))
    with np.errstate(over="ignore"):
        measure = signed / _total(signed, units)
    if not total(measure) <= LARGEST:
        raise SpecError(f"expected votes that units divide to at most {LARGEST:g}, got units={units}")
    positive, negative = np.flatnonzero(measure > 0.0), np.flatnonzero(measure < 0.0)
    missing = max(1.0 - math.fsum(measure), 0.0)
    left = np.maximum(measure, 0.0)
    if missing < -math.fsum(measure[negative]):  # else what is missing fills all of them
        problem = PointTransport(
            points[positive],
            points[negative],
            measure[positive],
            -measure[negative],
            slack_costs=np.zeros(positive.size),
            free=missing,
        )
        problem.solve()
        left[positive] = problem.kept
    remaining = float(left.sum())
    return left / remaining if remaining > 0.0 else np.full(left.size, 1.0 / left.size)


def _total(votes: FloatArray, units: float | None) -> float:
    """Return what votes are divided by to become a measure."""
    if units is None:
        if not math.fsum(votes) > 0.0:
            raise SpecError("expected votes with a positive sum; give units, the number of private units")
        return math.fsum(votes)
    found = number("units", units)
    if not 0.0 < found < math.inf:
        raise SpecError(f"expected positive units, got units={units}")
    return found
