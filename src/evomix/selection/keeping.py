"""A selection that loses no group of candidates: each keeps a parent, whatever noise its few votes drowned in.

For texts with a label: a class without candidates could never come back, and its private records would vote for others.
Post-processing; costs nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.core.protocols import Selection
from evomix.core.release import Draws, Release


@dataclass(frozen=True, slots=True)
class KeepingGroups:
    """Another selection, of which some parents give way to the best of groups that it left out.

    Attributes:
        selection: selects.
        groups: from candidates (d, …) to the group of each, int64 (d,).
    """

    selection: Selection
    groups: Callable[[Population], IntArray]

    def parents(self, release: Release, candidates: Population, size: int, rng: np.random.Generator) -> IntArray:
        """Return positions of ``size`` selected candidates, with one of each group as far as ``size`` allows."""
        chosen = self.selection.parents(release, candidates, size, rng).copy()
        groups = self.groups(candidates)
        votes = release.counts if isinstance(release, Draws) else release.votes
        for group in np.setdiff1d(groups, groups[chosen]):
            names, counts = np.unique(groups[chosen], return_counts=True)
            if counts.max() < 2:
                break  # no group can spare one
            members = np.flatnonzero(groups == group)
            spare = np.flatnonzero(groups[chosen] == names[counts.argmax()])[-1]
            chosen[spare] = members[votes[members].argmax()]
        return chosen

    def shares(self, release: Release, candidates: Population, size: int, rng: np.random.Generator) -> FloatArray:
        """Return the law of the final rows: that of the selection."""
        return self.selection.shares(release, candidates, size, rng)

    def describe(self, release: Release) -> Mapping[str, Any]:
        """Return what the selection tells."""
        return self.selection.describe(release)
