"""Small charts as geometry: what the template draws as inline SVG.

Charts are a few rectangles and lines, so they are written as SVG by the template itself: styled by the page,
sharp at any size, readable by screen readers, safe for any script or emoji in a name, and a few kilobytes a
column. Post-processing of public values; costs nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.evaluation.binning import bin_column, bin_numbers, cell_count
from evomix.evaluation.columns import ColumnLike, is_number_like, labels
from evomix.reports.axes import Axis, choose_axis
from evomix.reports.wording import percent, shorten

WIDTH, HEIGHT = 260.0, 96.0
MOST_BARS = 8
LABEL_LENGTH = 22


@dataclass(frozen=True, slots=True)
class Bar:
    """One category: its word, and the shares of synthetic and reference rows (None without a reference)."""

    label: str
    full_label: str
    synthetic: float
    reference: float | None


@dataclass(frozen=True, slots=True)
class Histogram:
    """A number's distribution.

    Attributes:
        bars: (x, y, width, height) of each synthetic bin, within WIDTH × HEIGHT.
        outline: points of the reference's step line, SVG syntax; None without a reference.
        ticks: the left end, the middle where bins differ in width, and the right end, in words.
    """

    bars: tuple[tuple[float, float, float, float], ...]
    outline: str | None
    ticks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnChart:
    """One column's plot and caption.

    Attributes:
        name: the column, in one short line.
        full_name: the column as it is called.
        type: its type.
        overlap: 1 − total variation of synthetic and reference rows; None without a reference.
        missing: share of missing synthetic cells, in words; None where the column does not allow any.
        reference_missing: the same for the reference.
        histogram: for number-like columns with a present value.
        bars: for categories.
        note: what else a reader should know, such as an entirely empty column or a logarithmic axis.
        scale: the share that a full bar stands for.
    """

    name: str
    full_name: str
    type: str
    overlap: str | None
    missing: str | None
    reference_missing: str | None
    histogram: Histogram | None
    bars: tuple[Bar, ...]
    note: str | None
    scale: float


def column_chart(column: ColumnLike, synthetic: FloatArray, reference: FloatArray | None) -> ColumnChart:
    """Return the chart of one column.

    Args:
        column: its name, type and public range.
        synthetic: float64 (m,), missing as NaN.
        reference: float64 (l,) of public or held-out rows, never of private ones; None for no comparison.
    """
    known_cells = reference if reference is not None and len(reference) else None
    axis = _axis(column, synthetic, known_cells)
    made = _shares(column, synthetic, axis)
    known = None if known_cells is None else _shares(column, known_cells, axis)
    note = None if axis is None else axis.note
    if made[:-1].sum() == 0:
        note = "every synthetic cell is empty" if len(synthetic) else "no rows"
    bars = () if axis is not None else _bars(labels(column), made, known)
    return ColumnChart(
        name=shorten(column.name, 40),
        full_name=column.name,
        type=column.type,
        overlap=None if known is None else percent(1.0 - 0.5 * float(np.abs(made - known).sum()), 0),
        missing=percent(float(made[-1])) if column.missing else None,
        reference_missing=percent(float(known[-1])) if known is not None and column.missing else None,
        histogram=None
        if axis is None
        else step_histogram(made[:-1], None if known is None else known[:-1], axis.ticks),
        bars=bars,
        note=note,
        scale=max([bar.synthetic for bar in bars] + [bar.reference or 0.0 for bar in bars] + [1e-9]),
    )


def column_charts(
    columns: Sequence[ColumnLike], synthetic: FloatArray, reference: FloatArray | None
) -> tuple[ColumnChart, ...]:
    """Return a chart of each column; arguments as in ``column_chart`` with one matrix column each."""
    return tuple(
        column_chart(column, synthetic[:, j], None if reference is None else reference[:, j])
        for j, column in enumerate(columns)
    )


def _axis(column: ColumnLike, synthetic: FloatArray, reference: FloatArray | None) -> Axis | None:
    """Return the axis of a number-like column for the rows of both tables; None for categories."""
    if not is_number_like(column):
        return None
    return choose_axis(column, synthetic if reference is None else np.concatenate([synthetic, reference]))


def _shares(column: ColumnLike, values: FloatArray, axis: Axis | None) -> FloatArray:
    """Return the share of each cell, "missing" last."""
    if axis is None:
        codes, cells = bin_column(values, column), cell_count(column)
    else:
        codes, cells = bin_numbers(values, axis.edges), len(axis.edges)
    return np.asarray(np.bincount(codes, minlength=cells) / max(len(codes), 1), dtype=np.float64)


def step_histogram(synthetic: FloatArray, known: FloatArray | None, ticks: tuple[str, ...]) -> Histogram:
    """Return shares of synthetic rows as bars and those of a reference as a step line.

    Args:
        synthetic: float64 (b,), the share of each bin, at least one bin.
        known: float64 (b,) of the reference; None without one.
        ticks: words below the axis.
    """
    tallest = max(float(synthetic.max()), float(known.max()) if known is not None else 0.0) or 1.0
    step = WIDTH / len(synthetic)
    bars = tuple(
        (
            round(k * step, 2),
            round(HEIGHT * (1 - share / tallest), 2),
            round(step, 2),
            round(HEIGHT * share / tallest, 2),
        )
        for k, share in enumerate(synthetic.tolist())
        if share > 0
    )
    outline = None
    if known is not None:
        points = [(0.0, HEIGHT)]
        for k, share in enumerate(known.tolist()):
            y = HEIGHT * (1 - share / tallest)
            points += [(k * step, y), ((k + 1) * step, y)]
        points.append((WIDTH, HEIGHT))
        outline = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
    return Histogram(bars, outline, ticks)


def _bars(words: Sequence[str], made: FloatArray, known: FloatArray | None) -> tuple[Bar, ...]:
    """Return the most common categories and one bar for the rest."""
    weight = made[:-1] + (known[:-1] if known is not None else 0.0)
    order = np.argsort(-weight, kind="stable")
    shown = order if len(words) <= MOST_BARS else order[: MOST_BARS - 1]
    bars = [
        Bar(
            shorten(words[k], LABEL_LENGTH),
            words[k],
            float(made[k]),
            float(known[k]) if known is not None else None,
        )
        for k in shown
        if k < len(words)
    ]
    rest = order[len(shown) :]
    if len(rest):
        text = f"{len(rest):,} more values"
        bars.append(Bar(text, text, float(made[rest].sum()), float(known[rest].sum()) if known is not None else None))
    return tuple(bars)
