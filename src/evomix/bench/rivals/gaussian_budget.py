"""The budget of a rival that adds Gaussian noise and nothing else, accounted exactly.

Gaussian answers compose exactly: together they tell as much as one answer whose ρ is the sum of theirs. So the whole
budget is the ρ of the one Gaussian answer that spends (ε, δ), 6 to 22 % more than zero-concentrated privacy grants. It
holds for :meth:`~evomix.bench.rivals.spending.Spending.measure` alone: a choice by the exponential mechanism is no
Gaussian.
"""

from evomix.bench.rivals.spending import Spending, seeded_spending
from evomix.bench.rivals.task import TableTask
from evomix.privacy.gaussian_accounting import gaussian_stddev


def gaussian_rho(epsilon: float, delta: float) -> float:
    """Return the ρ that Gaussian answers may cost together within (ε, δ).

    Raises:
        SpecError: ε is negative or not finite, or δ not inside (0, 1).

    Source: Balle and Wang (2018), Theorem 8; Dong, Roth and Su (2022), Corollary 3.3.

    >>> round(gaussian_rho(1.0, 1e-9), 4)
    0.0166
    """
    return 1.0 / (2.0 * gaussian_stddev(epsilon, delta, adjacency="add-remove") ** 2)


def gaussian_spending(task: TableTask) -> Spending:
    """Return a task's budget for Gaussian answers; see :func:`~evomix.bench.rivals.spending.seeded_spending`.

    Raises:
        SpecError: as there, or ε or δ is out of range.
    """
    return seeded_spending(task, gaussian_rho(task.epsilon, task.delta))
