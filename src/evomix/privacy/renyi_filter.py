"""A Rényi filter: the parameters of a round may be chosen when it comes, within one budget.

At one order α, fixed before the first release, a round may be anything whose D_α fits what is left of

    ρ = ε + (ln δ − ln((1/α)(1 − 1/α)^{α−1}))/(α − 1),

so mechanism, noise, draws and floor may all depend on what was released before. The whole run then is (ε, δ)-private
(Feldman & Zrnic 2021): e^{(α−1)(losses − costs)} is a supermartingale and the costs never pass ρ. It has to be *one*
order: which of several orders is the best turns out during the run, and this proof does not cover choosing then.
Proof: docs/proofs/composition.md.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from evomix.core.arguments import number
from evomix.core.errors import BudgetExceeded, SpecError
from evomix.privacy.calibration import check_delta, check_epsilon
from evomix.privacy.renyi import check_order, renyi_budget, renyi_divergence
from evomix.privacy.renyi_noise import best_order, least_noise
from evomix.privacy.rounds import MixingRound, Round, RoundShape, check_rounds_given, check_shapes, check_units
from evomix.privacy.run_loss import costs


class RenyiFilter:
    """Admits rounds while their costs at one order fit the budget; replace-one neighbours.

    Args:
        epsilon: ε of the whole run, positive.
        delta: δ of the whole run, strictly between 0 and 1.
        units: n, the number of private units.
        order: α; by default the one that suits ``shapes``.
        shapes: the rounds that are planned, which bind nobody; by default histograms with Gaussian noise.

    Raises:
        SpecError: an argument is out of range, or the order is too small for any budget at this (ε, δ).

    >>> from evomix.privacy.rounds import GaussianRound
    >>> filter_ = RenyiFilter(1.0, 1e-6, units=100_000)
    >>> first = filter_.affordable(RoundShape("gaussian"), 0.5)
    >>> filter_.spend(first)
    >>> filter_.admits(first), filter_.admits(GaussianRound(first.stddev / 1.01))
    (True, False)
    """

    __slots__ = ("_spent", "budget", "order", "units")

    def __init__(
        self,
        epsilon: float,
        delta: float,
        *,
        units: int,
        order: float | None = None,
        shapes: Sequence[RoundShape] = (),
    ) -> None:
        epsilon, delta = check_epsilon(epsilon), check_delta(delta)
        self.units = check_units(units)
        check_shapes(shapes)
        self.order = best_order(epsilon, delta, shapes, units=units) if order is None else check_order(order)
        self.budget = renyi_budget(epsilon, delta, self.order)
        if self.budget <= 0.0:
            raise SpecError(
                f"Expected an order that leaves a budget at epsilon={epsilon!r}, delta={delta!r}; "
                f"found order={order!r}. Take a larger one, or none to have it chosen."
            )
        self._spent = Fraction(0)  # exact, so that rounding cannot add up

    @property
    def spent(self) -> float:
        """The sum of all costs so far, rounded up."""
        nearest = float(self._spent)
        return nearest if Fraction(nearest) >= self._spent else math.nextafter(nearest, math.inf)

    def admits(self, round_: Round) -> bool:
        """Return whether a round fits what is left.

        Raises:
            SpecError: it is no round, or one of another number of units.
        """
        return self._fits(self._cost(round_))

    def spend(self, round_: Round) -> None:
        """Count a round; to be called before it is computed.

        Raises:
            BudgetExceeded: it does not fit what is left; nothing is counted.
            SpecError: as in :meth:`admits`.
        """
        self._charge(self._cost(round_))

    def forfeit(self, share: float) -> None:
        """Count ``share`` of the whole budget: what a round cost at most that was begun and then lost.

        Raises:
            BudgetExceeded: it does not fit what is left; nothing is counted.
            SpecError: unless the share lies in (0, 1].
        """
        self._charge(self._part(share))

    def affordable(self, shape: RoundShape, share: float) -> Round | None:
        """Return the round of least noise that costs at most ``share`` of the whole budget.

        Returns:
            The round, not yet counted; None where that share is no longer left, or buys draws of pure noise only.

        Raises:
            SpecError: unless the share lies in (0, 1].
        """
        check_shapes((shape,))
        part = self._part(share)
        if not self._fits(part):
            return None
        found = least_noise(shape, part, order=self.order, units=self.units)
        return found if costs(found) or (shape.kind == "mixing" and shape.draws == 0) else None

    def _cost(self, round_: Round) -> float:
        check_rounds_given((round_,))
        if isinstance(round_, MixingRound) and round_.units != self.units:
            raise SpecError(f"Expected a round of units={self.units!r}; found units={round_.units!r}.")
        return renyi_divergence(round_, self.order)

    def _part(self, share: float) -> float:
        if not 0.0 < number("share", share) <= 1.0:
            raise SpecError(f"Expected share to lie in (0, 1]; found share={share!r}.")
        return number("share", share) * self.budget * (1.0 - 2.0**-50)

    def _fits(self, cost: float) -> bool:
        return math.isfinite(cost) and self._spent + Fraction(cost) <= Fraction(self.budget)

    def _charge(self, cost: float) -> None:
        if not self._fits(cost):
            raise BudgetExceeded(
                f"Expected a round within what is left of the Rényi budget; found cost={cost!r}, spent={self.spent!r}, "
                f"budget={self.budget!r} at order={self.order!r}. Take more noise, fewer draws or fewer rounds."
            )
        self._spent += Fraction(cost)
