"""R: the distance between clusters, chosen from public or synthetic points.

Costs beyond R/3 count alike, so that votes far from everything cannot draw a selection away. Post-processing; costs
nothing, because the points are candidates or public records, never private ones.
Source: "Understanding Private Evolution as Learning-Augmented Clustering" (2026), section 4 and appendix H.1, which
runs the k-means on the private records; here it never does.
"""

import math
import warnings
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evomix.core.arguments import whole
from evomix.core.errors import SpecError
from evomix.neighbors.vectors import VectorIndex
from evomix.selection.arguments import public_randomness, vectors

FACTOR: Final = 10.0
"""R in units of the largest distance of a point to its centre."""
_MOST_PRODUCTS: Final = 2.0e9
"""Points × centres × dimension up to which Lloyd's steps are worth their time; beyond, random points are the centres,
which leave distances larger by a factor that R, ten times as large as need be, does not notice."""
_STEPS: Final = 10


def cluster_radius(points: ArrayLike, size: int, rng: np.random.Generator) -> float:
    """Return R: ten times the largest distance of a point to its centre, with ``size`` centres.

    Args:
        points: floats (n, k), candidates or public records, finite, at most 1e150 in size, n ≥ 1.
        size: number of centres, whole, at least 1; the number that a selection keeps.
        rng: public randomness.

    Returns:
        A positive number; infinity, which truncates nothing, where every point is its own centre.

    Raises:
        SpecError: an argument is outside these ranges.
    """
    points, size, rng = vectors(points), whole("size", size, least=1), public_randomness(rng)
    if not len(points):
        raise SpecError(f"expected points of shape (n, k) with n ≥ 1, got shape={points.shape}")
    # In units of a power of two, which rounds nothing, no square overflows or vanishes.
    exponent = int(np.frexp(float(np.abs(points).max(initial=0.0)))[1])
    scaled = np.ldexp(points, -exponent)
    centres = np.unique(scaled, axis=0)
    if len(centres) > size:
        centres = _centres(scaled, centres[rng.choice(len(centres), size, replace=False)])
    gaps = scaled.astype(np.float64) - centres[VectorIndex(centres).nearest(scaled)[:, 0]]
    largest = math.sqrt(float(np.einsum("ij,ij->i", gaps, gaps).max()))
    return math.ldexp(FACTOR * largest, exponent) if largest > 0.0 else math.inf


def _centres(points: NDArray[Any], start: NDArray[Any]) -> NDArray[Any]:
    if float(points.size) * len(start) > _MOST_PRODUCTS:
        return start
    from sklearn.cluster import KMeans  # noqa: PLC0415  (slow to import, and most runs need no radius)
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415

    with warnings.catch_warnings():
        # Points that its arithmetic cannot tell apart share a centre, and others stand there twice: no harm here.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = KMeans(len(start), init=start, n_init=1, max_iter=_STEPS).fit(points)
    return np.asarray(fitted.cluster_centers_)
