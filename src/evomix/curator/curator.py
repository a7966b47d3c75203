"""The curator: one release per round, charged before it is computed."""

from collections.abc import Sequence
from typing import NoReturn, Protocol

import numpy as np

from evomix.core.arrays import IntArray, Population
from evomix.core.errors import PrivacyError
from evomix.core.protocols import Embedder, NearestIndex
from evomix.core.release import Draws, Release
from evomix.curator.guard import refuse_pickling, withheld
from evomix.curator.records import PrivateRecords
from evomix.curator.voting import draw_voters, tally_units, vote
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.mechanisms.histogram import HistogramMechanism
from evomix.privacy.mechanisms.mixture import Mixture, draw_noise
from evomix.privacy.randomness import RandomSource


class RoundLedger(Protocol):
    """Durable record of the rounds that were begun."""

    def begin_round(self, round_index: int) -> None:
        """Record that a release is about to be computed; refuse a second time."""


class Curator:
    """Holds the private records; answers with releases only.

    Guarantee: all releases of a run together are (ε, δ)-DP for the mechanism's ε and δ, per private unit, under
    replace-one neighbours: candidates and noise weights may depend on earlier releases. It computes at most one
    release per round and, for mixtures, exactly the planned number of draws.
    """

    def __init__(
        self,
        records: PrivateRecords,
        embedder: Embedder,
        mechanism: Mixture | HistogramMechanism,
        *,
        draws: Sequence[int],
        first_round: int,
        ledger: RoundLedger,
        source: RandomSource,
    ) -> None:
        """Prepare for the rounds from ``first_round`` on.

        Args:
            records: the private records.
            embedder: the public geometry of votes.
            mechanism: calibrated for the whole run.
            draws: draws of each round of the whole run (mixtures; ignored for histograms).
            first_round: number of rounds that were begun earlier; their budget is spent.
            ledger: records each round before it is computed.
            source: private randomness (mixtures; histogram noise comes from OpenDP's own OS entropy).
        """
        if mechanism.units != records.units:
            raise PrivacyError(
                f"the mechanism is calibrated for units={mechanism.units}; the records have units={records.units}"
            )
        if isinstance(mechanism, Mixture) and (sum(draws) > mechanism.draws or min(draws, default=0) < 0):
            raise PrivacyError(f"{sum(draws)} draws were planned but draws={mechanism.draws} are accounted for")
        self._records = records
        self._embedder = embedder
        self._mechanism = mechanism
        self._draws = tuple(draws)
        self._next = first_round
        self._first = first_round
        self._ledger = ledger
        self._source = source
        self._voters: list[Population] | None = None

    def __repr__(self) -> str:
        return "Curator(<withheld>)"

    def __reduce__(self) -> NoReturn:
        refuse_pickling("Curator")

    def release(self, round_index: int, candidates: Population, noise_weights: IntArray | None = None) -> Release:
        """Let the private units vote for ``candidates`` and return the privatised votes.

        Args:
            round_index: 0-based; each round once, in order.
            candidates: public, (d, …), at least one.
            noise_weights: int64 (d,) integer weights of the noise distribution (mixtures only).

        Raises:
            PrivacyError: the round was begun before or is one too many, or a weight lies below the accounted floor.
            PrivateRecordsFailure: records could not be read or voted; the charge stands.
        """
        if round_index != self._next:
            raise PrivacyError(f"rounds are released once and in order; expected round {self._next}, got {round_index}")
        mechanism = self._mechanism
        rounds = len(self._draws) if isinstance(mechanism, Mixture) else mechanism.rounds
        if round_index >= rounds:
            raise PrivacyError(f"rounds={rounds} releases are accounted for; round {round_index} is one too many")
        if isinstance(mechanism, Mixture):
            if noise_weights is None or len(noise_weights) != len(candidates):
                raise PrivacyError("a mixture needs one noise weight per candidate")
            mechanism.check_weights(noise_weights)
        index = self._embedder.index(candidates)
        self._begin(round_index)
        with withheld("computing a release"):
            if isinstance(mechanism, Mixture):
                assert noise_weights is not None
                return self._draw(mechanism, round_index, index, noise_weights)
            return mechanism.privatise(tally_units(index, self._records, len(candidates), mass=LATTICE))

    def _begin(self, round_index: int) -> None:
        """Write ahead: from here on the round counts as released, whatever happens."""
        self._ledger.begin_round(round_index)
        self._next = round_index + 1

    def _draw(self, mixture: Mixture, round_index: int, index: NearestIndex, weights: IntArray) -> Draws:
        if self._voters is None:
            self._voters = draw_voters(self._records, mixture, self._draws[self._first :], self._source)
        voters = self._voters[round_index - self._first]
        self._voters[round_index - self._first] = voters[:0]  # voted: no longer needed
        counts = vote(index, voters, len(weights))
        noise = draw_noise(weights, self._draws[round_index] - len(voters), self._source)
        counts += np.bincount(noise, minlength=len(weights))
        return Draws(counts, mixture.mixing_weight, weights / int(weights.sum()), mixture.units)
