"""Results, one JSON line each, kept as soon as they are there, so that a benchmark goes on where it stopped."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from evomix.core.errors import EnvironmentFailure

RESULTS_FILE: Final = "results.jsonl"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one repetition.

    Attributes:
        key: digest of all settings that decide it.
        name: of the method or reference.
        epsilon: ε; None for a reference.
        seed: of the public randomness.
        rows: records that were scored.
        scores: by name; None where one is not defined.
        wall_s: seconds it took to make, without scoring; None where it was made in two goes.
        cpu_s: CPU seconds, likewise.
        peak_mb: most memory held, in 10⁶ bytes; None where it cannot be told.
        unable: why there are no records, in a few words; empty where there are.
        over_s: the seconds that it was given, where they were too few.
    """

    key: str
    name: str
    epsilon: float | None
    seed: int
    rows: int
    scores: Mapping[str, float | None]
    wall_s: float | None
    cpu_s: float | None
    peak_mb: float | None
    unable: str = ""
    over_s: float | None = None

    def holds(self, time_limit_s: float | None) -> bool:
        """Tell whether a run that is given so many seconds would find no more: all but what more time may change."""
        return self.over_s is None or (time_limit_s is not None and time_limit_s <= self.over_s)


def key_of(settings: Mapping[str, Any]) -> str:
    """Return a digest of settings."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:24]


def load_results(folder: Path) -> dict[str, Result]:
    """Return what was kept, by key; a line that a crash cut is passed over."""
    path = folder / RESULTS_FILE
    if not path.exists():
        return {}
    found = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            result = Result(**json.loads(line))
        except (ValueError, TypeError, RecursionError):
            continue
        found[result.key] = result
    return found


def keep_result(folder: Path, result: Result) -> None:
    """Add a result, on the disk when this returns.

    Raises:
        EnvironmentFailure: the disk refuses.
    """
    path = folder / RESULTS_FILE
    try:
        with path.open("ab+") as file:
            if _is_cut(file):
                file.write(b"\n")
            file.write(json.dumps(asdict(result), ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise EnvironmentFailure(f"{path}: cannot be written: {error.strerror}") from error


def _is_cut(file: BinaryIO) -> bool:
    """Tell whether a crash cut the last line of a file that is open for appending."""
    if not file.seek(0, os.SEEK_END):
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"
