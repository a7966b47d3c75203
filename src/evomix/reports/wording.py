"""Numbers as readers write them."""

import math
from decimal import ROUND_CEILING, Decimal
from typing import Any, Final

_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def count(value: Any) -> str:
    """Return a whole number with thin groups of three: ``12,345``; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return str(value)
    return f"{value:,.0f}"


def small_number(value: Any) -> str:
    """Return a number with at most four digits after its first: ``0.05``, ``10⁻⁶``, ``12,346``, ``–`` for nothing."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or 1e4 <= abs(value) < 1e15:
        return f"{value:,.0f}" if abs(value) < 1e15 else _power(f"{value:.3e}")
    return _power(f"{value:.4g}")


def bound(value: float) -> str:
    """Return an upper bound as :func:`small_number` does, but rounded up, so that it stays a bound."""
    if not math.isfinite(value) or value == 0.0:
        return small_number(value)
    exact = Decimal(repr(value))
    return small_number(float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 3), rounding=ROUND_CEILING)))


def _power(text: str) -> str:
    """Write ``1.50e-07`` as ``1.5·10⁻⁷``."""
    digits, marked, exponent = text.partition("e")
    if not marked:
        return text
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    power = f"10{str(int(exponent)).translate(_RAISED)}"
    return power if digits == "1" else f"{digits}·{power}"


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


def sentence(text: str) -> str:
    """Return ``text`` with a full stop at its end, and a capital at its start if that is a word (not ε, or a path)."""
    text = text.strip()
    word = text.partition(" ")[0]
    start = text[:1].upper() if word.isascii() and word.isalpha() else text[:1]
    return start + text[1:] + ("" if text[-1:] in ".!?" else ".")


def shorten(text: str, limit: int) -> str:
    """Return ``text`` in one line of at most ``limit`` characters; without control or direction marks."""
    line = "".join(c if c.isprintable() else " " for c in text).strip() or "(blank)"
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
