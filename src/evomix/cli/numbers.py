"""Strict reading of the numbers that a guarantee rests on.

Python's own ``float`` also takes ``1_0``, ``nan``, ``inf`` and surrounding spaces; a typing slip must never
become a different budget.
"""

import math
import re

import typer

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def parse_epsilon(text: str) -> float:
    """Return ε, finite and above 0.

    Raises:
        typer.BadParameter: naming epsilon and the text found.
    """
    value = _decimal(text)
    if not 0.0 < value < math.inf:
        raise typer.BadParameter(f"expected a finite number above 0, such as 1.0; found epsilon={_quoted(text)}")
    return value


def parse_delta(text: str) -> float:
    """Return δ, strictly between 0 and 1.

    Raises:
        typer.BadParameter: naming delta and the text found.
    """
    value = _decimal(text)
    if not 0.0 < value < 1.0:
        raise typer.BadParameter(f"expected a number between 0 and 1, such as 1e-6; found delta={_quoted(text)}")
    return value


def parse_whole(text: str) -> int:
    """Return a whole number; whether it is large enough is checked where it is used.

    Raises:
        typer.BadParameter: with the text found.
    """
    if not _WHOLE.fullmatch(text):
        raise typer.BadParameter(f"must be a whole number, such as 1000; found {_quoted(text)}")
    return int(text)


def parse_counts(text: str) -> int | tuple[int, ...]:
    """Return a whole number, or several with commas between them; whether they fit is checked where they are used.

    Raises:
        typer.BadParameter: with the text found.

    >>> parse_counts("500"), parse_counts("500,2000")
    (500, (500, 2000))
    """
    counts = tuple(parse_whole(part.strip(" ")) for part in text.split(","))
    return counts[0] if len(counts) == 1 else counts


def parse_proximity(text: str) -> float | str:
    """Return ``"auto"`` or γ in [0, 1].

    Raises:
        typer.BadParameter: naming proximity and the text found.
    """
    if text == "auto":
        return text
    value = _decimal(text)
    if not 0.0 <= value <= 1.0:
        raise typer.BadParameter(f"expected auto or a number in [0, 1]; found proximity={_quoted(text)}")
    return abs(value)


def _decimal(text: str) -> float:
    return float(text) if _DECIMAL.fullmatch(text) else math.nan


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
