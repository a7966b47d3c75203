"""R: the distance between clusters, chosen from public or synthetic points.

Costs beyond R/3 count alike, so that votes far from everything cannot draw a selection away. Post-processing; costs
nothing, because the points are candidates or public records, never private ones.
Source: "Understanding Private Evolution as Learning-Augmented Clustering" (2026), section 4 and appendix H.1, which
runs the k-means on the private records; here it never does.
"""

import math
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.neighbors.vectors import VectorIndex

FACTOR: Final = 10.0
"""R in units of the largest distance of a point to its centre."""
_MOST_PRODUCTS: Final = 2.0e9
"""Points × centres × dimension up to which Lloyd's steps are worth their time; beyond, random points are the centres,
which leave distances larger by a factor that R, ten times as large as need be, does not notice."""
_STEPS: Final = 10


def cluster_radius(points: FloatArray, size: int, rng: np.random.Generator) -> float:
    """Return R: ten times the largest distance of a point to its centre, with ``size`` centres.

    Args:
        points: floats (n, k), candidates or public records, n ≥ 1.
        size: number of centres, at least 1; the number that a selection keeps.
        rng: public randomness.

    Returns:
        A positive number; infinity, which truncates nothing, where every point is its own centre.

    Raises:
        SpecError: no points, or no centres.
    """
    if points.ndim != 2 or not len(points) or size < 1:
        raise SpecError(
            f"expected points of shape (n, k) with n ≥ 1 and a size of at least 1, got {points.shape}, {size}"
        )
    centres = np.unique(points, axis=0)
    if len(centres) > size:
        centres = _centres(points, centres[rng.choice(len(centres), size, replace=False)])
    gaps = points - centres[_nearest(points, centres)]
    largest = math.sqrt(float(np.einsum("ij,ij->i", gaps, gaps, dtype=np.float64).max()))
    return FACTOR * largest if largest > 0.0 else math.inf


def _centres(points: FloatArray, start: FloatArray) -> FloatArray:
    if float(points.size) * len(start) > _MOST_PRODUCTS:
        return start
    from sklearn.cluster import KMeans  # noqa: PLC0415  (slow to import, and most runs need no radius)

    fitted = KMeans(len(start), init=start, n_init=1, max_iter=_STEPS).fit(points)
    return np.asarray(fitted.cluster_centers_)


def _nearest(points: FloatArray, centres: FloatArray) -> IntArray:
    return VectorIndex(centres).nearest(points)[:, 0]
