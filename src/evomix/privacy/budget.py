"""A privacy budget (ε, δ) and its exact decimal arithmetic.

Budgets are typed by people in decimal notation, so they are added as the decimals that were typed: ten
charges of 0.1 fill a budget of 1.0 and leave nothing. Basic composition (Dwork et al. 2006): ε and δ both
add up.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from evomix.core.errors import SpecError

LARGE_EPSILON: Final = 10.0
"""Above this ε a run is done, with a warning that it protects little."""

Exact = tuple[Fraction, Fraction]
"""ε and δ as rationals."""


@dataclass(frozen=True, slots=True)
class Budget:
    """An amount of privacy loss.

    Attributes:
        epsilon: ε, finite and not negative.
        delta: δ, finite and not negative.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        for name, value in (("epsilon", self.epsilon), ("delta", self.delta)):
            if not (math.isfinite(value) and value >= 0.0):
                raise SpecError(f"Expected {name} to be finite and not negative; found {name}={value!r}.")

    @classmethod
    def parse(cls, text: str) -> "Budget":
        """Return the budget written as ``"EPSILON:DELTA"``, such as ``"1.0:1e-6"``.

        Neither may be left out or zero: every run needs some of both, so that none would fit such a budget.

        Raises:
            SpecError: when it is not two plain decimal numbers with ε > 0 and 0 < δ < 1.

        >>> Budget.parse("1.0:1e-6")
        Budget(epsilon=1.0, delta=1e-06)
        """
        epsilon, _, delta = text.partition(":")
        budget: Budget | None = None
        try:
            budget = cls(_decimal(epsilon), _decimal(delta))
            budget.require_spendable()
        except (ValueError, SpecError):
            budget = None  # also one that was read but cannot be granted
        if budget is None or budget.delta == 0.0:
            raise SpecError(
                f"Expected a budget as EPSILON:DELTA with epsilon > 0 and 0 < delta < 1, such as 1.0:1e-6; "
                f"found budget={text!r}. No run fits a budget without delta."
            )
        return budget

    def require_spendable(self) -> None:
        """Refuse what cannot be asked or granted.

        Raises:
            SpecError: unless ε > 0 and 0 ≤ δ < 1.
        """
        if self.epsilon <= 0.0:
            raise SpecError(f"Expected epsilon > 0; found epsilon={self.epsilon!r}.")
        if self.delta >= 1.0:
            raise SpecError(f"Expected 0 <= delta < 1; found delta={self.delta!r}.")

    def exact(self) -> Exact:
        """Return ε and δ as the rationals that their shortest decimal notation denotes."""
        return Fraction(repr(float(self.epsilon))), Fraction(repr(float(self.delta)))

    def covers(self, spent: Exact) -> bool:
        """Return whether an exact total is within this budget in both coordinates."""
        epsilon, delta = self.exact()
        return spent[0] <= epsilon and spent[1] <= delta

    def minus(self, spent: Exact) -> "Budget":
        """Return what is left, nowhere below zero, rounded down so that it can itself be spent."""
        epsilon, delta = self.exact()
        return Budget(_down(epsilon - spent[0]), _down(delta - spent[1]))

    def __str__(self) -> str:
        return f"epsilon={self.epsilon!r} delta={self.delta!r}"


def total(budgets: Iterable[Budget]) -> Exact:
    """Return the exact sum by basic composition."""
    epsilon = delta = Fraction(0)
    for budget in budgets:
        exact = budget.exact()
        epsilon += exact[0]
        delta += exact[1]
    return epsilon, delta


def rounded_up(amount: Exact) -> Budget:
    """Return an exact total for display; never below it."""
    return Budget(_up(amount[0]), _up(amount[1]))


def _decimal(text: str) -> float:
    # float() would also take "1_0", " 1 " and "nan"; a budget is typed in plain ASCII decimals.
    if not text or set(text) - set("0123456789.eE+-"):
        raise ValueError
    return float(text)


def _down(value: Fraction) -> float:
    if value <= 0:
        return 0.0
    nearest = float(value)
    return nearest if Fraction(repr(nearest)) <= value else math.nextafter(nearest, 0.0)


def _up(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(repr(nearest)) >= value else math.nextafter(nearest, math.inf)
