"""Compiling inner loops, with a cache on disk where there is room for one."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` on its first call; later processes load it from Numba's cache.

    The compiled code holds no interpreter lock, so that plain threads run it side by side. Floating point
    keeps the order written: nothing is reassociated or fused, hence the same sums in every call.
    """
    try:
        return _decorated(function, cache=True)
    except RuntimeError:
        # Numba refuses to cache where neither the package nor the user's cache directory can be written
        # (a read-only container). Compiling anew in each process costs a second, not a failure.
        return _decorated(function, cache=False)


def _decorated(function: Callable[P, R], *, cache: bool) -> Callable[P, R]:
    kernel: Callable[P, R] = numba.njit(cache=cache, nogil=True)(function)
    return kernel
