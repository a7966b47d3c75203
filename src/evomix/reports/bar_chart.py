"""Bars side by side, and histograms, as self-contained SVG. Post-processing of public values; costs nothing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.errors import SpecError
from evomix.reports.plot_frame import (
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
from evomix.reports.plot_scale import PlotScale, choose_scale, number_words

_FILLED: Final = 0.82  # share of its slot that a group of bars takes
_MOST_WORDS: Final = 12


@dataclass(frozen=True, slots=True)
class Bars:
    """One kind of bar: its words in the legend, and finite heights of at least 0, one a slot."""

    name: str
    heights: Sequence[float]

    def __post_init__(self) -> None:
        if not all(math.isfinite(height) and height >= 0.0 for height in self.heights):
            raise SpecError(f"heights must be finite and at least 0, found others in name={self.name!r}")


def bar_chart(
    groups: Sequence[Bars],
    *,
    labels: Sequence[str],
    title: str,
    x_label: str,
    y_label: str,
    level: tuple[str, float] | None = None,
    note: str = "",
) -> str:
    """Return bars in slots, one bar a group in each slot, as one SVG document.

    Args:
        groups: at least one kind of bar.
        labels: the s ≥ 1 words under the slots; where they are many, only some are written.
        title: what the plot shows; wrapped.
        x_label: name of the horizontal axis.
        y_label: name and unit of the vertical axis.
        level: words and height of a horizontal line, such as a threshold.
        note: sentences under the plot; wrapped.

    Raises:
        SpecError: there is nothing to draw, or a group has not one height a slot.
    """
    every = max(1, math.ceil(len(labels) / _MOST_WORDS))
    ticks = [(k + 0.5, label) for k, label in enumerate(labels) if k % every == 0]
    words = PlotWords(title, x_label, y_label, note)
    return _bars(groups, slots=len(labels), ticks=ticks, words=words, level=level)


def histogram(
    samples: Sequence[tuple[str, Sequence[float]]],
    *,
    bins: int,
    title: str,
    x_label: str,
    y_label: str = "share",
    note: str = "",
) -> str:
    """Return the shares of each sample in common, equally wide bins, side by side, as one SVG document.

    Args:
        samples: (name, finite values) pairs, each with at least one value.
        bins: number of bins, at least 1, over the range of all values.
        title: what the plot shows; wrapped.
        x_label: name and unit of the values.
        y_label: name of the vertical axis.
        note: sentences under the plot; wrapped.

    Raises:
        SpecError: a sample is empty or holds other than finite values, or ``bins`` is below 1.
    """
    arrays = [(name, np.asarray(values, dtype=np.float64)) for name, values in samples]
    if bins < 1 or not arrays or not all(a.size and np.isfinite(a).all() for _, a in arrays):
        raise SpecError(f"expected bins >= 1 and samples of at least one finite value, found bins={bins!r}")
    low, high = min(float(a.min()) for _, a in arrays), max(float(a.max()) for _, a in arrays)
    high = high if high > low else low + 1.0
    edges = np.linspace(low, high, bins + 1)
    groups = [Bars(name, (np.histogram(a, edges)[0] / a.size).tolist()) for name, a in arrays]
    ticks = [
        ((value - low) / (high - low) * bins, number_words(value))
        for value, _ in PlotScale(low, high).ticks()
        if low <= value <= high
    ]
    return _bars(groups, slots=bins, ticks=ticks, words=PlotWords(title, x_label, y_label, note), level=None)


def _bars(
    groups: Sequence[Bars],
    *,
    slots: int,
    ticks: Sequence[tuple[float, str]],
    words: PlotWords,
    level: tuple[str, float] | None,
) -> str:
    if not groups or slots < 1 or any(len(group.heights) != slots for group in groups):
        found = [len(group.heights) for group in groups]
        raise SpecError(f"expected groups with one height for each of {slots} slots, found lengths={found}")
    heights = [height for group in groups for height in group.heights]
    top = choose_scale([0.0, *heights, *([] if level is None else [level[1]])], log=False, name="heights").high
    legend = [Legend(group.name, k, line=False) for k, group in enumerate(groups)]
    if level is not None:
        legend.append(Legend(level[0], len(groups)))
    # Half a slot is left free at both ends: bars on the axis itself are taken for a part of it.
    area = plot_area(PlotScale(-0.5, slots + 0.5), PlotScale(0.0, top), words=words, legend=legend)
    shapes = [shape for k, group in enumerate(groups) for shape in _group(area, group, k, len(groups))]
    if level is not None:
        y = area.down(level[1])
        curve = f'class="evx-curve {colour_class(len(groups))}"'
        shapes.append(f'<line {curve} x1="{LEFT:g}" x2="{WIDTH - RIGHT:g}" y1="{y:g}" y2="{y:g}"/>')
    return render_plot(area, shapes, words=words, legend=legend, x_ticks=ticks)


def _group(area: PlotArea, group: Bars, position: int, groups: int) -> list[str]:
    width = _FILLED / groups
    ground = area.down(0.0)
    shapes = []
    for slot, height in enumerate(group.heights):
        if height <= 0.0:
            continue
        left = area.across(slot + 0.5 - _FILLED / 2.0 + position * width)
        right = area.across(slot + 0.5 - _FILLED / 2.0 + (position + 1) * width)
        top = area.down(height)
        shapes.append(
            f'<rect class="evx-bar {colour_class(position)}" x="{left:g}" y="{top:g}" '
            f'width="{right - left:g}" height="{ground - top:g}"/>'
        )
    return shapes
