"""Where private randomness comes from: exact uniform integers from the operating system.

No floating-point number is ever drawn, so there is no floating-point attack surface: a mixture is sampled by
comparing uniform integers with the very integers that are accounted for.
"""

import os
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import IntArray

_WORD = 64


class RandomSource(Protocol):
    """A source of independent uniform integers."""

    secure: ClassVar[bool]

    def below(self, bounds: IntArray) -> IntArray:
        """Return one integer uniform on ``[0, bounds[i])`` for each i; every bound is at least 1."""


def _reject(words: "WordSource", bounds: IntArray) -> IntArray:
    """Sample exactly by masking to the needed bits and drawing again what is too large."""
    limit = bounds.astype(np.uint64)
    if limit.size and int(bounds.min()) < 1:
        raise ValueError("bounds must be at least 1")
    mask = limit - np.uint64(1)
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    found = np.zeros(limit.shape, np.uint64)
    pending = np.arange(limit.size)
    while pending.size:
        drawn = words(pending.size) & mask[pending]
        accepted = drawn < limit[pending]
        found[pending[accepted]] = drawn[accepted]
        pending = pending[~accepted]
    return found.astype(np.int64)


class WordSource(Protocol):
    """Gives uniform 64-bit words."""

    def __call__(self, size: int) -> NDArray[np.uint64]:
        """Return ``size`` independent uniform words."""


class SystemSource:
    """The operating system's cryptographic generator; the only source a private run may use."""

    secure: ClassVar[bool] = True

    def below(self, bounds: IntArray) -> IntArray:
        """See :class:`RandomSource`."""
        return _reject(lambda size: np.frombuffer(os.urandom(size * (_WORD // 8)), np.uint64), bounds)


class SeededSource:
    """A reproducible source for tests and simulation. **Not private**: whoever knows the seed can undo the noise.

    A release made with it is stamped ``private: false`` wherever it is reported.
    """

    secure: ClassVar[bool] = False

    def __init__(self, seed: int) -> None:
        self._bits = np.random.default_rng(seed)

    def below(self, bounds: IntArray) -> IntArray:
        """See :class:`RandomSource`."""
        return _reject(lambda size: self._bits.integers(0, 2**_WORD, size, np.uint64), bounds)


def uniform_below(source: RandomSource, bound: int, size: int) -> IntArray:
    """Return ``size`` independent integers uniform on ``[0, bound)``."""
    return source.below(np.full(size, bound, np.int64))
