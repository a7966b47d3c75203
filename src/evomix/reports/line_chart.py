"""Curves over numbers, as self-contained SVG. Post-processing of public values; costs nothing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.reports.plot_frame import Legend, PlotArea, PlotWords, colour_class, plot_area, render_plot
from evomix.reports.plot_scale import choose_scale

Numbers = Sequence[float] | FloatArray


@dataclass(frozen=True, slots=True)
class Series:
    """One curve.

    Attributes:
        name: its words in the legend.
        x: k ≥ 1 finite numbers, in the order in which they are joined.
        y: k numbers; a value that is not finite leaves a gap.
        spread: k half-widths of the uncertainty (≥ 0), drawn as a band, or as bars on points; None for none.
        marker: whether a dot stands on each point.
        large: whether the dots are large and hollow, to mark points of other curves.

    Raises ``SpecError`` on construction when lengths or numbers do not fit.
    """

    name: str
    x: Numbers
    y: Numbers
    spread: Numbers | None = None
    marker: bool = False
    large: bool = False

    def __post_init__(self) -> None:
        lengths = [len(self.x), len(self.y), len(self.x if self.spread is None else self.spread)]
        if len(set(lengths)) != 1 or not lengths[0]:
            raise SpecError(
                f"x, y and spread must have one length of at least 1, found {lengths} in name={self.name!r}"
            )
        if not all(math.isfinite(value) for value in self.x):
            raise SpecError(f"x must hold finite numbers, found others in name={self.name!r}")
        if self.spread is not None and not all(half >= 0.0 for half in self.spread if not math.isnan(half)):
            raise SpecError(f"spread must hold half-widths of at least 0, found others in name={self.name!r}")

    def points(self) -> tuple[tuple[float, float, float], ...]:
        """Return (x, y, half-width) of each point; an absent or unknown half-width is 0."""
        halves = [0.0] * len(self.x) if self.spread is None else [h if math.isfinite(h) else 0.0 for h in self.spread]
        return tuple((float(x), float(y), float(h)) for x, y, h in zip(self.x, self.y, halves, strict=True))


def line_chart(
    series: Sequence[Series],
    *,
    title: str,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = False,
    note: str = "",
) -> str:
    """Return the curves as one SVG document.

    Colours and dashes tell curves apart and repeat after the eighth. What reaches below a logarithmic axis, such as
    the lower end of an uncertainty, is cut at its start.

    Args:
        series: at least one curve with a finite value.
        title: what the plot shows; wrapped.
        x_label: name and unit of the horizontal axis.
        y_label: name and unit of the vertical axis.
        log_x: logarithmic horizontal axis.
        log_y: logarithmic vertical axis.
        note: sentences under the plot; wrapped.

    Raises:
        SpecError: there is nothing to draw, or a value that is not positive on a logarithmic axis.
    """
    drawn = [point for one in series for point in one.points() if math.isfinite(point[1])]
    x = choose_scale([point[0] for point in drawn], log=log_x, name="x", tight=True)
    ends = [y + sign * half for _, y, half in drawn for sign in (-1.0, 1.0)]
    lowest = min((y for _, y, _ in drawn), default=0.0)
    y = choose_scale(
        [lowest, *(end for end in ends if end > 0.0)] if log_y else ends,
        log=log_y,
        name="y",
    )
    words = PlotWords(title, x_label, y_label, note)
    legend = [Legend(one.name, k) for k, one in enumerate(series)]
    area = plot_area(x, y, words=words, legend=legend)
    bands = [shape for k, one in enumerate(series) if not one.marker for shape in _band(area, one, k)]
    curves = [shape for k, one in enumerate(series) for shape in _curve(area, one, k)]
    return render_plot(area, bands + curves, words=words, legend=legend)


def _runs(one: Series) -> list[list[tuple[float, float, float]]]:
    """Return the points between gaps."""
    runs: list[list[tuple[float, float, float]]] = [[]]
    for point in one.points():
        if math.isfinite(point[1]):
            runs[-1].append(point)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _band(area: PlotArea, one: Series, colour: int) -> list[str]:
    if one.spread is None:
        return []
    shapes = []
    for run in _runs(one):
        upper = [f"{area.across(x):g},{area.down(y + half):g}" for x, y, half in run]
        lower = [f"{area.across(x):g},{area.down(y - half):g}" for x, y, half in reversed(run)]
        shapes.append(f'<polygon class="evx-band {colour_class(colour)}" points="{" ".join(upper + lower)}"/>')
    return shapes


def _curve(area: PlotArea, one: Series, colour: int) -> list[str]:
    key = colour_class(colour)
    dot, radius = ("evx-ring", 7.0) if one.large else ("evx-dot", 3.2)
    shapes = []
    for run in _runs(one):
        points = " ".join(f"{area.across(x):g},{area.down(y):g}" for x, y, _ in run)
        shapes.append(f'<polyline class="evx-curve {key}" points="{points}"/>')
        # A lone point has no line to be seen by.
        if one.marker or len(run) == 1:
            shapes += [
                f'<circle class="{dot} {key}" cx="{area.across(x):g}" cy="{area.down(y):g}" r="{radius:g}"/>'
                for x, y, _ in run
            ]
        if one.marker and one.spread is not None:
            shapes += [_error_bar(area, point, key) for point in run if point[2] > 0.0]
    return shapes


def _error_bar(area: PlotArea, point: tuple[float, float, float], key: str) -> str:
    x, y, half = point
    across, upper, lower = area.across(x), area.down(y + half), area.down(y - half)
    path = f"M{across - 4:g} {upper:g}h8M{across:g} {upper:g}V{lower:g}M{across - 4:g} {lower:g}h8"
    return f'<path class="evx-error {key}" d="{path}"/>'
