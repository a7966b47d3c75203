"""Keeps private values out of errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from evomix.core.errors import EvomixError, PrivateRecordsFailure


@contextmanager
def withheld(action: str) -> Iterator[None]:
    """Replace any foreign error inside by one that names the action and the error's type only.

    evomix's own errors pass, without their causes: they are written without private values, what caused them may
    not be. No exception that leaves keeps a link to the original message or its frames.
    """
    failure: str | None = None
    try:
        yield
    except EvomixError as error:
        error.__cause__ = error.__context__ = None
        raise
    except Exception as error:  # noqa: BLE001  (whatever it is, it may quote a record)
        failure = type(error).__name__
    if failure is not None:
        replacement = PrivateRecordsFailure(
            f"{action} failed ({failure}); the cause is withheld because it may quote private records. "
            "Check that the private file is complete and readable."
        )
        try:
            raise replacement
        finally:
            # The ``with`` statement that called us still handles the original, so Python has linked it.
            replacement.__context__ = None


def refuse_pickling(what: str) -> NoReturn:
    """Raise: private records and exact votes never leave the process."""
    raise TypeError(f"{what} holds private records and cannot be pickled or copied")
