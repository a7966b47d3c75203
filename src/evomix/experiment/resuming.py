"""What an interrupted run left, and whether the run that was asked for is the same."""

import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from evomix.core.errors import SpecError
from evomix.core.release import Draws
from evomix.evolution.state import STATE_FILE, State, load_state
from evomix.experiment import artifacts
from evomix.experiment.identity import fingerprint
from evomix.experiment.per_round import MIXING
from evomix.experiment.plans import Plan
from evomix.experiment.preparing import has_prepared
from evomix.experiment.spec import RunSpec
from evomix.formats.checkpoints import damaged
from evomix.modalities.tabular.schema import Schema

_FREE: Final = frozenset(
    {"private", "out", "rows", "run_dir", "ledger", "budget", "dataset"}
    | {"base_url", "concurrency", "timeout_s", "price_in", "price_out", "most_cost", "most_tokens"}
)
"""Settings that may change, and the private table, which the ledger compares under its key. Rows are drawn from what
was released, so a run that failed over too many of them can go on with fewer; one that reached a cap goes on under a
higher one."""


def saved_run(spec: RunSpec, folder: Path | None) -> dict[str, Any] | None:
    """Return the interrupted run to go on with, if the user asked for it and it was charged.

    Raises:
        SpecError: there is none.
        InputFileError: what it left is damaged.
    """
    if not spec.resume:
        return None
    if folder is None:
        raise SpecError("resume needs the run folder of the interrupted run (--run-dir)")
    saved = artifacts.load_run(folder)
    if saved is None and not has_prepared(folder):
        raise SpecError(f"nothing to resume in run_dir={str(folder)!r}; run without --resume")
    return saved


def deciding_settings(spec: RunSpec) -> dict[str, Any]:
    """Return the settings whose change would make another run of it; public inputs count by content."""
    settings = {name: value for name, value in spec.public_settings().items() if name not in _FREE}
    if spec.public is not None:
        settings["public"] = ",".join(fingerprint(table).hex() for table in spec.public_tables)
    if spec.prompts is not None and Path(spec.prompts).is_file():
        settings["prompts"] = fingerprint(spec.prompts).hex()
    if isinstance(spec.schema, Schema | dict):
        settings["schema"] = str(spec.schema)
    elif spec.schema is not None:
        settings["schema"] = fingerprint(spec.schema).hex()
    return settings


def check_same(saved: dict[str, Any], settings: dict[str, Any]) -> None:
    """Refuse to go on under other settings, naming them. The ledger has the last word; it knows a digest only.

    Raises:
        SpecError: some setting differs.
    """
    before = saved["settings"]
    different = sorted(
        name for name in before.keys() | settings.keys() if str(before.get(name)) != str(settings.get(name))
    )
    if different:
        raise SpecError(
            f"a run is resumed as it began; different now: {', '.join(different)}. Restore what it began with, or "
            "start a new run, with a new charge, in another --run-dir"
        )


def check_state(folder: Path | None, planned: Plan, begun: Collection[int]) -> None:
    """Refuse a saved state that is not of this run, before another round is released.

    Args:
        folder: the run folder; ``None`` where a run keeps nothing.
        planned: the plan of the run.
        begun: rounds that were begun, by the ledger.

    Raises:
        InputFileError: the state is damaged: going on would release all rounds to come, and then fail.
    """
    if folder is None:
        return
    checkpoint = folder / artifacts.CHECKPOINT
    state = load_state(checkpoint)
    if state is not None and not _is_of(state, planned, begun):
        raise damaged(checkpoint / STATE_FILE, "it is not of this run")


def _is_of(state: State, planned: Plan, begun: Collection[int]) -> bool:
    """Return whether a run with this plan, which began these rounds, may have left the state."""
    release, last = state.release, state.next_round - 1
    if release is None:
        return state.next_round == 0
    if last >= planned.rounds or release.units != planned.n:
        return False
    for one in state.released:  # their order and units were checked as they were read
        mixing = planned.per_round[one.index].mechanism in MIXING
        if one.index not in begun or isinstance(one.release, Draws) != mixing:
            return False
    if planned.accountant != "renyi":  # nothing is told of rounds that were fixed in advance
        return True
    return bool(state.told) and all(_fits(told, planned, begun) for told in state.told)


def _fits(told: Mapping[str, Any], planned: Plan, begun: Collection[int]) -> bool:
    """Return whether what was told of a round is all there and can be of that round; its values are plain."""
    index = told["round"]
    if index not in begun or index >= planned.rounds:
        return False
    one = planned.per_round[index]
    if told.get("mechanism") != one.mechanism or not 1 <= _number(told, "candidates") <= one.candidates:
        return False
    if one.mechanism in MIXING:
        inside = 0.0 <= _number(told, "mixing_weight") <= 1.0 and 0.0 < _number(told, "floor") <= 1.0
        return inside and _number(told, "draws") == one.draws
    return _number(told, "stddev" if one.mechanism == "gaussian" else "scale") > 0.0


def _number(told: Mapping[str, Any], name: str) -> float:
    """Return a number that was told; NaN, which is in no range, where there is none."""
    value = told.get(name)
    return value if isinstance(value, int | float) else math.nan
