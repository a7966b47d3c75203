"""Generators of points for simulations: noise in a subspace at many scales, and steps along a curve."""

from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class SubspaceSteps:
    """One Gaussian variation of every parent at every scale, within a subspace of rank λ.

    A variation Z of y at scale s has mean y and covariance (s²/λ)·BᵀB, of trace s². So a record that differs from y
    within the subspace is reachable with effective rank λ exactly, with the anti-concentration of a normal variable.

    Attributes:
        basis: float64 (λ, d), orthonormal rows B.
        scales: s of each variation, in units of distance; a scale may come more than once.
    """

    basis: FloatArray
    scales: tuple[float, ...]

    def __call__(self, parents: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the ``parents`` (p, d) and their variations, float64 (p·(1 + number of scales), d)."""
        rank = len(self.basis)
        steps = [scale / rank**0.5 * rng.standard_normal((len(parents), rank)) @ self.basis for scale in self.scales]
        return np.concatenate([parents, *(parents + step for step in steps)])


@dataclass(frozen=True, slots=True)
class CurveSteps:
    """Variations along a curve of straight pieces: a point is known by its way from the curve's start.

    Attributes:
        corners: float64 (q, 2), the ends of the pieces, q ≥ 2, no two in a row equal.
        scale: standard deviation of a step along the curve.
        variations: of every parent.
    """

    corners: FloatArray
    scale: float
    variations: int

    @property
    def length(self) -> float:
        """The way from one end to the other."""
        return float(self._ways()[-1])

    def __call__(self, parents: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the ``parents`` (p, 1), ways along the curve, and their variations; steps stop at the ends."""
        steps = self.scale * rng.standard_normal((self.variations, len(parents), 1))
        varied = np.clip(parents + steps, 0.0, self.length).reshape(-1, 1)
        return np.concatenate([parents, varied])

    def in_plane(self, ways: FloatArray) -> FloatArray:
        """Return where the points at ``ways`` (p, 1) lie in the plane, float64 (p, 2)."""
        along = self._ways()
        axes = [np.interp(ways[:, 0], along, self.corners[:, axis]) for axis in range(2)]
        return np.stack(axes, axis=1)

    def _ways(self) -> FloatArray:
        pieces = np.linalg.norm(np.diff(self.corners, axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(pieces)])


def subspace(rank: int, dimension: int, rng: np.random.Generator) -> FloatArray:
    """Return an orthonormal basis of a random subspace, float64 (rank, dimension)."""
    return np.asarray(np.linalg.qr(rng.standard_normal((dimension, rank)))[0].T)


def ball(count: int, basis: FloatArray, radius: float, rng: np.random.Generator) -> FloatArray:
    """Return uniform points of a ball around 0 in the span of ``basis`` (k, d), float64 (count, d)."""
    rank = len(basis)
    directions = rng.standard_normal((count, rank))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.asarray(radius * rng.random((count, 1)) ** (1.0 / rank) * directions @ basis)
