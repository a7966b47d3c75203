"""What the command line prints: the answer on stdout, everything else on stderr."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
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
