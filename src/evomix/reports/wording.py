"""Numbers as readers write them."""

import math
from typing import Any


def count(value: Any) -> str:
    """Return a whole number with thin groups of three: ``12,345``; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return str(value)
    return f"{value:,.0f}"


def small_number(value: Any) -> str:
    """Return a number with at most four digits: ``0.05``, ``1e-06``, ``–`` for nothing."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or (math.isfinite(value) and value == int(value) and abs(value) >= 1e4):
        return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.3e}"
    return f"{value:.4g}"


def power_or_number(exponent: float) -> str:
    """Return e^exponent rounded up in its third digit, as a power of ten where it is very large."""
    if exponent > 13:
        return f"10^{math.ceil(exponent / math.log(10) * 10) / 10:g}"
    value = math.exp(exponent)
    digits = max(2 - math.floor(math.log10(value)), 0)
    return f"{math.ceil(value * 10**digits - 1e-9) / 10**digits:,.{digits}f}"


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as a percentage; ``–`` for nothing."""
    return "–" if share is None else f"{share:.{digits}%}".replace("%", " %")


def shorten(text: str, limit: int) -> str:
    """Return ``text`` in one line of at most ``limit`` characters; without control or direction marks."""
    line = "".join(c if c.isprintable() else " " for c in text).strip() or "(blank)"
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
