"""The Fréchet distance between the Gaussians that two sets of points would be."""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.metrics.points import as_points


def frechet(x: ArrayLike, y: ArrayLike) -> float:
    """Return the squared Fréchet distance of Gaussians with the sets' means μ and covariances C, as FID is one.

        ‖μ_x − μ_y‖² + tr(C_x + C_y − 2·(C_x C_y)^½)

    It sees means and covariances alone, and its bias grows as k/n: compare it only at equal sizes. With at most k
    points a set, as it may be for embeddings, covariances are singular; the figure is defined and exact all the same.

    With C_x = AᵀA and C_y = BᵀB, the trace of (C_x C_y)^½ is the sum of the singular values of ABᵀ. A and B are the
    triangular factors of the centred points, so no covariance is formed and no root of a product that rounding has made
    indefinite or complex is taken.

    Args:
        x: numbers (n, k), n ≥ 2.
        y: numbers (m, k), m ≥ 2.

    Raises:
        SpecError: a set of one point, or sets that are not finite or differ in dimension.

    Source: Dowson and Landau 1982; Heusel et al. 2017 for embeddings.
    """
    left = as_points("x", x)
    right = as_points("y", y, like=left)
    apart = left.mean(axis=0) - right.mean(axis=0)
    a, b = _factor("x", left), _factor("y", right)
    common = float(np.linalg.svd(a @ b.T, compute_uv=False).sum())
    spread = float((a * a).sum() + (b * b).sum()) - 2.0 * common
    return float(apart @ apart) + max(spread, 0.0)


def _factor(name: str, points: FloatArray) -> FloatArray:
    """Return A with AᵀA the covariance (divisor n − 1), float64 (min(n, k), k)."""
    if len(points) < 2:
        raise SpecError(f"expected at least two points in {name}, got 1; one point has no covariance")
    centred = (points - points.mean(axis=0)) / sqrt(len(points) - 1)
    return np.asarray(np.linalg.qr(centred, mode="r"), np.float64)
