"""Precision and recall: are synthetic points where real ones are, and are real ones met everywhere?

Kynkäänniemi et al. 2019 draw a ball around each point that reaches to its k-th neighbour in the same set. Precision
asks how many synthetic points lie in the real points' balls. Their recall exchanges the two sets, and then the
synthetic points draw the balls: two of them, far apart, have balls that hold everything. "Understanding Private
Evolution as Learning-Augmented Clustering" (2026), appendix H.2, counts instead the real points' balls that hold a
synthetic point; Naeem et al. 2020 call the same figure coverage.

Each figure reads the points of both sets. Where one of them is private, so is the figure.
"""

from numpy.typing import ArrayLike

from evomix.metrics.balls import holds_a_point, lies_in_a_ball, squared_radii
from evomix.metrics.points import as_points


def precision(real: ArrayLike, synthetic: ArrayLike, *, k: int = 3) -> float:
    """Return the share of synthetic points that lie in some real point's ball, from 0 to 1.

    Args:
        real: numbers (n, d), n > k. A ball reaches to the k-th nearest other real point, its edge included.
        synthetic: numbers (m, d), m ≥ 1.
        k: neighbours in a ball.

    Raises:
        SpecError: sets without points, of different dimensions or not finite; k below 1 or not below n.

    >>> precision([[0.0], [1.0], [2.0]], [[0.5], [9.0]], k=1)
    0.5
    """
    centres = as_points("real", real)
    points = as_points("synthetic", synthetic, like=centres)
    return float(lies_in_a_ball(points, centres, squared_radii("real", centres, k)).mean())


def recall(real: ArrayLike, synthetic: ArrayLike, *, k: int = 3) -> float:
    """Return the share of real points' balls that hold a synthetic point, from 0 to 1: the data-based recall.

    What a synthetic point adds does not depend on the other synthetic points, so spreading them out gains nothing.
    With far fewer synthetic than real points the figure is small for any synthesizer: compare it with its ceiling at
    the same size.

    Args:
        real: numbers (n, d), n > k. A ball reaches to the k-th nearest other real point, its edge included.
        synthetic: numbers (m, d), m ≥ 1.
        k: neighbours in a ball.

    Raises:
        SpecError: as for :func:`precision`.

    >>> recall([[0.0], [1.0], [5.0], [6.0]], [[0.5]], k=1)
    0.5
    """
    centres = as_points("real", real)
    points = as_points("synthetic", synthetic, like=centres)
    return float(holds_a_point(centres, squared_radii("real", centres, k), points).mean())


def synthetic_recall(real: ArrayLike, synthetic: ArrayLike, *, k: int = 3) -> float:
    """Return the share of real points that lie in some *synthetic* point's ball: the usual recall, for contrast.

    It can be gamed: outliers among the synthetic points have large balls. Use :func:`recall` to compare synthesizers.

    Args:
        real: numbers (n, d), n ≥ 1.
        synthetic: numbers (m, d), m > k. A ball reaches to the k-th nearest other synthetic point, its edge included.
        k: neighbours in a ball.

    Raises:
        SpecError: sets without points, of different dimensions or not finite; k below 1 or not below m.

    >>> real = [[0.0], [1.0], [5.0], [6.0]]
    >>> synthetic_recall(real, [[-100.0], [100.0]], k=1), recall(real, [[-100.0], [100.0]], k=1)
    (1.0, 0.0)
    """
    points = as_points("real", real)
    centres = as_points("synthetic", synthetic, like=points)
    return float(lies_in_a_ball(points, centres, squared_radii("synthetic", centres, k)).mean())
