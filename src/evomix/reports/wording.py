"""Numbers as readers write them."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, Final

UPWARDS: Final = Context(prec=50, rounding=ROUND_CEILING)
"""Arithmetic for upper bounds that are written down."""
_FOUR_UP: Final = Context(prec=4, rounding=ROUND_CEILING)
_FOUR_DOWN: Final = Context(prec=4, rounding=ROUND_FLOOR)
_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def count(value: Any) -> str:
    """Return a whole number with thin groups of three: ``12,345``; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"  # exactly, however large
    return f"{value:,.0f}" if math.isfinite(value) else str(value)


def small_number(value: Any) -> str:
    """Return a number with at most four digits after its first: ``0.05``, ``10⁻⁶``, ``12,346``, ``–`` for nothing."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or 1e4 <= abs(value) < 1e15:
        return f"{value:,.0f}" if abs(value) < 1e15 else _power(f"{Decimal(value):.3e}")
    return _power(f"{value:.4g}")


def bound(value: Any) -> str:
    """Return an upper bound as :func:`small_number` does, but rounded up, so that it stays a bound.

    What is no number, or no finite one, is written as there.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value == 0 or not abs(value) < math.inf:
        return small_number(value)
    # The decimal that was typed, which is what budgets are added as. It stays one: a float could fall again.
    return _digits(_FOUR_UP.plus(Decimal(repr(value) if isinstance(value, int) else repr(float(value)))))


def one_in(share: float) -> str:
    """Return the largest N for which a share above 0 is at most 1 in N; of a large one four digits, rounded down.

    >>> one_in(1e-6), one_in(3e-310)
    ('1,000,000', '3.333·10³⁰⁹')
    """
    most = int(1 / Fraction(repr(float(share))))
    return count(most) if most < 10**15 else _digits(_FOUR_DOWN.plus(Decimal(most)))


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
    exact = Decimal(exponent)
    if exponent > 13:
        power = UPWARDS.divide(exact, UPWARDS.next_minus(UPWARDS.ln(Decimal(10))))
        tenths = power.quantize(Decimal("0.1"), ROUND_CEILING) if power < 10**6 else _FOUR_UP.plus(power)
        return f"10^{_digits(tenths)}"
    value = exp_up(exact)
    digits = max(2 - value.adjusted(), 0)
    return f"{value.quantize(Decimal(1).scaleb(-digits), ROUND_CEILING):,f}"


def _digits(value: Decimal) -> str:
    """Return all digits of a number that has few, as :func:`small_number` would."""
    place = value.adjusted()
    if -4 <= place < 15:
        return f"{value.normalize():,f}"
    return _power(f"{value.scaleb(-place).normalize():f}e{place}")


def exp_up(exponent: Decimal) -> Decimal:
    """Return e^exponent rounded up in its fiftieth digit; exactly 1 for 0."""
    value = UPWARDS.exp(exponent)  # to the nearest, whatever the context says
    return value if exponent == 0 else UPWARDS.next_plus(value)


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
