"""Records that cost much to propose, such as texts of a paid model, are kept before a run is even charged.

First candidates are made before the charge. ``prepared.json`` says by which seed and settings, and the answers of the
model lie beside it: a run that stops in between goes on from there, under --resume, and pays for nothing twice.
"""

import json
import secrets
from pathlib import Path
from typing import Any, Final

from evomix.core.errors import InputFileError
from evomix.experiment import artifacts
from evomix.experiment.spec import RunSpec
from evomix.experiment.text_side import JOURNAL_FILE

_PREPARED_FILE: Final = "prepared.json"


def has_prepared(folder: Path) -> bool:
    """Return whether a folder holds records that were made for a run."""
    return (folder / artifacts.CHECKPOINT / _PREPARED_FILE).exists()


def load_prepared(folder: Path) -> dict[str, Any]:
    """Return seed and settings that records were made for.

    Raises:
        InputFileError: the file is damaged.
    """
    path = folder / artifacts.CHECKPOINT / _PREPARED_FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if type(content["seed"]) is not int or not isinstance(content["settings"], dict):
            raise TypeError  # noqa: TRY301  (handled as any other damage)
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputFileError(f"{path} is damaged; nothing was charged: start anew with --overwrite") from error
    return dict(content)


def save_prepared(folder: Path, settings: dict[str, Any]) -> None:
    """Write what going on needs, before a record is proposed."""
    (folder / artifacts.CHECKPOINT).mkdir(parents=True, exist_ok=True)
    artifacts.write_json(
        folder / artifacts.CHECKPOINT / _PREPARED_FILE, {"seed": settings["seed"], "settings": settings}
    )


def forget_prepared(folder: Path) -> None:
    """Remove what was made for another run."""
    for name in (_PREPARED_FILE, JOURNAL_FILE):
        (folder / artifacts.CHECKPOINT / name).unlink(missing_ok=True)


def seed_of(spec: RunSpec, saved: dict[str, Any] | None) -> int:
    """Return the seed of the public randomness: the user's, that of the run to go on with, or a fresh one."""
    if spec.seed is not None:
        return spec.seed
    return secrets.randbits(63) if saved is None else int(saved["seed"])
