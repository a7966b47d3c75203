"""How far two sets of points overlap as histograms: the area under a frontier of divergences, as MAUVE is."""

import warnings
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evomix.core.arguments import shown, whole
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.metrics.points import as_points, as_seed, draw
from evomix.neighbors.copies import find_copies
from evomix.neighbors.vectors import VectorIndex

_SCALE: Final = 5.0
"""The constant c; MAUVE's default."""
_MIXTURES: Final = 513
_LEARN_FROM: Final = 10_000
"""Points of each set that clusters are learned from."""
_STEPS: Final = 30
_COMPONENTS: Final = 64


def mauve(x: ArrayLike, y: ArrayLike, *, clusters: int | None = None, seed: int = 0) -> float:
    """Return the area under the divergence frontier of two sets, in (0, 1]: 1 where their histograms are equal.

    1. Points are reduced to their 64 leading principal components, where there are more. *k*-means then cuts space into
       ``clusters`` cells. Both are learned from both sets together, at most 10,000 points of each.
    2. P and Q are the shares of the sets' points in each cell, ½ added to every count.
    3. The frontier is the curve ``(exp(−c·KL(Q‖R)), exp(−c·KL(P‖R)))`` over mixtures R = λP + (1 − λ)Q, 0 ≤ λ ≤ 1, with
       c = 5. The area is that under it, from (0, 1) over the curve to (1, 0).

    Symmetric but for the clusters' random start. It knows nothing within a cell, and depends on how many cells and
    points there are: compare it only at equal sizes, clusters and seeds.

    Args:
        x: numbers (n, k), n ≥ 1.
        y: numbers (m, k), m ≥ 1.
        clusters: cells, whole, at least 2; None: a tenth of the smaller set, from 2 to 500.
        seed: of the clusters, whole, from 0 to 2³² − 1.

    Raises:
        SpecError: an argument is not as above, or there are more clusters than points they are learned from.

    Source: Pillutla et al. 2021 for the frontier, 2023 for the ½ (Krichevsky-Trofimov smoothing). Programs
    differ in how they reduce and cluster, so their figures cannot be compared.
    """
    left = as_points("x", x)
    right = as_points("y", y, like=left)
    seed = as_seed(seed)
    rng = np.random.default_rng(seed)
    together = np.concatenate([draw(left, _LEARN_FROM, rng), draw(right, _LEARN_FROM, rng)])
    # In units of a power of two, which rounds nothing, no square that k-means takes overflows or vanishes.
    exponent = int(np.frexp(np.abs(together).max())[1])
    left, right, together = (np.ldexp(points, -exponent) for points in (left, right, together))
    usual = int(np.clip(min(len(left), len(right)) // 10, 2, 500))
    cells = usual if clusters is None else whole("clusters", clusters, least=2)
    if cells > len(together):
        raise SpecError(
            f"expected clusters from 2 to the {len(together)} points they are learned from, got clusters={shown(cells)}"
        )
    axes = _leading_axes(together)
    return frontier_area(*_histograms(left @ axes, right @ axes, together @ axes, cells, seed))


def frontier_area(p: FloatArray, q: FloatArray) -> float:
    """Return the area under the divergence frontier of two distributions with positive shares, in (0, 1].

    Args:
        p: float64 (c,), positive, of sum 1.
        q: float64 (c,), positive, of sum 1.
    """
    # Mixtures crowd towards both ends, where the frontier is steepest.
    shares = (1.0 - np.cos(np.pi * np.linspace(0.0, 1.0, _MIXTURES))) / 2.0
    mixed = shares[:, None] * p + (1.0 - shares[:, None]) * q
    across = np.exp(-_SCALE * np.maximum((q * np.log(q / mixed)).sum(axis=1), 0.0))
    up = np.exp(-_SCALE * np.maximum((p * np.log(p / mixed)).sum(axis=1), 0.0))
    # From λ = 1 to λ = 0 the curve goes right and down.
    across, up = np.concatenate([[0.0], across[::-1], [1.0]]), np.concatenate([[1.0], up[::-1], [0.0]])
    return float(np.clip((np.diff(across) * (up[1:] + up[:-1]) / 2.0).sum(), 0.0, 1.0))


def _leading_axes(points: FloatArray) -> FloatArray:
    """Return the leading principal axes, float64 (k, ≤ 64), as columns."""
    if points.shape[1] <= _COMPONENTS:
        return np.eye(points.shape[1])
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)  # ascending
    return np.asarray(axes[:, -_COMPONENTS:], np.float64)


def _histograms(
    left: FloatArray, right: FloatArray, together: FloatArray, cells: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    from sklearn.cluster import KMeans  # noqa: PLC0415  (a second to import, and only this metric needs it)
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415

    distinct = together[find_copies(together).first]
    if len(distinct) <= cells:  # each distinct point is a cell; k-means would only warn
        centres = distinct
    else:
        with warnings.catch_warnings():
            # Distinct points that its arithmetic cannot tell apart share a cell.
            warnings.simplefilter("ignore", ConvergenceWarning)
            learned = KMeans(cells, n_init=1, max_iter=_STEPS, random_state=seed).fit(together)
        centres = np.asarray(learned.cluster_centers_, np.float64)
    return _smoothed(_nearest(left, centres), len(centres)), _smoothed(_nearest(right, centres), len(centres))


def _nearest(points: FloatArray, centres: FloatArray) -> IntArray:
    return VectorIndex(centres).nearest(points)[:, 0]


def _smoothed(cells: IntArray, count: int) -> FloatArray:
    counts = np.bincount(cells, minlength=count).astype(np.float64)
    return (counts + 0.5) / (len(cells) + count / 2.0)
