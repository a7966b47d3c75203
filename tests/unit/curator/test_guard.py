"""No exception that leaves the guard leads back to what it withheld."""

import traceback

import pytest

from evomix.core.errors import EvomixError, InputFileError, PrivateRecordsFailure
from evomix.curator.guard import withheld

CANARY = "canary-5f2c"


def _links(error):
    """Return the exception and everything that Python would follow from it."""
    seen, todo = [], [error]
    while todo:
        link = todo.pop()
        if link is not None and link not in seen:
            seen.append(link)
            todo += [link.__cause__, link.__context__]
    return seen


def _escape(raising):
    with pytest.raises(EvomixError) as caught, withheld("outer work"), withheld("inner work"):
        raising()
    return caught.value


def _plain():
    raise ValueError(CANARY)


def _chained():
    try:
        {}[CANARY]
    except KeyError as error:
        raise RuntimeError(CANARY) from error


def _while_another_is_shown():
    try:
        {}[CANARY]
    except KeyError:
        raise InputFileError("evomix's own words") from None


def _caused():
    try:
        {}[CANARY]
    except KeyError as error:
        raise InputFileError("evomix's own words") from error


@pytest.mark.parametrize("raising", [_plain, _chained, _while_another_is_shown, _caused])
def test_nothing_reachable_from_the_error_quotes_a_record(raising):
    error = _escape(raising)
    assert _links(error) == [error]
    assert CANARY not in "".join(traceback.format_exception(error))
    assert CANARY not in repr(error.args)


def test_foreign_errors_name_action_and_type_and_exit_with_4():
    error = _escape(_plain)
    assert isinstance(error, PrivateRecordsFailure)
    assert "inner work failed (ValueError)" in str(error)
    assert error.exit_code == 4


def test_own_errors_pass_as_they_are():
    with pytest.raises(InputFileError, match="own words"), withheld("work"):
        raise InputFileError("own words")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_stopping_is_no_failure(stop):
    with pytest.raises(stop), withheld("work"):
        raise stop


def test_running_out_of_memory_is_withheld_too():
    with pytest.raises(PrivateRecordsFailure, match="MemoryError"), withheld("work"):
        raise MemoryError(CANARY)
