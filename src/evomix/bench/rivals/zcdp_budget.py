"""The budget of a rival that also chooses: zero-concentrated privacy covers noisy answers and choices alike."""

import numpy as np

from evomix.bench.rivals.spending import Spending, rho_of
from evomix.bench.rivals.task import TableTask
from evomix.core.errors import SpecError


def zcdp_spending(task: TableTask) -> Spending:
    """Return a task's budget, its noise seeded by the task.

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
    return Spending(rho_of(task.epsilon, task.delta), adjacency=task.adjacency, rng=noise)
