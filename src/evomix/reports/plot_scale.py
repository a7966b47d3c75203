"""The axis of a plot: which range it shows, where its ticks stand and what they say.

Pure arithmetic on public numbers; costs no privacy.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evomix.core.errors import SpecError

_SUPERSCRIPT: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MOST_TICKS: Final = 7
_SLACK: Final = 1e-9  # of a step
_ROOM: Final = 0.04  # share of a logarithmic range left free above the highest point and below the lowest


@dataclass(frozen=True, slots=True)
class PlotScale:
    """A map from values to [0, 1] along an axis.

    Attributes:
        low: value at the start of the axis.
        high: value at its end, above ``low``.
        log: whether the axis is logarithmic; then ``low`` > 0.
    """

    low: float
    high: float
    log: bool = False

    def place(self, value: float) -> float:
        """Return where ``value`` stands, 0 at the start of the axis and 1 at its end; kept within the axis."""
        if self.log:
            part = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return min(max(part, 0.0), 1.0)

    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Return (value, words) of each tick, ascending; at least two."""
        values = _log_ticks(self.low, self.high) if self.log else _even_ticks(self.low, self.high)
        if self.log and len(values) >= 2:
            return tuple((value, _log_words(value)) for value in values)
        values = values if len(values) >= 2 else _even_ticks(self.low, self.high)
        return tuple((value, number_words(value)) for value in values)


def choose_scale(values: Sequence[float], *, log: bool, name: str, tight: bool = False) -> PlotScale:
    """Return the axis that shows all of ``values``.

    An even axis starts at zero where that costs less than half of it, so that heights can be compared, and begins and
    ends with a tick, so that every height can be read.

    Args:
        values: finite numbers, at least one; above zero for a logarithmic axis.
        log: whether the axis is logarithmic.
        name: what a message calls the values.
        tight: end the axis at the extreme values, as befits the horizontal axis of a curve.

    Raises:
        SpecError: there is nothing to show, or a logarithmic axis is asked for numbers that are not positive.
    """
    if not values:
        raise SpecError(f"expected at least one finite number to plot in {name}, found none")
    low, high = float(min(values)), float(max(values))
    if log:
        if low <= 0.0:
            raise SpecError(f"a logarithmic axis needs numbers above 0, found {name}={low!r}; use an even axis")
        if high / low < 1.0 + 1e-9:
            low, high = low / 2.0, high * 2.0
        room = 1.0 if tight else (high / low) ** _ROOM
        return PlotScale(low / room, high * room, log=True)
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        half = 0.5 * abs(high) or 0.5
        low, high = low - half, high + half
    if tight:
        return PlotScale(low, high)
    return PlotScale(*_between_ticks(0.0 if 0.0 <= low < 0.5 * high else low, high))


def number_words(value: float) -> str:
    """Return a short form of ``value``: ``0.25``, ``57,717``, ``2·10⁻⁶``."""
    size = abs(value)
    if size == 0.0 or 1e-4 <= size < 1e7:
        return f"{value:,.6g}" if size < 1e6 else f"{value:,.0f}"
    digits, exponent = f"{value:.3e}".split("e")
    power = f"10{str(int(exponent)).translate(_SUPERSCRIPT)}"
    mantissa = f"{float(digits):g}"
    return power if mantissa == "1" else f"{mantissa}·{power}"


def _log_words(value: float) -> str:
    return number_words(value) if 1e-3 <= value < 1e6 else number_words(float(f"{value:.3e}"))


def _between_ticks(low: float, high: float) -> tuple[float, float]:
    """Return the range widened to ticks at both ends; again where the wider one has wider steps."""
    first, last = low, high
    for _ in range(_MOST_TICKS):
        ticks = _even_ticks(low, high)
        step = ticks[1] - ticks[0] if len(ticks) > 1 else high - low
        if len(ticks) > 1 and ticks[0] <= low + _SLACK * step and ticks[-1] >= high - _SLACK * step:
            break
        low, high = math.floor(low / step + _SLACK) * step, math.ceil(high / step - _SLACK) * step
    # Rounding may have put an end a hair inside of the values.
    return min(first, low), max(last, high)


def _even_ticks(low: float, high: float) -> tuple[float, ...]:
    raw = (high - low) / (_MOST_TICKS - 1)
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(step * size for step in (1.0, 2.0, 2.5, 5.0, 10.0) if step * size >= raw * (1.0 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # Rounding to the step's own digits keeps 0.30000000000000004 out of the labels.
    digits = max(0, 2 - math.floor(math.log10(step)))
    return tuple(round(k * step, digits) + 0.0 for k in range(first, last + 1))


def _log_ticks(low: float, high: float) -> tuple[float, ...]:
    decades = math.log10(high / low)
    steps = (1.0, 2.0, 5.0) if decades <= 2.5 else (1.0,)
    every = max(1, math.ceil(decades / _MOST_TICKS))
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [float(f"{step:g}e{k}") for k in exponents if k % every == 0 for step in steps]
    return tuple(value for value in values if low * (1.0 - 1e-9) <= value <= high * (1.0 + 1e-9))
