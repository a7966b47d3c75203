"""What a run leaves in its folder: public values only."""

import importlib.metadata
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import evomix
from evomix.core.release import Draws, NoisyVotes
from evomix.evolution.step import Round
from evomix.formats.atomic import write_text
from evomix.formats.checkpoints import damaged

PRIVACY_FILE: Final = "privacy.json"
SPEC_FILE: Final = "spec.toml"
REPORT_FILE: Final = "report.html"
EVENTS_FILE: Final = "events.jsonl"
CHECKPOINT: Final = "checkpoint"
_RUN_FILE: Final = "run.json"
_SAVED: Final = {"run_id": str, "seed": int, "mechanism": dict, "plan": dict, "settings": dict}


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write ``content`` as JSON, whole or not at all."""
    text = json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n"
    # Half a character, as in a path of undecodable bytes, can be written as JSON's own escape only.
    write_text(path, text.encode("utf-8", "backslashreplace").decode("utf-8"))


def save_run(folder: Path, content: Mapping[str, Any]) -> None:
    """Write what resuming needs besides the state: run id, plan, mechanism, seed."""
    (folder / CHECKPOINT).mkdir(parents=True, exist_ok=True)
    write_json(folder / CHECKPOINT / _RUN_FILE, content)


def has_run(folder: Path) -> bool:
    """Return whether a run was begun in ``folder``."""
    return (folder / CHECKPOINT / _RUN_FILE).exists()


def load_run(folder: Path) -> dict[str, Any] | None:
    """Return what :func:`save_run` wrote, or ``None``.

    Raises:
        InputFileError: the file is damaged.
    """
    path = folder / CHECKPOINT / _RUN_FILE
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or any(not isinstance(content.get(key), kind) for key, kind in _SAVED.items()):
            raise TypeError  # noqa: TRY301  (handled as any other damage)
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise damaged(path) from error
    return content


def append_event(folder: Path, event: Mapping[str, Any]) -> None:
    """Add one line of public progress. It bears no time: how long a round took may depend on the records."""
    folder.mkdir(parents=True, exist_ok=True)
    line = json.dumps(event, ensure_ascii=False)
    with (folder / EVENTS_FILE).open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def round_event(index: int, done: Round) -> dict[str, Any]:
    """Return the public figures of a round."""
    event: dict[str, Any] = {"event": "round", "round": index, "candidates": len(done.candidates)}
    if isinstance(done.release, Draws):
        event |= {
            "draws": done.release.draws,
            "distinct_drawn": int((done.release.counts > 0).sum()),
            "share_of_noise": done.release.mixing_weight,
        }
    else:
        event |= {"stddev": done.release.stddev}
    return event


def stage_event(index: int, release: NoisyVotes, *, counted: str | None, blocks: int) -> dict[str, Any]:
    """Return the public figures of a stage that counted column sets: what they are, and how many."""
    return {
        "event": "round",
        "round": index,
        "counted": counted,
        "column_sets": blocks,
        "cells": release.votes.size,
        "stddev": release.stddev,
    }


def read_rounds(folder: Path) -> list[dict[str, Any]]:
    """Return the events of the rounds that were released; the ledger, not this file, is the record.

    A line that is none, cut by a crash for instance, is passed over: the report is written once the run is paid for.
    """
    path = folder / EVENTS_FILE
    if not path.exists():
        return []
    events = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and event.get("event") == "round" and type(event.get("round")) is int:
            events.append(event)
    return events


def software() -> dict[str, str]:
    """Return the versions that made the result."""
    names = ("numpy", "scipy", "numba", "pyarrow", "opendp")
    return {"evomix": evomix.__version__, "python": platform.python_version()} | {
        name: importlib.metadata.version(name) for name in names
    }


def to_toml(settings: Mapping[str, Any]) -> str:
    """Return flat settings as TOML; a value may be a list."""
    return "".join(f"{key} = {_toml_value(value)}\n" for key, value in settings.items())


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    text = str(value).encode("utf-8", "replace").decode("utf-8")  # a path may hold bytes that are no text
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
