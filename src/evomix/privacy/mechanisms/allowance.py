"""What each round of a run may cost when its mechanism is chosen only as the round comes.

The budget of a Rényi filter is divided into shares before the run begins. A round's noise may depend on everything
released before and on how many candidates there are, as long as its cost stays within its share. Proof:
docs/proofs/composition.md. Source: Feldman & Zrnic (2021).
"""

from collections.abc import Collection
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal

from evomix.core.arrays import FloatArray
from evomix.core.errors import BudgetExceeded, PrivacyError
from evomix.privacy.floor_search import FloorSearch
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.laplace import LaplaceHistogram
from evomix.privacy.mechanisms.linmix import uniform_mass
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.mechanisms.schedule import ACCOUNTS, Mechanism, accounted_round
from evomix.privacy.renyi import renyi_divergence
from evomix.privacy.renyi_filter import RenyiFilter
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, RoundShape

_BELOW: Final = 1.0 - 2.0**-50
"""A share is counted rounded down by this part; so is the most that a round may cost."""


def equal_shares(rounds: int) -> tuple[float, ...]:
    """Return one share of the budget for each round; together they do not exceed it."""
    share = 1.0 / rounds
    while Fraction(share) * rounds > 1:  # 1/rounds as a float may be above the fraction
        share *= 1.0 - 2.0**-53
    return (share,) * rounds


class Allowance:
    """The shares of a Rényi filter's budget, one a round; what the curator asks before it begins a round.

    Guarantee: the rounds it lets through, together with those that were begun and lost, are (ε, δ)-DP under replacing
    one private unit, however each was chosen. A round that was begun by an earlier, interrupted run counts with its
    whole share, whatever it did cost, so nothing about it has to be trusted.

    Attributes:
        mechanisms: empty, because none is fixed in advance.
        draws: draws of each round; 0 for a histogram.
        shares: share of the whole budget that each round may use.
        units: n.
        epsilon, delta: what all rounds spend together.
    """

    __slots__ = ("_filter", "delta", "draws", "epsilon", "shares", "units")

    accountant: ClassVar[str] = "renyi"
    mechanisms: ClassVar[tuple[Mechanism, ...]] = ()

    def __init__(
        self,
        epsilon: float,
        delta: float,
        *,
        units: int,
        draws: tuple[int, ...],
        shares: tuple[float, ...],
        order: float,
        begun: Collection[int] = (),
    ) -> None:
        """Divide the budget.

        Args:
            epsilon: ε of the whole run.
            delta: δ of the whole run.
            units: n, at least 0.
            draws: draws of each round; 0 for a histogram.
            shares: positive, at most 1 together; one a round.
            order: the order α > 1 of the filter, fixed before the run begins.
            begun: rounds that were begun earlier.

        Raises:
            PrivacyError: the shares exceed the budget, or do not belong to these rounds.
        """
        if not shares or len(shares) != len(draws) or min(draws) < 0 or not min(shares) > 0.0:
            raise PrivacyError("an allowance needs a positive share and a number of draws for each round")
        if sum(map(Fraction, shares)) > 1:
            raise PrivacyError("the shares of the rounds exceed the whole budget")
        self.epsilon, self.delta, self.units = epsilon, delta, units
        self.draws, self.shares = draws, shares
        self._filter = RenyiFilter(epsilon, delta, units=max(units, 1), order=order)
        for index in sorted(set(begun)):
            self._filter.forfeit(shares[index])

    @property
    def order(self) -> float:
        """The order α of the filter."""
        return self._filter.order

    def choose(
        self,
        round_index: int,
        name: str,
        *,
        candidates: int,
        public: FloatArray | None = None,
        proximity: float = 1.0,
    ) -> Mechanism:
        """Return the mechanism with the least noise that the round's share allows.

        Args:
            round_index: 0-based round.
            name: "linmix", "pubmix", "gaussian" or "laplace".
            candidates: how many candidates there are to vote for.
            public: float64 (candidates,), their shares of the public votes (pubmix).
            proximity: γ (pubmix).

        Raises:
            BudgetExceeded: nothing of the budget is left for the round.
        """
        if name == "pubmix" and candidates > 1:
            assert public is not None
            # The floor is chosen with the weight that it leads to; both rest on public numbers alone.
            floor = (
                FloorSearch(
                    public, proximity=proximity, weight=lambda floor: self._mixing(round_index, floor).mixing_weight
                )
                .best()
                .floor
            )
            return self._mixture(name, self._mixing(round_index, floor))
        if name in ("pubmix", "linmix"):
            return self._mixture(name, self._mixing(round_index, uniform_mass(candidates)))
        return self._histogram(round_index, "gaussian" if name == "gaussian" else "laplace")

    def mechanism_of(self, round_index: int, proposed: Mechanism | None = None) -> Mechanism:
        """Return the proposed mechanism if the round may use it; nothing is spent yet.

        Raises:
            PrivacyError: none was proposed, or it is calibrated for other units or draws.
            BudgetExceeded: it costs more than the round's share, or than what is left.
        """
        if proposed is None:
            raise PrivacyError(f"round {round_index} needs a mechanism that its share of the budget allows")
        if proposed.units != self.units:
            raise PrivacyError(
                f"the run is calibrated for units={self.units}; the mechanism has units={proposed.units}"
            )
        draws = self.draws[round_index]
        if not draws <= (proposed.draws if isinstance(proposed, Mixture) else 0):
            raise PrivacyError(f"round {round_index} draws {draws} times, which its mechanism does not account for")
        round_ = accounted_round(proposed, draws)
        most = self.shares[round_index] * self._filter.budget * _BELOW
        if not renyi_divergence(round_, self._filter.order) <= most or not self._filter.admits(round_):
            raise BudgetExceeded(
                f"the mechanism of round {round_index} has less noise than its share={self.shares[round_index]!r} of "
                "the run's budget allows; nothing was released"
            )
        return proposed

    def spend(self, round_index: int, mechanism: Mechanism) -> None:
        """Count the round; raises ``BudgetExceeded`` (and counts nothing) if it does not fit."""
        self._filter.spend(accounted_round(mechanism, self.draws[round_index]))

    def describe(self) -> dict[str, Any]:
        """Return the public constants of the run, fixed in advance; an allowance is rebuilt from them."""
        return {
            **({"draws": sum(self.draws)} if any(self.draws) else {}),
            "accountant": self.accountant,
            "accounting": ACCOUNTS[self.accountant],
            "order": self.order,
            "shares": list(self.shares),
        }

    def _mixing(self, round_index: int, floor: float) -> MixingRound:
        draws = self.draws[round_index]
        shape = RoundShape("mixing", draws=draws, floor=floor)
        round_ = self._filter.affordable(shape, self.shares[round_index])
        # Draws of noise alone cost nothing, so there is always something to release.
        return round_ if isinstance(round_, MixingRound) else MixingRound(max(self.units, 1), 1.0, draws, floor)

    def _histogram(self, round_index: int, kind: Literal["gaussian", "laplace"]) -> Mechanism:
        round_ = self._filter.affordable(RoundShape(kind), self.shares[round_index])
        if isinstance(round_, GaussianRound):
            return GaussianHistogram(round_.stddev, 1, self.units, self.epsilon, self.delta)
        if isinstance(round_, LaplaceRound):
            return LaplaceHistogram(round_.scale, 1, self.units, self.epsilon, self.delta)
        raise BudgetExceeded(f"nothing of the run's budget is left for round {round_index}")

    def _mixture(self, name: str, round_: MixingRound) -> Mixture:
        return Mixture(name, round_.mixing_weight, round_.floor, round_.draws, self.units, self.epsilon, self.delta)
