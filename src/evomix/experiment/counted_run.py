"""The stages of a run that counts column sets, with the run's events and its public state."""

from pathlib import Path

from evomix.core.release import NoisyVotes
from evomix.evolution.state import STATE_FILE, State
from evomix.experiment import artifacts
from evomix.experiment.counting import Count, count_stages
from evomix.experiment.design import Design
from evomix.experiment.inputs import Progress


def count_run(made: Design, count: Count, *, begun: frozenset[int], folder: Path | None, report: Progress) -> State:
    """Count every stage that was not begun before; return a state without candidates.

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
    return State(rounds if released else 0, made.initial, made.initial, None, {})
