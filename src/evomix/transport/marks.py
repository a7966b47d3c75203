"""What is remembered of a solver to undo a trial: its journal holds the basis, this the rest."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray


class Mark(NamedTuple):
    """A state to go back to.

    Attributes:
        records: how many records the journal had.
        number: of the mark before.
        spent: what had been added to the cost.
        optimal_arcs: among how many arcs the basis was optimal.
        cost_exponent: how costs were rounded.
        slack_costs: sources (k,) int32 whose slack costs have changed since, with what they were, oldest first.
    """

    records: int
    number: int
    spent: float
    optimal_arcs: int
    cost_exponent: int
    slack_costs: list[tuple[NDArray[np.int32], FloatArray]]
