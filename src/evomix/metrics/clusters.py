"""Which known clusters a synthetic set reaches, and how much of it lies in each."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evomix.core.arguments import real_array
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.metrics.points import TIE, as_points, as_weights, squared_gaps
from evomix.neighbors.vectors import VectorIndex


@dataclass(frozen=True, slots=True, eq=False)
class ClusterCoverage:
    """A synthetic set seen through κ known clusters.

    Attributes:
        names: the clusters: positions of their centres, or labels in ascending order.
        covered: bool (κ,), whether a point belongs to it.
        masses: float64 (κ,), share of the points that belong to it.
        errors: float64 (κ,), masses less what they should be; NaN where that is not known.
        outside: share of the points that belong to none.
    """

    names: NDArray[Any]
    covered: NDArray[np.bool_]
    masses: FloatArray
    errors: FloatArray
    outside: float

    @property
    def share(self) -> float:
        """Share of clusters that are covered."""
        return float(self.covered.mean())

    @property
    def mass_distance(self) -> float:
        """Half the sum of absolute errors, what lies outside included: the total variation, from 0 to 1."""
        return float(np.abs(self.errors).sum() + self.outside) / 2.0


def cluster_coverage(
    points: ArrayLike,
    centres: ArrayLike,
    radius: ArrayLike,
    *,
    masses: ArrayLike | None = None,
) -> ClusterCoverage:
    """Return which clusters have a point within ``radius`` of their centre, and the mass of each.

    For ``covered`` the distance alone counts. For ``masses`` a point belongs to its nearest centre, the first of
    equals, provided that it lies within that one's radius; so clusters whose balls meet can be covered without mass.

    Args:
        points: numbers (n, k), n ≥ 1: synthetic points.
        centres: numbers (κ, k), κ ≥ 1.
        radius: number or numbers (κ,), at least 0. A point on the edge is within.
        masses: numbers (κ,), the clusters' true masses, at least 0, divided by their sum; None: not known.

    Raises:
        SpecError: an argument is not as above, or dimensions differ.

    >>> found = cluster_coverage([[0.0], [0.5], [9.0]], [[0.0], [5.0]], 1.0, masses=[0.7, 0.3])
    >>> found.share, found.covered.tolist(), round(found.outside, 3)
    (0.5, [True, False], 0.333)
    """
    where = as_points("points", points)
    middles = as_points("centres", centres, like=where)
    squared = _squared("radius", radius, len(middles))
    nearest = VectorIndex(where).nearest(middles)
    covered = squared_gaps(middles, where, nearest)[:, 0] <= squared
    owner = VectorIndex(middles).nearest(where)
    inside = squared_gaps(where, middles, owner)[:, 0] <= squared[owner[:, 0]]
    true = None if masses is None else as_weights("masses", masses, len(middles))
    counts: IntArray = np.bincount(owner[inside, 0], minlength=len(middles))
    return _coverage(np.arange(len(middles)), covered, counts, len(where), true)


def label_coverage(
    real: ArrayLike, labels: ArrayLike, synthetic: ArrayLike, *, radius: float | None = None
) -> ClusterCoverage:
    """Return which labels of real points a synthetic set holds, and the mass of each.

    A synthetic point has the label of its nearest real point, the first of equals, provided that it lies within
    ``radius`` of that.

    Args:
        real: numbers (n, k), n ≥ 1.
        labels: whole numbers or words (n,), one label for each real point; their shares are the true masses.
        synthetic: numbers (m, k), m ≥ 1.
        radius: number of at least 0; None: any distance.

    Raises:
        SpecError: an argument is not as above, or dimensions differ.

    >>> label_coverage([[0.0], [1.0], [8.0]], ["a", "a", "b"], [[0.2], [0.4]]).masses.tolist()
    [1.0, 0.0]
    """
    centres = as_points("real", real)
    points = as_points("synthetic", synthetic, like=centres)
    names, codes, totals = np.unique(_labels(labels, len(centres)), return_inverse=True, return_counts=True)
    owner = VectorIndex(centres).nearest(points)
    inside = np.ones(len(points), np.bool_)
    if radius is not None:
        inside = squared_gaps(points, centres, owner)[:, 0] <= _squared("radius", radius, 1)
    counts: IntArray = np.bincount(codes[owner[inside, 0]], minlength=len(names))
    return _coverage(names, counts > 0, counts, len(points), totals / len(centres))


def _coverage(
    names: NDArray[Any], covered: NDArray[np.bool_], counts: IntArray, points: int, true: FloatArray | None
) -> ClusterCoverage:
    found = counts / points
    errors = np.full(len(found), np.nan) if true is None else found - true
    return ClusterCoverage(names, covered, found, errors, 1.0 - int(counts.sum()) / points)


def _squared(name: str, radius: ArrayLike, count: int) -> FloatArray:
    """Return radii squared, ties included, float64 (count,)."""
    with np.errstate(over="ignore"):  # a radius that large reaches everything
        found = np.asarray(real_array(name, radius), np.float64)
        squared = found**2 * (1.0 + TIE)
    if found.shape not in ((), (count,)) or not (found >= 0.0).all():
        raise SpecError(f"expected {name} of at least 0, one number or one for each of {count}, got {name}={radius!r}")
    return np.broadcast_to(squared, (count,))


def _labels(labels: ArrayLike, count: int) -> NDArray[Any]:
    """Return ``count`` labels, all whole numbers or all words."""
    try:
        given: NDArray[Any] = np.asarray(labels)
    except ValueError as error:
        raise SpecError(f"expected labels of shape ({count},), whole numbers or words; found them ragged") from error
    plain = given.dtype.kind in "biuSU" or any(
        all(isinstance(label, kind) for label in given.flat) for kind in (str, Integral)
    )
    if given.shape != (count,) or not plain:
        raise SpecError(
            f"expected labels of shape ({count},), whole numbers or words, got shape={given.shape} of "
            f"type={given.dtype}"
        )
    return given
