"""What would stop a run, found without a run: nothing is written, and nothing here reads a private cell.

Opening the inputs, which a dry run does too, counts units and compares the private file with the public ones.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evomix.core.errors import BudgetExceeded, EvomixError, SpecError
from evomix.experiment import artifacts
from evomix.experiment.identity import public_name, unit_in_words
from evomix.experiment.planning import Plan
from evomix.experiment.preparing import has_prepared
from evomix.experiment.spec import RunSpec
from evomix.formats.atomic import check_place
from evomix.formats.table import check_output
from evomix.privacy.budget import LARGE_EPSILON, Budget, rounded_up, total
from evomix.privacy.ledger import Ledger
from evomix.reports.wording import bound


def refuse_file(folder: Path) -> None:
    """Raise ``SpecError`` when the run folder is a file."""
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"run_dir={str(folder)!r} is a file; name a folder (--run-dir)")


def check_places(spec: RunSpec) -> None:
    """Refuse an output or a run folder that cannot be made, as far as can be told without making it.

    Raises:
        EvomixError: naming the place.
    """
    if spec.out is not None:
        check_output(spec.out, create=False)
    if spec.run_dir is not None:
        folder = spec.run_dir
        refuse_file(folder)
        check_place(folder / artifacts.PRIVACY_FILE if folder.exists() else folder)


def refuse_to_replace(spec: RunSpec) -> None:
    """Refuse to write over what an earlier run left: it was paid for, and a new run is charged again.

    Raises:
        SpecError: the table or a run's folder is there, and neither --resume nor --overwrite was given.
    """
    if spec.resume or spec.overwrite:
        return
    folder = spec.run_dir
    if folder is not None and artifacts.has_run(folder):
        if not (folder / artifacts.PRIVACY_FILE).exists():
            raise SpecError(
                f"run_dir={str(folder)!r} holds an interrupted run whose charge stands. Go on with it (--resume), keep "
                "it and name another (--run-dir), or start anew in its place and be charged again (--overwrite)"
            )
        raise SpecError(
            f"run_dir={str(folder)!r} holds a finished run. Name another (--run-dir, --out), or replace it "
            "(--overwrite)"
        )
    if folder is not None and has_prepared(folder):
        raise SpecError(
            f"run_dir={str(folder)!r} holds texts that were made for a run, which may have been paid for; nothing was "
            "charged to the data set yet. Go on with them (--resume), or throw them away (--overwrite)"
        )
    if spec.out is not None and spec.out.exists():
        raise SpecError(
            f"out={str(spec.out)!r} is there already. Name another file (--out), or replace it (--overwrite)"
        )


def budget_warnings(spec: RunSpec, planned: Plan, grant: Budget | None) -> tuple[str, ...]:
    """Return a sentence if the ledger would refuse the run as it stands now, or would hold a large total after it.

    A run that is resumed is charged already. A table in memory that was given no name is told apart by its cells,
    which are not read here.

    Raises:
        EnvironmentFailure: the ledger cannot be read.
    """
    dataset = public_name(spec)
    if spec.resume or dataset is None:
        return ()
    asked = Budget(planned.epsilon, planned.delta)
    try:
        Ledger(spec.ledger).check_charge(
            dataset, asked, unit=unit_in_words(spec), adjacency=planned.adjacency, grant=grant
        )
    except (BudgetExceeded, SpecError) as refusal:
        return (f"the ledger would refuse this run: {refusal}",)
    balance = Ledger(spec.ledger).balance(dataset)
    after = rounded_up(total([balance.spent, asked]))
    return _large_total(after, balance.runs + 1, limited=grant is not None or balance.granted is not None)


def total_warnings(spec: RunSpec, privacy: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence if all runs on a run's data set together have spent a large ε.

    Args:
        spec: the run, which is charged.
        privacy: the content of its privacy.json.
    """
    try:
        balance = Ledger(spec.ledger).balance(privacy["dataset"])
    except EvomixError:
        return ()  # the run is done and charged; the next command tells that its ledger cannot be read
    if (balance.unit, balance.adjacency) != (privacy["unit"], privacy["adjacency"]):
        return ()  # the charges do not protect the same, and do not add up
    return _large_total(balance.spent, balance.runs, limited=balance.granted is not None)


def _large_total(spent: Budget, runs: int, *, limited: bool) -> tuple[str, ...]:
    """Return the warning of several runs; of a single large one the plan warns."""
    if runs < 2 or spent.epsilon <= LARGE_EPSILON:
        return ()
    advice = "" if limited else "; --budget EPSILON:DELTA sets a limit that the ledger keeps"
    warning = (
        f"with this run the data set's total is epsilon={bound(spent.epsilon)}: all releases together protect little "
        f"(above {LARGE_EPSILON:g} is rarely defensible){advice}"
    )
    return (warning,)
