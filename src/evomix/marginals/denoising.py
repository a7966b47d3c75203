"""What a release says of a marginal beside what was expected; for ordered columns from coarse to fine."""

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.release import NoisyVotes

Estimate: TypeAlias = Callable[[NoisyVotes], FloatArray]
"""Returns the estimated shares of a release, float64 (d,), a distribution; leans on its prior."""

FIRST_CELLS: Final = 8
"""Cells of the first level."""
COARSE_CELLS: Final = 64
"""Cells that an ordered column of more than twice as many is also counted in: sums of fine counts hold much noise."""


def denoised(release: NoisyVotes, prior: FloatArray, estimate: Estimate) -> FloatArray:
    """Return the shares of a block's cells, float64 (cells,), a distribution.

    Args:
        release: noisy counts of the cells.
        prior: float64 (cells,), what was expected.
        estimate: of a release with that prior.
    """
    expected = prior if prior.sum() > 0.0 else np.ones(len(prior))
    return estimate(NoisyVotes(release.votes, release.stddev, release.units, expected / expected.sum()))


def leaning(release: NoisyVotes, prior: FloatArray, estimate: Estimate) -> FloatArray:
    """Return signed shares between what was released and the estimate, float64 (cells,), about 1 together.

    The estimate leaves out what is small and everywhere, the release keeps all noise. The weight of the release is the
    part of its distance from what was expected that noise does not explain (the factor of James and Stein 1961): where
    nothing but noise is to be seen, nothing pulls at rows that were right.

    Args:
        release: noisy counts of the cells.
        prior: float64 (cells,), what was expected.
        estimate: of a release with that prior.
    """
    shares = release.shares()
    distance = float(((shares - prior) ** 2).sum())
    weight = max(0.0, 1.0 - len(shares) * release.spread**2 / distance) if distance > 0.0 else 0.0
    return np.asarray(weight * shares + (1.0 - weight) * denoised(release, prior, estimate))


def coarse_cells(size: int) -> IntArray | None:
    """Return the coarse cell of each code of an ordered column, int64 (size,); None where its codes are few enough."""
    return np.arange(size) * COARSE_CELLS // size if size > 2 * COARSE_CELLS else None


def denoised_by_levels(
    fine: NoisyVotes, coarse: NoisyVotes | None, prior: FloatArray, estimate: Estimate
) -> FloatArray:
    """Return the shares of an ordered column's codes, float64 (codes,), a distribution.

    A fine count is mostly noise, but sums of neighbouring ones say more. So shares are estimated on few cells first,
    and each level is the prior of the next one, which has twice as many: where the fine counts say nothing, a cell
    keeps its part of its parent.

    Args:
        fine: noisy counts of the codes, in order.
        coarse: those of :func:`coarse_cells`, where there are any.
        prior: float64 (codes,), what was expected.
        estimate: of a release with a prior.
    """
    size = len(prior)
    expected = prior / prior.sum()
    groups_of = coarse_cells(size)
    parents: IntArray = np.zeros(size, np.int64)
    known = np.ones(1)
    for cells in _levels(size):
        if groups_of is not None and cells <= COARSE_CELLS:
            groups = groups_of * cells // COARSE_CELLS
        else:
            groups = np.arange(size) * cells // size
        level = _summed(fine, groups, cells)
        if groups_of is not None and coarse is not None and cells <= COARSE_CELLS:
            level = _combined(level, _summed(coarse, np.arange(COARSE_CELLS) * cells // COARSE_CELLS, cells))
        known = denoised(level, _handed_down(expected, groups, parents, known, cells), estimate)
        parents = groups
    return known


def _levels(size: int) -> list[int]:
    found = []
    cells = FIRST_CELLS
    while cells < size:
        found.append(cells)
        cells *= 2
    return [*found, size]


def _summed(release: NoisyVotes, groups: IntArray, cells: int) -> NoisyVotes:
    """Return the counts of groups of cells; their noise is taken as equal, though groups may differ by a cell."""
    votes = np.bincount(groups, release.votes, minlength=cells).astype(np.float64)
    return NoisyVotes(votes, release.stddev * float(np.sqrt(len(groups) / cells)), release.units)


def _combined(one: NoisyVotes, other: NoisyVotes) -> NoisyVotes:
    """Return the mean of two releases of the same counts, each weighted by the inverse of its variance."""
    if not (one.stddev > 0.0 and other.stddev > 0.0):
        return one if one.stddev <= other.stddev else other
    weights = np.array([one.stddev, other.stddev]) ** -2.0
    votes = (weights[0] * one.votes + weights[1] * other.votes) / weights.sum()
    return NoisyVotes(votes, float(weights.sum() ** -0.5), one.units)


def _handed_down(
    expected: FloatArray, groups: IntArray, parents: IntArray, known: FloatArray, cells: int
) -> FloatArray:
    """Return each group's part of its parent's share, in the proportions that were expected; even where none was."""
    parent = np.zeros(cells, np.int64)
    parent[groups] = parents
    own = np.bincount(groups, expected, minlength=cells)
    whole = np.bincount(parent, own, minlength=len(known))[parent]
    even = 1.0 / np.bincount(parent, minlength=len(known))[parent]
    return np.asarray(np.divide(own, whole, out=even, where=whole > 0.0) * known[parent])
