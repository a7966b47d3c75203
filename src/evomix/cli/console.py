"""What the command line prints: the answer on stdout, everything else on stderr."""

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any


def say(message: str) -> None:
    """Print a message to the operator on stderr."""
    sys.stderr.write(f"evomix: {message}\n")
    sys.stderr.flush()


def warn(message: str) -> None:
    """Print a warning to the operator on stderr."""
    say(f"warning: {message}")


def answer(text: str) -> None:
    """Print a line or more of the answer on stdout."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def answer_json(payload: Any) -> None:
    """Print the answer as one JSON object on stdout; what JSON cannot say (NaN, infinity) becomes null."""
    answer(json.dumps(_plain(payload), indent=2, ensure_ascii=False, allow_nan=False))


def answer_mapping(payload: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a nested mapping, its ``warnings`` on stderr: as JSON, or for people as an indented outline."""
    for warning in payload.get("warnings", ()):
        warn(warning)
    if as_json:
        answer_json(payload)
        return
    shown = {name: value for name, value in payload.items() if name != "warnings"}
    answer("\n".join(_outline(_plain(shown), "")))


def answer_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns, for people."""
    lines = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        answer("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy scalars and arrays, without importing NumPy here
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value) if isinstance(value, PurePath) else repr(value)


def _outline(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, item in value.items():
        name = key.replace("_", " ")
        if isinstance(item, dict) and item:
            yield f"{indent}{name}"
            yield from _outline(item, indent + "  ")
        elif isinstance(item, list) and item and isinstance(item[0], dict):
            for position, entry in enumerate(item, start=1):
                yield f"{indent}{name} {position}"
                yield from _outline(entry, indent + "  ")
        else:
            yield f"{indent}{name}: {_short(item)}"


def _short(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict | list):
        return ", ".join(_short(item) for item in value) or "none"
    return str(value)
