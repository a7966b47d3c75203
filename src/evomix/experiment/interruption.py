"""What stays charged when a run is stopped on its way. The ledger is asked: the run folder may lag behind it."""

from contextlib import suppress
from dataclasses import dataclass

from evomix.core.errors import InputFileError
from evomix.evolution.state import STATE_FILE
from evomix.experiment import artifacts
from evomix.experiment.identity import public_name
from evomix.experiment.preparing import has_prepared
from evomix.experiment.run import with_paths
from evomix.experiment.spec import RunSpec
from evomix.privacy.ledger import Budget, Ledger


@dataclass(frozen=True, slots=True)
class Standing:
    """The charge of a run that was stopped.

    Attributes:
        budget: what stays charged.
        resumable: whether the run folder holds what going on under that charge needs.
    """

    budget: Budget
    resumable: bool


def charged_runs(spec: RunSpec) -> frozenset[str]:
    """Return the runs that the data set was charged for so far.

    Raises:
        EvomixError: the ledger cannot be read, or the name is unusable.
    """
    return frozenset(entry.run_id for entry in Ledger(spec.ledger).entries(public_name(spec)))


def keeps_texts(spec: RunSpec) -> bool:
    """Return whether the run folder holds texts of a run that was not charged yet."""
    folder = with_paths(spec).run_dir
    return folder is not None and has_prepared(folder)


def standing_charge(spec: RunSpec, before: frozenset[str]) -> Standing | None:
    """Return what a run that was stopped leaves charged; ``None`` if it was not charged yet.

    Args:
        spec: what was asked for.
        before: :func:`charged_runs` from before it began.

    Raises:
        EvomixError: the ledger cannot be read.
    """
    spec = with_paths(spec)
    assert spec.run_dir is not None
    saved = None
    with suppress(InputFileError):  # damaged: nothing to go on with
        saved = artifacts.load_run(spec.run_dir)
    run_id = "" if saved is None else str(saved["run_id"])
    # A run that is resumed may go by another name of its data set; its own charge is told by the run folder.
    entries = Ledger(spec.ledger).entries(None if spec.resume else public_name(spec))
    charges = {entry.run_id: entry.budget for entry in entries}
    begun = {entry.run_id: entry.rounds_begun for entry in entries}
    new = [run_id] if spec.resume else [name for name in charges if name not in before]
    if saved is not None and run_id in new and run_id in charges:
        released = (spec.run_dir / artifacts.CHECKPOINT / STATE_FILE).exists()
        return Standing(charges[run_id], resumable=released or begun[run_id] < saved["plan"].get("rounds", 0))
    return Standing(charges[new[-1]], resumable=False) if new and not spec.resume else None
