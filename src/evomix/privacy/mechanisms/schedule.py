"""The mechanisms of a whole run, one a round, and the account that covers them together.

Guarantee of a schedule that exists: all its releases together are (ε, δ)-DP under replacing one private unit, because
it is certified when it is built. Proofs: docs/proofs/mixing.md (draws), docs/proofs/gaussian.md,
docs/proofs/laplace.md, docs/proofs/composition.md (rounds that differ).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from evomix.core.errors import PrivacyError
from evomix.privacy.calibration import delta as mixing_delta
from evomix.privacy.composition import composed_delta
from evomix.privacy.gaussian_accounting import gaussian_delta
from evomix.privacy.laplace_accounting import laplace_delta
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.laplace import LaplaceHistogram
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, Round

Mechanism: TypeAlias = Mixture | GaussianHistogram | LaplaceHistogram

ACCOUNTS: Final = {
    "draws": "exact divergence of the dominating three-outcome pair, draws as the budget",
    "gaussian": "analytic Gaussian over all rounds, corrected for the lattice",
    "laplace": "optimal composition of pure rounds",
    "pld": "numerical composition of the privacy loss of every round, rounded up",
    "renyi": "Rényi filter of one order: each round's noise is chosen when it comes, within its share of the budget",
}
"""The accounts, and each in words."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The mechanisms of a run whose parameters are all fixed before a record votes.

    Attributes:
        accountant: "draws", "gaussian", "laplace" or "pld".
        mechanisms: one a round; the same object throughout where one account counts draws or rounds.
        draws: draws of each round; 0 for a histogram.
        epsilon, delta: what all rounds spend together (replace-one neighbours).

    Raises:
        PrivacyError: on construction, when the releases are not covered by the account, or do not meet (ε, δ).
    """

    accountant: str
    mechanisms: tuple[Mechanism, ...]
    draws: tuple[int, ...]
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """Certify the schedule."""
        self._check_parts()
        spent = self._spent()
        if not spent <= self.delta:  # nan is no certificate
            raise PrivacyError(
                f"the rounds do not meet the run's budget of epsilon={self.epsilon!r}, delta={self.delta!r}: together "
                "they would spend more. Start a new run"
            )

    @property
    def units(self) -> int:
        """Number of private units n (public)."""
        return self.mechanisms[0].units

    def mechanism_of(self, round_index: int, proposed: Mechanism | None = None) -> Mechanism:
        """Return the mechanism of a round; there is nothing to propose here.

        Raises:
            PrivacyError: another mechanism was proposed.
        """
        if proposed is not None and proposed != self.mechanisms[round_index]:
            raise PrivacyError(f"the mechanism of round {round_index} was fixed in advance; found another one")
        return self.mechanisms[round_index]

    def spend(self, round_index: int, mechanism: Mechanism) -> None:
        """Do nothing: the whole run was accounted for in advance."""

    def describe(self) -> dict[str, Any]:
        """Return the public parameters for privacy.json; a figure that rounds do not share is ``None``.

        :func:`schedule_of` rebuilds the schedule from its ``releases``.
        """
        common = common_figures([mechanism.describe() for mechanism in self.mechanisms])
        return {
            **common,
            **({"draws": sum(self.draws)} if any(self.draws) else {}),
            "accountant": self.accountant,
            "accounting": ACCOUNTS[self.accountant],
            "releases": [release_of(*pair) for pair in zip(self.mechanisms, self.draws, strict=True)],
        }

    def _check_parts(self) -> None:
        """Refuse parts that do not belong together."""
        if not self.mechanisms or len(self.draws) != len(self.mechanisms):
            raise PrivacyError(
                f"a schedule needs a mechanism and a number of draws for each round; found "
                f"{len(self.mechanisms)} mechanisms and {len(self.draws)} numbers of draws"
            )
        if len({mechanism.units for mechanism in self.mechanisms}) > 1:
            raise PrivacyError("all rounds must be calibrated for one number of units")
        for mechanism, draws in zip(self.mechanisms, self.draws, strict=True):
            if not 0 <= draws <= (mechanism.draws if isinstance(mechanism, Mixture) else 0):
                raise PrivacyError(f"a round draws {draws} times, which is not what its mechanism accounts for")
        if self.accountant in ("draws", "gaussian", "laplace"):
            self._check_one_account()
        elif self.accountant != "pld":
            raise PrivacyError(f"expected an account of a schedule; found accountant={self.accountant!r}")

    def _check_one_account(self) -> None:
        """Refuse rounds that an exact account does not cover."""
        kinds = {"draws": Mixture, "gaussian": GaussianHistogram, "laplace": LaplaceHistogram}
        first, total = self.mechanisms[0], sum(self.draws)
        for mechanism in self.mechanisms:
            if not isinstance(mechanism, kinds[self.accountant]):
                raise PrivacyError(f"accountant={self.accountant!r} does not cover mechanism={mechanism.name!r}")
            if isinstance(mechanism, Mixture) and isinstance(first, Mixture):
                if mechanism.mixing_weight != first.mixing_weight:
                    raise PrivacyError("draws are counted under one mixing weight; the rounds have several")
                if total > mechanism.draws:
                    raise PrivacyError(f"{total} draws were planned but draws={mechanism.draws} are accounted for")
            elif isinstance(mechanism, LaplaceHistogram) and mechanism != first:
                raise PrivacyError("the rounds of a histogram are counted under one noise; the rounds have several")
            elif not isinstance(mechanism, Mixture) and len(self.mechanisms) > mechanism.rounds:
                raise PrivacyError(
                    f"{len(self.mechanisms)} rounds were planned but rounds={mechanism.rounds} are accounted for"
                )

    def _spent(self) -> float:
        """Return an upper bound on δ(ε) of all releases, by the account that calibrated them."""
        first, rounds = self.mechanisms[0], len(self.mechanisms)
        if self.accountant == "draws":
            mixtures = [mechanism for mechanism in self.mechanisms if isinstance(mechanism, Mixture)]
            return mixing_delta(
                self.epsilon,
                mixing_weight=mixtures[0].mixing_weight,
                n=max(self.units, 1),
                draws=sum(self.draws),
                floor=min(mixture.floor for mixture in mixtures),
            )
        if self.accountant == "gaussian":
            spreads = [one.stddev for one in self.mechanisms if isinstance(one, GaussianHistogram)]
            return gaussian_delta(self.epsilon, stddev=spreads, adjacency="replace-one")
        if self.accountant == "laplace" and isinstance(first, LaplaceHistogram):
            return laplace_delta(self.epsilon, scale=first.scale, rounds=rounds, adjacency="replace-one")
        parts = [accounted_round(*pair) for pair in zip(self.mechanisms, self.draws, strict=True)]
        spent = composed_delta(self.epsilon, parts)
        # An exact account, where one happens to apply, may differ from what calibrated the rounds in its last digits.
        return spent if spent <= self.delta else composed_delta(self.epsilon, parts, accountant="pld")


def accounted_round(mechanism: Mechanism, draws: int) -> Round:
    """Return what one release of ``mechanism`` is accounted as; with a mixture, of ``draws`` draws."""
    if isinstance(mechanism, Mixture):
        return MixingRound(max(mechanism.units, 1), mechanism.mixing_weight, draws, mechanism.floor)
    if isinstance(mechanism, GaussianHistogram):
        return GaussianRound(mechanism.stddev)
    return LaplaceRound(mechanism.scale)


def release_of(mechanism: Mechanism, draws: int) -> dict[str, Any]:
    """Return the public parameters of one release."""
    if isinstance(mechanism, Mixture):
        return {
            "mechanism": mechanism.name,
            "draws": draws,
            "mixing_weight": mechanism.mixing_weight,
            "floor": mechanism.floor,
        }
    if isinstance(mechanism, GaussianHistogram):
        return {"mechanism": mechanism.name, "stddev": mechanism.stddev}
    return {"mechanism": mechanism.name, "scale": mechanism.scale}


def schedule_of(
    releases: Sequence[Mapping[str, Any]], *, accountant: str, units: int, epsilon: float, delta: float
) -> Schedule:
    """Return the schedule with these releases, certified anew.

    Args:
        releases: the public parameters of each round, as :func:`release_of` gives them.
        accountant: the account that covers them.
        units: n.
        epsilon: ε of all rounds.
        delta: δ of all rounds.

    Raises:
        KeyError, TypeError, ValueError: a parameter is missing or is no number.
        PrivacyError: as :class:`Schedule`.
    """
    draws = tuple(int(release.get("draws", 0)) for release in releases)
    total, rounds = (sum(draws), len(draws)) if accountant != "pld" else (None, 1)
    made: list[Mechanism] = []
    for release, count in zip(releases, draws, strict=True):
        name = str(release["mechanism"])
        mechanism: Mechanism
        if name == "gaussian":
            mechanism = GaussianHistogram(float(release["stddev"]), rounds, units, epsilon, delta)
        elif name == "laplace":
            mechanism = LaplaceHistogram(float(release["scale"]), rounds, units, epsilon, delta)
        else:
            weight, floor = float(release["mixing_weight"]), float(release["floor"])
            mechanism = Mixture(name, weight, floor, count if total is None else total, units, epsilon, delta)
        made.append(mechanism)
    return Schedule(accountant, tuple(made), draws, epsilon, delta)


def common_figures(releases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of releases by name; one that they do not share is ``None``.

    >>> common_figures([{"mixing_weight": 0.5, "floor": 0.1}, {"mixing_weight": 0.25, "floor": 0.1}])
    {'mixing_weight': None, 'floor': 0.1}
    """
    names = dict.fromkeys(name for figures in releases for name in figures)
    return {
        name: releases[0].get(name) if all(one.get(name) == releases[0].get(name) for one in releases) else None
        for name in names
    }
