"""Points in the plane, as self-contained SVG. Post-processing of public values; costs nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.reports.plot_frame import (
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    Legend,
    PlotArea,
    PlotWords,
    colour_class,
    plot_area,
    render_plot,
)
from evomix.reports.plot_scale import PlotScale

Kind = Literal["dots", "cloud", "rings", "path"]

_SHAPES: Final = {"dots": ("evx-dot", 3.6), "cloud": ("evx-band", 2.6), "rings": ("evx-ring", 7.0)}
_ROOM: Final = 0.05  # share of the range left free at each end


@dataclass(frozen=True, slots=True)
class Marks:
    """Points that belong together.

    Attributes:
        name: their words in the legend.
        points: finite floats (k, 2), k ≥ 1.
        kind: small dots, a faint cloud for many, large hollow rings, or a path that joins them in order.

    Raises ``SpecError`` on construction when the points are none, not in the plane or not finite.
    """

    name: str
    points: FloatArray
    kind: Kind = "dots"

    def __post_init__(self) -> None:
        shape = np.shape(self.points)
        if len(shape) != 2 or shape[1] != 2 or not shape[0] or not np.isfinite(self.points).all():
            raise SpecError(f"expected finite points of shape (k, 2), k ≥ 1, found shape={shape} in name={self.name!r}")


def scatter_chart(marks: Sequence[Marks], *, title: str, x_label: str, y_label: str, note: str = "") -> str:
    """Return the points as one SVG document, a unit as long upwards as sideways.

    Later marks are drawn over earlier ones; colours tell them apart and repeat after the eighth.

    Args:
        marks: at least one.
        title: what the plot shows; wrapped.
        x_label: name and unit of the horizontal axis.
        y_label: name and unit of the vertical axis.
        note: sentences under the plot; wrapped.

    Raises:
        SpecError: there is nothing to draw.
    """
    if not marks:
        raise SpecError("expected at least one kind of marks, found none")
    x, y = _scales(np.concatenate([one.points for one in marks]))
    words = PlotWords(title, x_label, y_label, note)
    legend = [Legend(one.name, k, line=one.kind == "path") for k, one in enumerate(marks)]
    area = plot_area(x, y, words=words, legend=legend)
    shapes = [shape for k, one in enumerate(marks) for shape in _shapes(area, one, colour_class(k))]
    return render_plot(area, shapes, words=words, legend=legend)


def _scales(points: FloatArray) -> tuple[PlotScale, PlotScale]:
    """Return axes that show all ``points`` with one unit equally long on both."""
    lows, highs = points.min(axis=0), points.max(axis=0)
    pixels = np.array([WIDTH - LEFT - RIGHT, HEIGHT])
    widest = float(((highs - lows) / pixels).max()) * (1.0 + 2.0 * _ROOM)
    if widest <= 1e-12 * float(np.abs(points).max()):  # all at one place: any unit serves
        widest = float(np.abs(points).max()) / HEIGHT or 1.0 / HEIGHT
    middles, halves = (lows + highs) / 2.0, widest * pixels / 2.0
    x, y = (PlotScale(float(m - h), float(m + h)) for m, h in zip(middles, halves, strict=True))
    return x, y


def _shapes(area: PlotArea, one: Marks, key: str) -> list[str]:
    places = [(area.across(float(x)), area.down(float(y))) for x, y in one.points]
    if one.kind == "path":
        joined = " ".join(f"{x:g},{y:g}" for x, y in places)
        return [f'<polyline class="evx-curve {key}" points="{joined}"/>']
    shape, radius = _SHAPES[one.kind]
    return [f'<circle class="{shape} {key}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>' for x, y in places]
