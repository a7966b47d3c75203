"""Candidates grouped by public mass, so that a problem over d candidates becomes one over its classes.

Candidates with equal masses may be assumed to get equal noise, so a class of equals loses nothing, and a set is
told by how many of each class it holds. Where there are too many different masses, a class holds similar ones: a set
then stands for the *family* of its rotations within each class, in which every member of a class is equally often, and
whose mean overflow is computed exactly; so bounds remain bounds, and only the gap shows the difference.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.privacy.floor_raising import proportional_fill

_GOLDEN = (5.0**0.5 - 1.0) / 2.0


@dataclass(frozen=True, slots=True)
class MassClasses:
    """Classes by rising public mass.

    Attributes:
        mass: float64 (c,), mean public mass in a class.
        count: int64 (c,), its candidates.
        members: float64 (d,), public masses, rising, class by class.
        position: int64 (d,), where in ``members`` each candidate stands.
        exact: whether all masses of a class are equal.
    """

    mass: FloatArray
    count: IntArray
    members: FloatArray
    position: IntArray
    exact: bool

    @classmethod
    def of(cls, public: FloatArray, *, most: int, similar: int) -> "MassClasses":
        """Group by equal masses if that makes at most ``most`` classes, else into about ``similar`` classes."""
        order = np.argsort(public, kind="stable")
        members = public[order]
        position = np.empty(order.size, dtype=np.int64)
        position[order] = np.arange(order.size)
        starts = np.flatnonzero(np.append(True, members[1:] > members[:-1]))
        exact = starts.size <= most
        if not exact:
            starts = _similar_starts(members, similar)
        count = np.diff(np.append(starts, members.size))
        mass = np.maximum(np.add.reduceat(members, starts) / count, members[starts])
        return cls(members[starts] if exact else mass, count, members, position, exact)

    def overflow(self, counts: IntArray, *, proximity: float) -> float:
        """Return ``max(A(R) − γ, 0)`` for a set with these counts, or its mean over the rotations."""
        if self.exact:
            return max(float(counts @ self.mass) - proximity, 0.0)
        whole = (counts == 0) | (counts == self.count)
        ends = np.cumsum(self.count)
        fixed = float((np.add.reduceat(self.members, ends - self.count) * (counts > 0))[whole].sum())
        turns, changes, start = [np.zeros(1)], [np.zeros(1)], fixed
        for g in np.flatnonzero(~whole):
            ring = self.members[ends[g] - self.count[g] : ends[g]]
            first, turn, change = _window_sums(ring, int(counts[g]), float(g * _GOLDEN % 1.0))
            start += first
            turns.append(turn)
            changes.append(change)
        turn, change = np.concatenate(turns), np.concatenate(changes)
        order = np.argsort(turn, kind="stable")
        lengths = np.diff(np.append(turn[order], 1.0))
        return float(lengths @ np.maximum(start + np.cumsum(change[order]) - proximity, 0.0))

    def arcs(self, base: NDArray[np.bool_], *, proximity: float, number: int) -> list[IntArray]:
        """Return sets that hold the ``base`` classes and an arc of the other candidates, all laid on a circle.

        The arcs fill what γ leaves; their starts are ``number`` equal steps apart. None if there is nothing to fill.
        """
        label = np.repeat(np.arange(self.count.size), self.count)
        other = ~base[label]
        masses, label = self.members[other], label[other]
        total, room = float(masses.sum()), proximity - float((self.mass * self.count)[base].sum())
        if room <= 0.0 or room >= total:
            return []
        middle = np.cumsum(masses) - masses / 2.0
        held = np.where(base, self.count, 0)
        covered = [label[(middle - start) % total < room] for start in np.arange(number) / number * total]
        return [held + np.bincount(arc, minlength=self.count.size) for arc in covered]

    def expand(self, noise: FloatArray, *, floor: float) -> FloatArray:
        """Return the distribution, float64 (d,), that gives each class its noise, within a class in proportion to A."""
        spread = np.repeat(noise, self.count)
        if not self.exact:
            mean = np.repeat(self.mass, self.count)
            spread *= np.divide(self.members, mean, out=np.ones(mean.size), where=mean > 0.0)
            spread = proportional_fill(spread / spread.sum(), floor=floor)
        return spread[self.position]

    def means(self, noise: FloatArray) -> FloatArray:
        """Return the mean of a distribution, float64 (d,), in each class."""
        ordered = np.empty(noise.size)
        ordered[self.position] = noise
        return np.add.reduceat(ordered, np.cumsum(self.count) - self.count) / self.count


def _similar_starts(members: FloatArray, similar: int) -> NDArray[np.intp]:
    """Cut the rising masses where mass held, plus the logarithm of the mass, pass equal steps."""
    least = 1e-3 / members.size  # what is smaller weighs nothing together
    logs = np.log(np.maximum(members, least))
    scale = np.cumsum(members) / members.sum() + (logs - logs[0]) / max(float(logs[-1] - logs[0]), 1e-9)
    step = np.floor(scale * (similar / 2.0))
    return np.flatnonzero(np.append(True, step[1:] > step[:-1]))


def _window_sums(ring: FloatArray, width: int, phase: float) -> tuple[float, FloatArray, FloatArray]:
    """Return the sum of ``width`` neighbours on a ring, and when (turn in [0, 1)) and by how much it changes."""
    size = ring.size
    turned = (np.arange(size) + phase) / size  # at turn (k+phase)/size the window starts at k+1, before at 0
    gains = np.roll(ring, -width) - ring
    return float(ring[:width].sum()), turned, gains
