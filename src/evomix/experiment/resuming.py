"""What an interrupted run left, and whether the run that was asked for is the same."""

from pathlib import Path
from typing import Any, Final

from evomix.core.errors import SpecError
from evomix.experiment import artifacts
from evomix.experiment.identity import fingerprint
from evomix.experiment.spec import RunSpec
from evomix.modalities.tabular.schema import Schema

_FREE: Final = frozenset({"private", "out", "run_dir", "ledger", "budget", "dataset"})
"""Settings that may change, and the private table, which the ledger compares under its key."""


def saved_run(spec: RunSpec, folder: Path | None) -> dict[str, Any] | None:
    """Return the interrupted run to go on with, if the user asked for it.

    Raises:
        SpecError: there is none.
        InputFileError: what it left is damaged.
    """
    if not spec.resume:
        return None
    if folder is None:
        raise SpecError("resume needs the run folder of the interrupted run (--run-dir)")
    saved = artifacts.load_run(folder)
    if saved is None:
        raise SpecError(f"nothing to resume in run_dir={str(folder)!r}; run without --resume")
    return saved


def deciding_settings(spec: RunSpec) -> dict[str, Any]:
    """Return the settings whose change would make another run of it; public inputs count by content."""
    settings = {name: value for name, value in spec.public_settings().items() if name not in _FREE}
    if spec.public is not None:
        settings["public"] = ",".join(fingerprint(table).hex() for table in spec.public_tables)
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
