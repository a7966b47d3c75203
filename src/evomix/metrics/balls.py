"""Balls around points that reach to their k-th neighbour, and who lies in them.

**Which balls hold a point.** The nearest point of each centre tells.

**Which points lie in some ball.** The nearest centre does not tell: its ball may be small. What tells is the least
power distance ‖y − x‖² − r(x)². With R the largest radius and one coordinate more, ``x' = (x, √(R² − r(x)²))`` and
``y' = (y, 0)``,

    ‖y' − x'‖² = ‖y − x‖² − r(x)² + R²,

so the centre of least power distance is the nearest neighbour of y', and the exact index of Euclidean distances finds
it. Rounding moves these squares by at most (k + 64)·2⁻⁵¹ of their size. A point left outside by a smaller margin is
compared with every ball directly.
"""

import numpy as np
from numpy.typing import NDArray

from evomix.core.arguments import shown, whole
from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.metrics.points import TIE, squared_gaps
from evomix.neighbors.vectors import VectorIndex


def squared_radii(name: str, points: FloatArray, k: int) -> FloatArray:
    """Return each point's squared distance to the k-th nearest other point, float64 (n,); 0 where k others equal it.

    Args:
        name: what messages call the points.
        points: float64 (n, d), n > k.
        k: at least 1.

    Raises:
        SpecError: k is not a whole number from 1 to n − 1.
    """
    k = whole("k", k, least=1)
    if k >= len(points):
        raise SpecError(f"expected k below the number of {name} points, {len(points)}, got k={shown(k)}")
    # One of the k + 1 nearest is at distance 0 and stands for the point itself: the last one is the k-th other.
    nearest = VectorIndex(points).nearest(points, k + 1)
    found: FloatArray = squared_gaps(points, points, nearest).max(axis=1)
    return found


def holds_a_point(centres: FloatArray, squared: FloatArray, points: FloatArray) -> NDArray[np.bool_]:
    """Tell for each ball whether a point lies in it or on its edge, bool (n,).

    Args:
        centres: float64 (n, d).
        squared: float64 (n,), squared radii.
        points: float64 (m, d).
    """
    nearest = VectorIndex(points).nearest(centres)
    inside: NDArray[np.bool_] = squared_gaps(centres, points, nearest)[:, 0] <= squared * (1.0 + TIE)
    return inside


def lies_in_a_ball(points: FloatArray, centres: FloatArray, squared: FloatArray) -> NDArray[np.bool_]:
    """Tell for each point whether it lies in some ball or on its edge, bool (m,).

    Args:
        points: float64 (m, d).
        centres: float64 (n, d).
        squared: float64 (n,), squared radii.
    """
    reach = squared * (1.0 + TIE)
    largest = float(reach.max())
    lifted = np.column_stack([centres, np.sqrt(largest - reach)])
    nearest = VectorIndex(lifted).nearest(np.column_stack([points, np.zeros(len(points))]))
    gaps = squared_gaps(points, centres, nearest)[:, 0]
    power = gaps - reach[nearest[:, 0]]
    inside: NDArray[np.bool_] = power <= 0.0
    rounding = (points.shape[1] + 64) * 2.0**-51 * (gaps + largest)
    for position in np.flatnonzero(~inside & (power <= rounding)):
        everywhere = squared_gaps(centres, points, np.full((len(centres), 1), position))[:, 0]
        inside[position] = bool((everywhere <= reach).any())
    return inside
