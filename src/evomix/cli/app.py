"""The ``evomix`` command: its commands, and the way from errors to exit codes."""

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer
import typer.main

from evomix import __version__
from evomix.cli.audit import audit
from evomix.cli.bench import bench
from evomix.cli.console import answer
from evomix.cli.demo import demo
from evomix.cli.diagnose import diagnose
from evomix.cli.doctor import doctor
from evomix.cli.evaluate import evaluate
from evomix.cli.failures import exit_code_of
from evomix.cli.ledger import ledger
from evomix.cli.plan import plan
from evomix.cli.reproduce import reproduce
from evomix.cli.schema import schema
from evomix.cli.synth import synth

app = typer.Typer(
    name="evomix",
    help="Differentially private synthetic data: only privatised counts and votes of private records come out.",
    epilog="Exit codes: 0 done, 2 refused (usage, schema, file), 3 refused (privacy), 4 failed, 130 stopped",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(synth)
app.command()(plan)
app.command()(schema)
app.command()(evaluate)
app.command()(audit)
app.add_typer(diagnose, name="diagnose")
app.add_typer(ledger, name="ledger")
app.add_typer(reproduce, name="reproduce")
app.add_typer(bench, name="bench")
app.command()(demo)
app.command()(doctor)


def _version(wanted: bool) -> None:
    if wanted:
        answer(f"evomix {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show where an error came from (also EVOMIX_DEBUG=1); anywhere on the line."),
    ] = False,
) -> None:
    # Both are acted on elsewhere: the version in its callback, --debug in main(), before anything is parsed.
    del version, debug


def _show_no_value_of_flags(command: Any, parent: Any = None) -> None:
    """Leave out ``<bool>`` beside the flags of a command and of those below it, in the help text."""
    context = command.context_class(command, parent=parent, **command.context_settings)
    for parameter in command.get_params(context):
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    for below in getattr(command, "commands", {}).values():
        _show_no_value_of_flags(below, context)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; the script's entry point."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words or os.environ.get("EVOMIX_DEBUG", "") not in {"", "0"}
    words = [word for word in words if word != "--debug"] or ["--help"]
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # an odd file name must not fail a run that is done
    command = typer.main.get_command(app)
    _show_no_value_of_flags(command)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other libraries' warnings may quote cells
        return exit_code_of(lambda: command.main(words, "evomix", standalone_mode=False), debug=debug)
