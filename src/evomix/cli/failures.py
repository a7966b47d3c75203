"""From any failure to one message and an exit code: 2, 3 and 4 as the error says, 130 when interrupted.

Messages of foreign exceptions are never shown, not even under ``--debug``: they may quote a private cell.
"""

import os
import re
import sys
import traceback
from collections.abc import Callable
from typing import Any

import typer

from evomix.cli.console import say
from evomix.core.errors import EvomixError

INTERRUPTED = 130
USAGE = 2
FAILED = 4

# The base of all command-line errors. Typer used click's own class first and has carried its own copy since;
# both stand two steps above BadParameter.
_CommandLineError: type[Exception] = typer.BadParameter.__mro__[2]


class Interrupted(Exception):  # noqa: N818  (a stop, not a fault)
    """Ctrl-C that knows what became of the charge; its message is ours, in public words.

    No ``KeyboardInterrupt``: Typer makes a bare exit code of those.
    """


class FailedAfterCharge(Exception):  # noqa: N818  (an account of a failure; the cause is the fault)
    """A failure of something that was charged: what went wrong, and in public words what stays charged."""

    exit_code = FAILED

    def __init__(self, cause: BaseException, stays: str) -> None:
        message = str(cause) if isinstance(cause, EvomixError) else _unexpected_message(cause)
        super().__init__(f"{message.rstrip('.')}; {stays}")


def fails(error: BaseException) -> bool:
    """Return whether an error is a failure on the way, not a refusal of what was asked, nor a way out."""
    if isinstance(error, EvomixError):
        return error.exit_code == FAILED
    return not isinstance(error, SystemExit | typer.Exit | typer.Abort)


def exit_code_of(command: Callable[[], Any], *, debug: bool) -> int:
    """Run ``command`` and return the process's exit code; what it raises becomes one message on stderr."""
    try:
        code = command()
    except Interrupted as stop:
        return _interrupted(f"interrupted; {stop}")
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except (EvomixError, FailedAfterCharge) as error:
        _report(str(error), error, debug=debug)
        return error.exit_code
    except _CommandLineError as error:
        say(_usage_message(error))
        return USAGE
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001  (a traceback may quote private cells; Rust panics are no Exception)
        _report(_unexpected_message(error), error, debug=debug)
        return FAILED
    if code == INTERRUPTED:
        return _interrupted("interrupted")
    return code if isinstance(code, int) else 0


def _interrupted(message: str) -> int:
    sys.stderr.write("\n")  # the terminal's line holds ^C, or a question
    say(message)
    return INTERRUPTED


def redacted_traceback(error: BaseException) -> str:
    """Return where ``error`` and its causes came from, oldest first; messages of evomix's own errors only."""
    parts: list[str] = []
    link: BaseException | None = error
    while link is not None:
        message = f": {link}" if isinstance(link, EvomixError) else " (message withheld: it may quote private values)"
        parts.append("".join(traceback.format_tb(link.__traceback__)) + type(link).__name__ + message)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "\n\n".join(reversed(parts))


def _report(message: str, error: BaseException, *, debug: bool) -> None:
    if debug:
        say("traceback\n" + redacted_traceback(error))
    say(message)


def _unexpected_message(error: BaseException) -> str:
    name = type(error).__name__
    if isinstance(error, MemoryError):
        return f"out of memory: {name} (fewer rows or candidates need less; run with --debug)"
    if isinstance(error, OSError) and error.errno is not None:
        return f"the operating system refused: {os.strerror(error.errno)}: {name} (run with --debug)"
    return f"internal error: {name} (run with --debug)"


def _usage_message(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", None) or "evomix"
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    text = re.sub(r"^Invalid value for '(--[a-z-]+)': must ", r"\1 must ", text)
    return f"{text.rstrip('.')}. See: {path} --help"
