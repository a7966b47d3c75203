"""Subsample: draw parents in proportion to their votes (Lin et al. 2024)."""

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.release import Release
from evomix.selection.denoising import Denoising, shrunk
from evomix.selection.shares import vote_shares


def draw_systematic(shares: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Draw ``size`` positions so that each comes up ``size·share`` times, rounded up or down at random.

    Each draw has the law of an independent one, but counts vary by less than one: no mass is lost to luck. Nothing
    without a share is drawn. The result is in random order.
    """
    ends = np.cumsum(shares)
    points = (rng.random() + np.arange(size)) / size * ends[-1]
    # The last point may round up to the end itself, where the search would leave the range.
    positions = np.minimum(np.searchsorted(ends, points, side="right"), np.flatnonzero(shares)[-1])
    return rng.permutation(positions).astype(np.int64)


def subsample(release: Release, size: int, rng: np.random.Generator, *, denoise: Denoising = shrunk) -> IntArray:
    """Return ``size`` positions drawn in proportion to the estimated vote shares, repeats included.

    Post-processing; costs nothing. Source: Lin et al. (2024), with the threshold chosen by projection on the
    simplex instead of by hand, and with the known noise component of draws taken out where that helps.
    """
    return draw_systematic(vote_shares(release, denoise), size, rng)
