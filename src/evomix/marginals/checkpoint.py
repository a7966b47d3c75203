"""What was counted so far, on disk: released values only."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evomix.core.release import NoisyVotes
from evomix.formats.atomic import atomic_write
from evomix.formats.checkpoints import damaged


@dataclass(frozen=True, slots=True)
class Counted:
    """A stage that was released.

    Attributes:
        digest: of the panel that was counted.
        release: its noisy counts.
    """

    digest: str
    release: NoisyVotes


def save_counts(counted: Mapping[int, Counted], path: Path) -> None:
    """Write stages, by number, atomically and durably."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = {
        str(stage): {"digest": one.digest, "stddev": one.release.stddev, "units": one.release.units}
        for stage, one in counted.items()
    }
    arrays: dict[str, Any] = {f"votes_{stage}": one.release.votes for stage, one in counted.items()}
    arrays["counts"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with atomic_write(path) as partial, partial.open("wb") as file:
        np.savez_compressed(file, **arrays)


def load_counts(path: Path) -> dict[int, Counted]:
    """Return the stages that were saved, by number; none where no file is.

    Raises:
        InputFileError: the file is damaged.
    """
    if not path.exists():
        return {}
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            header = json.loads(arrays["counts"].tobytes())
            return {int(stage): _counted(one, arrays[f"votes_{stage}"]) for stage, one in header.items()}
    except Exception as error:
        raise damaged(path, type(error).__name__) from error


def _counted(one: Mapping[str, Any], votes: Any) -> Counted:
    if votes.dtype != np.float64 or votes.ndim != 1 or type(one["units"]) is not int:
        raise ValueError
    return Counted(str(one["digest"]), NoisyVotes(votes, float(one["stddev"]), one["units"]))
