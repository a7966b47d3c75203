"""Files of public votes: a JSON list of shares, one a candidate, or a list of such lists, one a public table.

Public figures only; costs no privacy.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import InputFileError, SpecError
from evomix.formats.atomic import check_place, write_text


def check_histogram_place(path: Path) -> None:
    """Refuse a file that cannot take the shares, before they are counted.

    Raises:
        SpecError: the name does not end in .json, or no file can be made there.
    """
    if path.suffix.lower() != ".json":
        raise SpecError(
            f"shares are written as JSON; found histogram_out={str(path)!r}. Name a file that ends in .json"
        )
    check_place(path)


def write_histograms(histograms: FloatArray, path: Path) -> None:
    """Write the shares with all their digits: one list, or a list for each of several tables.

    Args:
        histograms: float64 (k, d), each row summing to 1.
        path: the file; replaced if it is there.

    Raises:
        EnvironmentFailure: the disk refuses.
    """
    rows = np.asarray(histograms).tolist()
    write_text(path, json.dumps(rows[0] if len(rows) == 1 else rows) + "\n")


def read_histograms(paths: list[Path]) -> list[float] | list[list[float]] | None:
    """Return the shares of all files: one histogram as its list, several as a list of lists, ``None`` of no file.

    The numbers are checked where they are used.

    Raises:
        InputFileError: a file cannot be read, or holds something else.
    """
    found = [histogram for path in paths for histogram in _histograms(path)]
    return (found[0] if len(found) == 1 else found) if found else None


def _histograms(path: Path) -> list[list[float]]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputFileError(f"Cannot read public_histogram={str(path)!r}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        values = None
    rows = values if isinstance(values, list) and values and isinstance(values[0], list) else [values]
    try:
        if all(_is_histogram(row) for row in rows):
            return [[float(value) for value in row] for row in rows]
    except OverflowError:  # a whole number of hundreds of digits
        pass
    raise InputFileError(
        f"Expected a JSON list of numbers, one a candidate, or a list of such lists, in public_histogram={str(path)!r}."
    )


def _is_histogram(row: Any) -> bool:
    return isinstance(row, list) and all(type(value) in {int, float} for value in row)
