"""Uniform integers from stock: the source's own, drawn many at a time.

A trial of a few draws is over in the time that a call of the operating system takes; a million trials would wait for
calls. Each integer is handed out once, so the law is the source's.
"""

from typing import ClassVar

import numpy as np

from evomix.core.arrays import IntArray
from evomix.privacy.randomness import RandomSource

_STOCK = 2**18
_LARGE = 2**14  # from here on a call is worth its while


class StockedSource:
    """Hands out another source's integers. For audits only: what is in stock could be read from memory."""

    secure: ClassVar[bool] = False

    def __init__(self, source: RandomSource) -> None:
        self._source = source
        self._bound = 0
        self._stock = np.zeros(0, np.int64)
        self._used = 0

    def below(self, bounds: IntArray) -> IntArray:
        """See :class:`evomix.privacy.randomness.RandomSource`."""
        size = bounds.size
        if not 0 < size < _LARGE or (bounds != bounds[0]).any():
            return self._source.below(bounds)
        if bounds[0] != self._bound or self._used + size > _STOCK:
            self._stock, self._used = self._source.below(np.full(_STOCK, bounds[0], np.int64)), 0
            self._bound = int(bounds[0])
        self._used += size
        return self._stock[self._used - size : self._used]
