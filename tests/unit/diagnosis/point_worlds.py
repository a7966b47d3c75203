"""Generators of points whose covariance is known, and the curve of Example 3.3."""

import numpy as np


class Subspace:
    """Normal variations of total variance scale², evenly in the span of orthonormal rows."""

    def __init__(self, basis):
        self.basis = np.asarray(basis, dtype=np.float64)

    def random(self, size, rng):
        return rng.standard_normal((size, len(self.basis))) @ self.basis

    def vary(self, parents, scale, rng):
        rank = len(self.basis)
        return parents + scale / rank**0.5 * rng.standard_normal((len(parents), rank)) @ self.basis


class Even:
    """Normal variations of total variance scale², even over all coordinates."""

    def vary(self, parents, scale, rng):
        return parents + scale / parents.shape[1] ** 0.5 * rng.standard_normal(parents.shape)


class Curve:
    """Steps along straight pieces; a record is its way from the start. ``plane`` gives its points."""

    corners = np.array([[0, 2], [0, 0], [1, 0], [1, 2]], dtype=np.float64)
    ways = np.array([0.0, 2.0, 3.0, 5.0])

    def random(self, size, rng):
        return rng.uniform(0.0, 5.0, (size, 1))

    def vary(self, parents, scale, rng):
        return np.clip(parents + 0.4 * scale * rng.standard_normal(parents.shape), 0.0, 5.0)

    def plane(self, records):
        return np.stack([np.interp(records[:, 0], self.ways, axis) for axis in self.corners.T], axis=1)


def subspace(rank, dimension, *, seed=0):
    rows = np.random.default_rng(seed).standard_normal((dimension, rank))
    return Subspace(np.linalg.qr(rows)[0].T)
