"""The stages of a run that counts column sets, with the run's events and its public state."""

from pathlib import Path

from evomix.core.release import NoisyVotes
from evomix.evolution.state import STATE_FILE, State
from evomix.experiment import artifacts
from evomix.experiment.counting import Count, count_stages
from evomix.experiment.design import Design
from evomix.experiment.inputs import Progress
from evomix.experiment.plans import Plan


def count_run(
    made: Design, count: Count, *, begun: frozenset[int], folder: Path | None, report: Progress
) -> tuple[State, tuple[str, ...]]:
    """Count every stage that was not begun before; return a state without candidates, and sentences for the user.

    Args:
        made: of a run that counts.
        count: the private side; charges the ledger before it counts.
        begun: stages that were begun by an earlier, interrupted run.
        folder: run folder; ``None`` keeps nothing on disk.
        report: told about each stage.

    Raises:
        InputFileError: what was saved is damaged, or not of this run.
    """
    assert made.counted is not None
    rounds = made.plan.rounds

    def saved(index: int, release: NoisyVotes) -> None:
        if folder is not None:
            stage = made.plan.per_round[index]
            event = artifacts.stage_event(index, release, counted=stage.counted, blocks=stage.blocks)
            artifacts.append_event(folder, event)
        report("counting", index + 1, rounds)

    report("counting", 0, rounds)
    path = None if folder is None else folder / artifacts.CHECKPOINT / STATE_FILE
    released = count_stages(made.counted, made.plan, count, path=path, begun=begun, on_stage=saved)
    state = State(max(released, default=-1) + 1, made.initial, made.initial, None, {})
    return state, tuple(_of_lost(made.plan, index) for index in range(rounds) if index not in released)


def _of_lost(planned: Plan, index: int) -> str:
    """Return the warning about a stage whose budget is spent and whose counts are nowhere."""
    return (
        f"stage {index + 1} of {planned.rounds} (counts of {planned.per_round[index].counted}) was interrupted before "
        "it was saved: its part of the budget is spent, and the rows are made without it"
    )
