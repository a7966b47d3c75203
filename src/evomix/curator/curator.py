"""The curator: one release per round, charged before it is computed."""

from typing import NoReturn, Protocol

import numpy as np

from evomix.core.arrays import IntArray, Population
from evomix.core.errors import PrivacyError
from evomix.core.protocols import Embedder, NearestIndex, Panel
from evomix.core.release import Draws, NoisyVotes, Release
from evomix.curator.counting import tally_panel
from evomix.curator.guard import refuse_pickling, withheld
from evomix.curator.records import PrivateRecords
from evomix.curator.voting import draw_voters, tally_units, vote
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.mixture import Mixture, draw_noise
from evomix.privacy.mechanisms.schedule import Mechanism
from evomix.privacy.randomness import RandomSource


class RoundLedger(Protocol):
    """Durable record of the rounds that were begun."""

    def begin_round(self, round_index: int) -> None:
        """Record that a release is about to be computed; refuse a second time."""


class Account(Protocol):
    """What the releases of a run are covered by: a ``Schedule`` fixed in advance, or an ``Allowance``."""

    @property
    def units(self) -> int:
        """Number of private units n that are accounted for."""

    @property
    def draws(self) -> tuple[int, ...]:
        """Draws of each round of the whole run; as many entries as releases; 0 for a histogram."""

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """The mechanism of each round, where they are fixed in advance; else empty."""

    def mechanism_of(self, round_index: int, proposed: Mechanism | None = None) -> Mechanism:
        """Return the mechanism that the round may use; refuse a proposed one that is not covered."""

    def spend(self, round_index: int, mechanism: Mechanism) -> None:
        """Count the round as released."""


class Curator:
    """Holds the private records; answers with releases only.

    Guarantee: all releases of a run together are (ε, δ)-DP for the account's ε and δ, per private unit, under
    replace-one neighbours: candidates and noise weights, and with an allowance the mechanism, may depend on earlier
    releases. It computes at most one release per round and, for mixtures, exactly the planned number of draws.
    """

    def __init__(
        self,
        records: PrivateRecords,
        embedder: Embedder,
        account: Account,
        *,
        first_round: int,
        ledger: RoundLedger,
        source: RandomSource,
    ) -> None:
        """Prepare for the rounds from ``first_round`` on.

        Args:
            records: the private records.
            embedder: the public geometry of votes.
            account: the mechanism of each round, or what each may cost; covers the whole run.
            first_round: number of rounds that were begun earlier; their budget is spent.
            ledger: records each round before it is computed.
            source: private randomness (mixtures; histogram noise comes from OpenDP's own OS entropy).

        Raises:
            PrivacyError: the account is about another number of units.
        """
        if account.units != records.units:
            raise PrivacyError(
                f"the mechanism is calibrated for units={account.units}; the records have units={records.units}"
            )
        self._records = records
        self._embedder = embedder
        self._account = account
        self._next = first_round
        self._ledger = ledger
        self._source = source
        self._voters: dict[int, Population] = {}

    def __repr__(self) -> str:
        return "Curator(<withheld>)"

    def __reduce__(self) -> NoReturn:
        refuse_pickling("Curator")

    def release(
        self,
        round_index: int,
        candidates: Population,
        noise_weights: IntArray | None = None,
        mechanism: Mechanism | None = None,
    ) -> Release:
        """Let the private units vote for ``candidates`` and return the privatised votes.

        Args:
            round_index: 0-based; each round once, in order.
            candidates: public, (d, …), at least one.
            noise_weights: int64 (d,) integer weights of the noise distribution (mixtures only).
            mechanism: the round's mechanism, where the account leaves it open until now.

        Raises:
            PrivacyError: the round was begun before or is one too many, or a weight lies below the accounted floor.
            BudgetExceeded: the mechanism costs more than the round may; nothing was computed.
            PrivateRecordsFailure: records could not be read or voted; the charge stands.
        """
        self._check_turn(round_index)
        mechanism = self._account.mechanism_of(round_index, mechanism)
        if isinstance(mechanism, Mixture):
            if noise_weights is None or len(noise_weights) != len(candidates):
                raise PrivacyError("a mixture needs one noise weight per candidate")
            mechanism.check_weights(noise_weights)
        index = self._embedder.index(candidates)
        self._begin(round_index, mechanism)
        with withheld("computing a release"):
            if isinstance(mechanism, Mixture):
                assert noise_weights is not None
                return self._draw(mechanism, round_index, index, noise_weights)
            return mechanism.privatise(tally_units(index, self._records, len(candidates), mass=LATTICE))

    def count(self, round_index: int, panel: Panel) -> NoisyVotes:
        """Count the private units in the cells of several partitions at once and return the privatised counts.

        Every unit has a whole vote in each partition; the noise is that of one histogram times √(number of
        partitions), so the release costs what the round's mechanism is accounted for. Proof: docs/proofs/gaussian.md.

        Args:
            round_index: 0-based; each round once, in order, whether by this or by :meth:`release`.
            panel: public partitions, at least one; they may depend on earlier releases.

        Returns:
            The counts of all partitions, one after the other.

        Raises:
            PrivacyError: the round was begun before or is one too many, or its mechanism is not Gaussian.
            PrivateRecordsFailure: records could not be read or counted; the charge stands.
        """
        self._check_turn(round_index)
        mechanism = self._account.mechanism_of(round_index)
        sizes = panel.sizes
        if not isinstance(mechanism, GaussianHistogram) or not sizes:
            raise PrivacyError("counts of several partitions need Gaussian noise, and at least one partition")
        self._begin(round_index, mechanism)
        with withheld("computing a release"):
            counts = tally_panel(panel, sizes, self._records, mass=LATTICE)
            return mechanism.privatise(counts, blocks=len(sizes))

    def _check_turn(self, round_index: int) -> None:
        if round_index != self._next:
            raise PrivacyError(f"rounds are released once and in order; expected round {self._next}, got {round_index}")
        rounds = len(self._account.draws)
        if round_index >= rounds:
            raise PrivacyError(f"rounds={rounds} releases are accounted for; round {round_index} is one too many")

    def _begin(self, round_index: int, mechanism: Mechanism) -> None:
        """Write ahead: from here on the round counts as released, whatever happens."""
        self._ledger.begin_round(round_index)
        self._next = round_index + 1
        self._account.spend(round_index, mechanism)

    def _draw(self, mixture: Mixture, round_index: int, index: NearestIndex, weights: IntArray) -> Draws:
        if round_index not in self._voters:
            self._draw_voters(round_index, mixture)
        voters = self._voters.pop(round_index)  # voted: no longer needed
        counts = vote(index, voters, len(weights))
        noise = draw_noise(weights, self._account.draws[round_index] - len(voters), self._source)
        counts += np.bincount(noise, minlength=len(weights))
        return Draws(counts, mixture.mixing_weight, weights / int(weights.sum()), mixture.units)

    def _draw_voters(self, round_index: int, mixture: Mixture) -> None:
        """Draw the voters of every round to come whose share of private draws is known by now."""
        draws = self._account.draws
        later = enumerate(self._account.mechanisms[round_index + 1 :], start=round_index + 1)
        coming = {round_index: mixture} | {place: known for place, known in later if isinstance(known, Mixture)}
        sizes = [draws[place] for place in coming]
        voters = draw_voters(self._records, list(coming.values()), sizes, self._source)
        self._voters = dict(zip(coming, voters, strict=True))
