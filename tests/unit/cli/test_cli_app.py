import os
import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest
import typer.main

from evomix import __version__
from evomix.cli.app import app
from evomix.core.errors import BudgetExceeded, EnvironmentFailure, InputFileError, PrivacyError, SchemaError, SpecError

CANARY = "Zyxwv-Canary"

# What scripts may rely on; more may be added.
FIXED = {
    "synth": """--epsilon --delta --public --schema --out --rows --method --preset --mechanism --selection
        --threshold --radius --denoising --schedule --rounds --variations --proximity --target --unit --modality
        --config --run-dir --resume --seed --dry-run --dataset --budget
        --ledger --encoding --public-encoding --json""",
    "plan": """--n --epsilon --delta --rows --method --schema --target --rounds --candidates --preset --mechanism
        --public-histogram --public --json""",
    "schema": "-o --json",
    "evaluate": "--real --synthetic --public --target -o --json",
    "ledger": "",
    "demo": "--json",
    "doctor": "--json",
}


def test_fixed_commands_and_options_are_there():
    commands = typer.main.get_command(app).commands
    assert set(FIXED) <= set(commands)
    for name, options in FIXED.items():
        found = {option for parameter in commands[name].params for option in parameter.opts}
        assert set(options.split()) <= found, name
    assert {"show", "grant", "reset"} <= set(commands["ledger"].commands)


def test_options_are_those_of_a_run():
    from dataclasses import fields

    from evomix.cli import options
    from evomix.experiment import method_choice, presets, spec

    given = {parameter.name for parameter in typer.main.get_command(app).commands["synth"].params}
    assert given - {"config", "dry_run", "as_json", "help"} == {field.name for field in fields(spec.RunSpec)}
    assert options.MECHANISMS == spec.MECHANISMS
    assert options.SELECTIONS == spec.SELECTIONS
    assert options.DENOISINGS == spec.DENOISINGS
    assert options.SCHEDULES == spec.SCHEDULES
    assert tuple(presets.PRESETS) == options.PRESETS
    assert options.MODALITIES == spec.MODALITIES
    assert options.METHODS == method_choice.METHODS


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], *([name, "--help"] for name in FIXED)])
def test_help(evomix, words):
    answer = evomix(*words)
    assert answer.code == 0
    assert "Usage: evomix" in answer.out
    assert answer.err == ""


def test_version(evomix):
    assert evomix("--version").out == f"evomix {__version__}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["synth", "p.csv", "--nonsense"],
        ["plan", "--epsilon", "1"],
        ["plan", "--n", "x"],
        ["ledger"],
    ],
)
def test_usage_errors_exit_2_on_stderr(evomix, words):
    answer = evomix(*words)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("evomix: ")
    assert "--help" in answer.err
    assert len(answer.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SpecError("a"), 2),
        (SchemaError("b"), 2),
        (InputFileError("c"), 2),
        (BudgetExceeded("d"), 3),
        (EnvironmentFailure("e"), 4),
    ],
)
def test_own_errors_keep_message_and_code(evomix, backend, error, code):
    backend.error = error
    answer = evomix("synth", "p.csv", "--epsilon", "1")
    assert (answer.code, answer.out, answer.err) == (code, "", f"evomix: {error}\n")


BUDGET = SimpleNamespace(epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize(
    ("charge", "words"),
    [
        (None, "nothing was charged"),
        (
            SimpleNamespace(budget=BUDGET, resumable=True),
            "ε = 1, δ = 1e-06 stays charged; the same command with --resume goes on under that charge",
        ),
        (
            SimpleNamespace(budget=BUDGET, resumable=False),
            "ε = 1, δ = 1e-06 stays charged; nothing was released yet that --resume could go on from",
        ),
        (
            EnvironmentFailure("x"),
            "the ledger cannot be read now; `evomix ledger show` will tell whether the run was charged",
        ),
    ],
)
def test_interrupt_is_130_and_says_what_stays(evomix, backend, charge, words):
    backend.error, backend.charge = KeyboardInterrupt(CANARY), charge
    answer = evomix("synth", "p.csv", "--epsilon", "1")
    assert (answer.code, answer.out, answer.err) == (130, "", f"\nevomix: interrupted; {words}\n")


CHARGED = SimpleNamespace(budget=BUDGET, resumable=True)
STAYS = "; ε = 1, δ = 1e-06 stays charged; the same command with --resume goes on under that charge\n"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(CANARY), "out of memory: MemoryError (fewer rows or candidates need less; run with --debug)"),
        (OSError(28, CANARY), "the operating system refused: No space left on device: OSError (run with --debug)"),
        (ValueError(CANARY), "internal error: ValueError (run with --debug)"),
        (EnvironmentFailure("the disk is full."), "the disk is full"),
    ],
)
def test_a_failure_after_the_charge_is_4_and_says_what_stays(evomix, backend, error, words):
    backend.error, backend.charge = error, CHARGED
    answer = evomix("synth", "p.csv", "--epsilon", "1")
    assert (answer.code, answer.out, answer.err) == (4, "", f"evomix: {words}{STAYS}")
    debugged = evomix("synth", "p.csv", "--epsilon", "1", "--debug").err
    assert debugged.endswith(STAYS)
    assert CANARY not in debugged


@pytest.mark.parametrize("error", [MemoryError(CANARY), EnvironmentFailure("x")])
def test_a_failure_before_the_charge_says_nothing_of_one(evomix, backend, error):
    backend.error = error
    answer = evomix("synth", "p.csv", "--epsilon", "1")
    assert answer.code == 4
    assert "charged" not in answer.err


@pytest.mark.parametrize(("error", "code"), [(SpecError("x"), 2), (PrivacyError("x"), 3)])
def test_a_refusal_is_told_as_it_is(evomix, backend, error, code):
    backend.error, backend.charge = error, CHARGED
    answer = evomix("synth", "p.csv", "--epsilon", "1")
    assert (answer.code, answer.err) == (code, "evomix: x\n")


def test_a_dry_run_that_is_stopped_cost_nothing(evomix, backend):
    backend.error = KeyboardInterrupt(CANARY)
    answer = evomix("synth", "p.csv", "--epsilon", "1", "--dry-run")
    assert (answer.code, answer.err) == (130, "\nevomix: interrupted; nothing was charged\n")


def test_interrupts_from_elsewhere_say_no_more_than_that(evomix, backend):
    backend.error = KeyboardInterrupt(CANARY)
    answer = evomix("demo")
    assert (answer.code, answer.err) == (130, "\nevomix: interrupted\n")


@pytest.mark.parametrize("words", [["--help"], *([name, "--help"] for name in FIXED), ["ledger", "reset", "-h"]])
def test_flags_show_no_value(evomix, words):
    assert "bool" not in evomix(*words).out


def test_help_names_the_defaults_of_what_is_written(evomix, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = " ".join(evomix("synth", "--help").out.replace("│", " ").split())
    assert "Default: NAME.synthetic.csv" in text
    assert "Default: OUT with suffix .run" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "--epsilon", "1", "--n", "1e5"], "--n must be a whole number, such as 1000; found '1e5'"),
        (["synth", "p", "--epsilon", "1", "--rows", "1_0"], "--rows must be a whole number, such as 1000; found '1_0'"),
        (["synth", "p.csv"], "--epsilon is missing"),
        (["synth", "--epsilon", "1"], "PRIVATE is missing"),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_the_command_line(evomix, backend, words, message):
    answer = evomix(*words)
    assert (answer.code, answer.err) == (2, f"evomix: {message}. See: evomix {words[0]} --help\n")
    assert backend.asked == {}


def _chained():
    try:
        try:
            float(CANARY)
        except ValueError as error:
            raise KeyError(CANARY) from error
    except KeyError as error:
        return error


@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_unexpected_errors_never_quote(evomix, backend, debug):
    backend.error = _chained()
    answer = evomix("synth", "p.csv", "--epsilon", "1", *debug)
    assert answer.code == 4
    assert answer.err.endswith("evomix: internal error: KeyError (run with --debug)\n")
    assert CANARY not in answer.err
    assert ("Traceback" in answer.err or "traceback" in answer.err) == bool(debug)
    if debug:
        assert "ValueError (message withheld" in answer.err
        assert "_chained" in answer.err
    else:
        assert len(answer.err.splitlines()) == 1


def test_panics_of_compiled_libraries_never_quote(evomix, backend):
    class PanicException(BaseException): ...

    backend.error = PanicException(CANARY)
    answer = evomix("synth", "p.csv", "--epsilon", "1")
    assert (answer.code, answer.err) == (4, "evomix: internal error: PanicException (run with --debug)\n")


def test_debug_may_come_from_the_environment_and_stand_anywhere(evomix, backend, monkeypatch):
    backend.error = SpecError("rows=0")
    assert "traceback" in evomix("--debug", "synth", "p.csv", "--epsilon", "1").err
    monkeypatch.setenv("EVOMIX_DEBUG", "0")
    assert "traceback" not in evomix("synth", "p.csv", "--epsilon", "1").err
    monkeypatch.setenv("EVOMIX_DEBUG", "1")
    answer = evomix("synth", "p.csv", "--epsilon", "1")
    assert "SpecError: rows=0" in answer.err


@pytest.mark.parametrize(
    ("error", "words"),
    [(OSError(28, CANARY, CANARY), "No space left"), (MemoryError(CANARY), "out of memory")],
)
def test_environment_trouble_says_which(evomix, backend, error, words):
    backend.error = error
    answer = evomix("demo")
    assert answer.code == 4
    assert words in answer.err
    assert CANARY not in answer.err


def test_warnings_of_libraries_are_not_shown(evomix, monkeypatch):
    from evomix.experiment import histogram_file

    monkeypatch.setattr(histogram_file, "read_histograms", lambda paths: warnings.warn(CANARY, stacklevel=1))
    assert CANARY not in evomix("plan", "--n", "9", "--epsilon", "1", "--public-histogram", "h.json").err


def test_help_needs_no_heavy_library():
    code = (
        "import sys; from evomix.cli.app import main; code = main(['synth', '--help']); "
        "heavy = {'numpy', 'pandas', 'pyarrow', 'numba', 'scipy', 'sklearn', 'matplotlib', 'opendp'}; "
        "heavy &= set(sys.modules); "
        "print(sorted(heavy), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_the_installed_script_returns_the_exit_code():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from evomix.cli.app import main; sys.exit(main())",
            "plan",
            "--n",
            "5",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--epsilon" in done.stderr
