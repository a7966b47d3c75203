"""What an audit asks of a release: run it on either of two neighbours and tell which of the two it speaks for."""

from typing import Final, Literal, Protocol

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.privacy.randomness import RandomSource

Side = Literal[0, 1]
"""Which of the two neighbouring data sets is released from."""

SIDES: Final[tuple[Side, Side]] = (0, 1)


class Release(Protocol):
    """One release (a round, or rounds of one kind) on a worst-case pair of made-up neighbours.

    The loss of an outcome is ``ln(Pr[outcome | side 0] / Pr[outcome | side 1])`` under the *claimed* parameters. The
    losses of a run's releases add up, and the sum is the best statistic to tell the sides apart (Neyman & Pearson
    1933). A mechanism that runs with other parameters makes it a worse statistic, never an invalid one.
    """

    @property
    def cost(self) -> int:
        """Time of one trial on one side, in draws of a mixture."""

    def losses(self, side: Side, trials: int, source: RandomSource) -> FloatArray:
        """Return the losses of ``trials`` independent releases by the real sampling code, float64 (trials,)."""

    def claimed_losses(self, side: Side, trials: int, rng: np.random.Generator) -> FloatArray:
        """Return the same simulated from the claimed law, float64 (trials,); the sampling code has no part in it."""
