"""Histograms with additive integer noise: what the Gaussian and the Laplace mechanism share."""

from typing import Any, ClassVar, Protocol

from evomix.core.arrays import IntArray
from evomix.core.release import NoisyVotes


class HistogramMechanism(Protocol):
    """Adds noise to all votes of a round.

    Votes are integers: each private unit has ``LATTICE`` micro-votes in all, so one unit's change moves the vote
    vector by at most √2 (ℓ2) or 2 (ℓ1) units under replace-one.
    """

    name: ClassVar[str]

    @property
    def rounds(self) -> int:
        """Number of releases that are accounted for."""

    @property
    def units(self) -> int:
        """Number of private units n (public)."""

    def privatise(self, votes: IntArray) -> NoisyVotes:
        """Return the round's release; ``votes`` is int64 (d,) in micro-votes."""

    def describe(self) -> dict[str, Any]:
        """Return the public parameters for privacy.json."""
