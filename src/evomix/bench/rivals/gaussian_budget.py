"""The budget of a rival that adds Gaussian noise and nothing else, accounted exactly.

Gaussian answers compose exactly: together they tell as much as one answer whose ρ is the sum of theirs. So the whole
budget is the ρ of the one Gaussian answer that spends (ε, δ), 6 to 22 % more than zero-concentrated privacy grants. It
holds for :meth:`~evomix.bench.rivals.spending.Spending.measure` alone: a choice by the exponential mechanism is no
Gaussian.
"""

import numpy as np

from evomix.bench.rivals.spending import Spending
from evomix.bench.rivals.task import TableTask
from evomix.core.errors import SpecError
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
    """Return a task's budget for Gaussian answers, its noise seeded by the task.

    The number of private rows is taken as known, under add-remove too.

    Raises:
        SpecError: the task has no private row or asks for no row, or its ε or δ is out of range.
    """
    if task.private.num_rows < 1 or task.rows < 1:
        raise SpecError(
            "expected at least one private row and at least one row wanted; "
            f"found private={task.private.num_rows}, rows={task.rows}"
        )
    noise = np.random.default_rng([task.seed, 1])
    return Spending(gaussian_rho(task.epsilon, task.delta), adjacency=task.adjacency, rng=noise)
