"""The ways to select points by noisy votes that the figures compare. Post-processing; costs nothing.

All of them see the same threshold τ = 2σ, the product's choice, so that none gains by a threshold alone; the ranking
needs none, because it takes the largest counts.
"""

from typing import Final, Protocol

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.selection.gape import gape as gape_positions
from evomix.selection.projection import project
from evomix.selection.radius import cluster_radius
from evomix.selection.subsample import draw_systematic
from evomix.selection.threshold import NOISE_MULTIPLE


class PointSelection(Protocol):
    """Selects points by noisy votes."""

    def __call__(
        self, points: FloatArray, votes: FloatArray, *, size: int, units: int, stddev: float, rng: np.random.Generator
    ) -> IntArray:
        """Return positions of at most ``size`` selected points, at least one, repeats allowed.

        Args:
            points: float64 (c, k), distinct, c ≥ 1.
            votes: float64 (c,), noisy counts.
            size: most points to keep, at least 1.
            units: number of records n, public.
            stddev: σ of the noise; 0 for none.
            rng: public randomness.
        """


def rank(
    points: FloatArray, votes: FloatArray, *, size: int, units: int, stddev: float, rng: np.random.Generator
) -> IntArray:
    """Return the positions of the ``size`` largest counts (Xie et al. 2024)."""
    del points, units, stddev, rng
    return np.argsort(-votes, kind="stable")[:size].astype(np.int64)


def subsample(
    points: FloatArray, votes: FloatArray, *, size: int, units: int, stddev: float, rng: np.random.Generator
) -> IntArray:
    """Return ``size`` independent draws in proportion to the counts above the threshold (Lin et al. 2024)."""
    del points, units
    shares = _shares(votes, stddev)
    return rng.choice(len(shares), size, p=shares).astype(np.int64)


def subsample_evenly(
    points: FloatArray, votes: FloatArray, *, size: int, units: int, stddev: float, rng: np.random.Generator
) -> IntArray:
    """Return ``size`` systematic draws, as the product has them: no point's number is off by one or more."""
    del points, units
    return draw_systematic(_shares(votes, stddev), size, rng)


def gape(
    points: FloatArray, votes: FloatArray, *, size: int, units: int, stddev: float, rng: np.random.Generator
) -> IntArray:
    """Return GAPE's choice, with R found from the candidates; where no count passes the threshold, the ranking's."""
    threshold = NOISE_MULTIPLE * stddev
    if not (votes > threshold).any():
        return rank(points, votes, size=size, units=units, stddev=stddev, rng=rng)
    radius = cluster_radius(points, size, rng)
    chosen: IntArray = gape_positions(points, votes, size=size, radius=radius, threshold=threshold, rng=rng)
    return chosen


def projection(
    points: FloatArray, votes: FloatArray, *, size: int, units: int, stddev: float, rng: np.random.Generator
) -> IntArray:
    """Return ``size`` independent draws from the bounded-Lipschitz projection of the votes (González et al. 2025)."""
    del stddev
    return rng.choice(len(points), size, p=project(points, votes, units=units)).astype(np.int64)


def _shares(votes: FloatArray, stddev: float) -> FloatArray:
    """Return the counts above the threshold as shares; where none is, those above 0; where none is, equal ones."""
    for threshold in (NOISE_MULTIPLE * stddev, 0.0):
        kept = np.where(votes > threshold, votes, 0.0)
        if kept.any():
            return np.asarray(kept / kept.sum())
    return np.full(len(votes), 1.0 / len(votes))


SELECTIONS: Final[dict[str, PointSelection]] = {
    "rank": rank,
    "subsample": subsample,
    "subsample, even": subsample_evenly,
    "GAPE": gape,
}
"""What the figures compare, by the names that their plots use; the projection is apart, in Theorem 3.4."""
