"""One figure on a line from its floor to its ceiling."""

from dataclasses import dataclass
from typing import TypeAlias

from evomix.reports.wording import small_number

Ends: TypeAlias = tuple[float, float]
"""The worst and the best value that a line must reach."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """One figure between its floor and its ceiling; better is always to the right.

    Attributes:
        name: what is measured.
        value: the synthetic figure in words.
        ceiling: what real rows score.
        floor: what no private data scores.
        position: place of the value, 0 to 100; None where it is undefined.
        ceiling_position: place of the ceiling.
        floor_position: place of the floor.
    """

    name: str
    value: str
    ceiling: str
    floor: str
    position: float | None
    ceiling_position: float | None
    floor_position: float | None


def gauge(name: str, figures: tuple[float | None, float | None, float | None], *, ends: Ends) -> Gauge:
    """Place (value, ceiling, floor) on a line; ``ends`` are the worst and best values it must reach."""
    worst, best = ends
    sign = 1.0 if best else -1.0  # 0 is the best distance or error, 1 the best score
    known = [sign * item for item in (*figures, worst, best) if item is not None]
    low, high = min(known), max(known)

    def position(item: float | None) -> float | None:
        if item is None:
            return None
        return round(100.0 * (sign * item - low) / (high - low), 1) if high > low else 100.0

    value, ceiling, floor = figures
    return Gauge(name, three(value), three(ceiling), three(floor), position(value), position(ceiling), position(floor))


def three(value: float | None) -> str:
    """Return a figure with three decimals; a dash for none."""
    if value is None:
        return "–"
    return f"{value:.3f}" if abs(value) < 1000 else small_number(value)
