"""Keeping a library's error texts, which may quote cells, out of everything a user sees."""

from collections.abc import Callable
from typing import TypeVar

import pyarrow as pa

from evomix.core.errors import InputFileError

T = TypeVar("T")


def or_refuse(read: Callable[[], T], message: str) -> T:
    """Return ``read()``; if Arrow or the disk fails, raise ``message`` in place of the library's own error.

    The new error is raised after the library's one is gone, so that not even its ``__context__`` has a cell.

    Raises:
        InputFileError: when ``read`` fails.
    """
    try:
        return read()
    except (pa.ArrowException, OSError):
        pass
    raise InputFileError(message)
