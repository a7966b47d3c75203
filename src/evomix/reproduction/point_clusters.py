"""Well-separated clusters of made-up records: discs in the plane on a square grid."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.reproduction.point_evolution import World, seeded
from evomix.reproduction.point_generators import SubspaceSteps, ball

SEPARATION: Final = 4.0
"""R, least distance between records of different clusters, in diameters of a cluster."""
_PLANE: Final = np.eye(2)


def centres(clusters: int) -> FloatArray:
    """Return the middles of ``clusters`` discs of diameter 1 that lie R apart, float64 (clusters, 2)."""
    across = int(np.ceil(clusters**0.5))
    return np.array([[k % across, k // across] for k in range(clusters)]) * (SEPARATION + 1.0)


def clustered(
    sizes: Sequence[int],
    starts: Sequence[int],
    *,
    scales: Sequence[float],
    size: int,
    rounds: int,
    stddev: float,
    seed: int,
) -> World:
    """Return records and first points, uniform in discs; steps are too short to cross from one disc to another.

    Args:
        sizes: records of each cluster.
        starts: points of the first population in each cluster.
        scales: s of each variation, in diameters.
        size: m.
        rounds: T.
        stddev: σ of the noise.
        seed: of records and start.
    """
    rng = seeded(seed, 0)
    records, start = (
        np.concatenate(
            [ball(k, _PLANE, 0.5, rng) + middle for k, middle in zip(counts, centres(len(sizes)), strict=True)]
        )
        for counts in (sizes, starts)
    )
    return World(records, start, SubspaceSteps(_PLANE, tuple(scales)), size, rounds, stddev)


def near(points: FloatArray, clusters: int) -> NDArray[np.bool_]:
    """Return whether each cluster has one of ``points`` (p, 2) within R/8 of its disc, bool (clusters,)."""
    gaps = np.linalg.norm(points[:, None] - centres(clusters), axis=2) - 0.5
    return np.asarray((gaps <= SEPARATION / 8.0).any(axis=0))
