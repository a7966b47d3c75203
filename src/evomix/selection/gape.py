"""GAPE: geometry-aware selection, by which small clusters survive.

Source: "Understanding Private Evolution as Learning-Augmented Clustering" (2026), section 4.
"""

import numpy as np
from numpy.typing import ArrayLike

from evomix.core.arguments import whole
from evomix.core.arrays import IntArray
from evomix.selection.arguments import public_randomness, signed_votes, thresholds, vectors
from evomix.selection.local_search import local_search
from evomix.selection.radius import cluster_radius


def gape(
    points: ArrayLike,
    votes: ArrayLike,
    *,
    size: int,
    radius: float | None = None,
    threshold: ArrayLike = 0.0,
    rng: np.random.Generator | None = None,
) -> IntArray:
    """Return at most ``size`` candidates from which all votes are near, int64, distinct, ascending.

    Each has more than ``threshold`` votes; where no more than ``size`` do, all of these. No swap of one of them for
    another lowers LSCost. Post-processing; costs nothing. For the votes that flow to each, and for what is certain of
    the cost, see :func:`evomix.selection.local_search.local_search`.

    Args:
        points: floats (n, k), finite, at most 1e150 in size, n ≥ 1; the Euclidean distance is that of the votes.
        votes: floats (n,), noisy and signed; their sizes sum to at most 1e150.
        size: whole, at least 1.
        radius: R, the distance of clusters; ``None`` takes it from the points
            (:func:`evomix.selection.radius.cluster_radius`).
        threshold: τ, a number or one for each candidate (:func:`evomix.selection.threshold.vote_threshold`).
        rng: public randomness; default a fixed one.

    Raises:
        SpecError: an argument is outside these ranges.

    >>> points = np.array([[0.0], [0.1], [0.2], [9.0]])
    >>> gape(points, np.array([7.0, 8.0, 9.0, 4.0]), size=2)
    array([1, 3])
    """
    points, rng = vectors(points), public_randomness(rng)
    votes, size = signed_votes(votes, len(points)), whole("size", size, least=1)
    threshold = thresholds(threshold, len(votes))
    if radius is None:
        radius = cluster_radius(points, size, rng)
    return local_search(points, votes, size=size, radius=radius, threshold=threshold, rng=rng).indices
