"""A small public world: points on a line that private units, fixed far from the start, vote for."""

import numpy as np

from evomix.core.release import Draws, NoisyVotes

PRIVATE = np.array([[7.0], [7.1], [7.2], [9.0]])


class LineGenerator:
    """Points on a line; variations are steps of at most ``scale``."""

    def random(self, size, rng):
        return rng.random((size, 1))

    def vary(self, parents, scale, rng):
        return parents + rng.uniform(-scale, scale, parents.shape)


class LineIndex:
    """Nearest point, ties to the lowest position."""

    def __init__(self, candidates):
        self.candidates = candidates

    def nearest(self, records):
        return np.abs(records[:, None, 0] - self.candidates[None, :, 0]).argmin(axis=1).astype(np.int64)


class LineEmbedder:
    """The distance on the line."""

    def index(self, candidates):
        return LineIndex(candidates)

    def vectors(self, candidates):
        return candidates


def votes_for(candidates):
    return np.bincount(LineIndex(candidates).nearest(PRIVATE), minlength=len(candidates))


def noisy_votes(_index, candidates):
    """A stand-in for the private side: exact votes, so that what follows can be foreseen."""
    return NoisyVotes(votes_for(candidates).astype(float), 0.0, len(PRIVATE))


def draws(_index, candidates):
    return Draws(25 * votes_for(candidates), 0.25, np.full(len(candidates), 1 / len(candidates)), len(PRIVATE))
