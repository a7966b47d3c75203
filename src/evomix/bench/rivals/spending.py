"""A rival's privacy budget under zero-concentrated differential privacy: what is measured is paid for, or refused."""

import math
from typing import Final

import numpy as np
from scipy.optimize import minimize_scalar

from evomix.bench.rivals.task import TableTask
from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.privacy.adjacency import Adjacency, l1_sensitivity, l2_sensitivity

_SLACK: Final = 1e-9
"""Relative overshoot that sums of shares may have by rounding."""


def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest ρ whose zCDP guarantee implies (ε, δ)-DP.

    By δ(ρ) = inf over α > 1 of exp((α−1)(αρ − ε)) / (α−1) · (1 − 1/α)^α. Source: Canonne, Kamath and Steinke (2020),
    Proposition 12.

    Raises:
        SpecError: ε is not positive, or δ not inside (0, 1).
    """
    if not (epsilon > 0.0 and 0.0 < delta < 1.0):
        raise SpecError(f"expected epsilon > 0 and 0 < delta < 1; found epsilon={epsilon!r}, delta={delta!r}")
    low, high = 0.0, epsilon + math.log(1.0 / delta)
    for _ in range(100):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _log_delta(middle, epsilon) <= math.log(delta) else (low, middle)
    return low


def _log_delta(rho: float, epsilon: float) -> float:
    def at(log_excess: float) -> float:
        excess = math.exp(log_excess)  # α − 1
        alpha = 1.0 + excess
        return excess * (alpha * rho - epsilon) - math.log(excess) + alpha * (math.log(excess) - math.log(alpha))

    return float(minimize_scalar(at, bounds=(-12.0, 12.0), method="bounded").fun)


class Spending:
    """Gives noisy answers and counts what they cost.

    Args:
        rho: ρ, all there is to spend.
        adjacency: the neighbour relation that ρ is about.
        rng: of the noise.
    """

    def __init__(self, rho: float, *, adjacency: Adjacency, rng: np.random.Generator) -> None:
        self.total, self.spent = rho, 0.0
        self._adjacency, self._rng = adjacency, rng

    @property
    def left(self) -> float:
        """What may still be spent, at least 0."""
        return max(self.total - self.spent, 0.0)

    @property
    def count_sensitivity(self) -> float:
        """The largest ℓ2 distance of one marginal's counts in neighbouring tables."""
        return l2_sensitivity(self._adjacency)

    @property
    def distance_sensitivity(self) -> int:
        """How far the ℓ1 distance of one marginal's counts from a fixed table may move between neighbouring tables."""
        return l1_sensitivity(self._adjacency)

    def stddev(self, rho: float, *, sensitivity: float | None = None) -> float:
        """Return the noise of a Gaussian answer that costs ``rho``; by default that of one marginal's counts."""
        reach = self.count_sensitivity if sensitivity is None else sensitivity
        return reach / math.sqrt(2.0 * rho)

    def cost(self, stddev: float, *, sensitivity: float | None = None) -> float:
        """Return what a Gaussian answer with that noise costs."""
        reach = self.count_sensitivity if sensitivity is None else sensitivity
        return reach**2 / (2.0 * stddev**2)

    def measure(self, values: FloatArray, rho: float, *, sensitivity: float | None = None) -> FloatArray:
        """Return ``values`` with Gaussian noise for ``rho``.

        Args:
            values: float64 (k,); by default the counts of one marginal.
            rho: what it costs.
            sensitivity: ℓ2 sensitivity of the values, where they are not the counts of one marginal.

        Raises:
            SpecError: not so much is left.
        """
        self._pay(rho)
        return np.asarray(values + self._rng.normal(0.0, self.stddev(rho, sensitivity=sensitivity), np.shape(values)))

    def choose(self, scores: FloatArray, rho: float, *, sensitivity: float) -> int:
        """Return a position by the exponential mechanism, the higher its score the likelier.

        Its privacy parameter e = √(8ρ) costs e²/8 = ρ, as its loss has a bounded range.

        Args:
            scores: float64 (k,), k ≥ 1; −inf is never chosen.
            rho: what it costs.
            sensitivity: how far each score may move between neighbouring tables.

        Raises:
            SpecError: not so much is left.
        """
        self._pay(rho)
        strength = math.sqrt(8.0 * rho) / (2.0 * sensitivity)
        return int(np.argmax(strength * np.asarray(scores, np.float64) + self._rng.gumbel(size=len(scores))))

    def _pay(self, rho: float) -> None:
        if not 0.0 < rho <= self.left + _SLACK * self.total:
            raise SpecError(
                f"expected to spend at most what is left, {self.left:.3g} of {self.total:.3g}; got {rho:.3g}"
            )
        self.spent += rho


def seeded_spending(task: TableTask, rho: float) -> Spending:
    """Return ρ as a task's budget, its noise seeded by the task.

    The number of private rows is taken as known, under add-remove too.

    Raises:
        SpecError: the task has no private row or asks for no row.
    """
    if task.private.num_rows < 1 or task.rows < 1:
        raise SpecError(
            "expected at least one private row and at least one row wanted; "
            f"found private={task.private.num_rows}, rows={task.rows}"
        )
    return Spending(rho, adjacency=task.adjacency, rng=np.random.default_rng([task.seed, 1]))


def zcdp_spending(task: TableTask) -> Spending:
    """Return a task's budget for noisy answers and choices alike; see :func:`seeded_spending`.

    Raises:
        SpecError: as there, or ε or δ is out of range.
    """
    return seeded_spending(task, rho_of(task.epsilon, task.delta))
