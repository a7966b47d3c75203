"""The cuts of a histogram: those of the schema, or closer ones where the rows would all fall in one of them.

A long tail, or bounds far wider than the rows, leave one full bin and many empty ones. Cuts that grow with the
distance from zero (a logarithmic axis, straight around zero) then show the shape. Reads synthetic and reference rows
only: post-processing; costs nothing.
"""

from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.evaluation.binning import MAX_BINS, bin_edges, bin_numbers
from evomix.evaluation.columns import WHOLE, ColumnLike, bounds, in_words

CROWDED = 0.5
CALENDAR = ("date", "datetime")


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a histogram cuts, and what stands below it.

    Attributes:
        edges: float64 (bins + 1,), ascending; all bins are drawn equally wide.
        ticks: the values at the left end, in the middle where bins differ in width, and at the right end.
        note: how the axis differs from an even one over the schema's range; None where it does not.
    """

    edges: FloatArray
    ticks: tuple[str, ...]
    note: str | None


def choose_axis(column: ColumnLike, shown: FloatArray) -> Axis:
    """Return the axis of a number-like column for the values ``shown``, float64 (n,), missing as NaN."""
    even = bin_edges(column)
    present = shown[~np.isnan(shown)]
    low, high = bounds(column)
    plain = Axis(even, (in_words(column, low), in_words(column, high)), None)
    # Where each value has a bin of its own, a full bin is what the rows are like.
    own = len(even) == 2 or (column.type in WHOLE and even[1] - even[0] == 1.0)
    spread = _without_spike(present)
    if own or not len(spread) or _fullest(spread, even) <= CROWDED:
        return plain
    low, high = float(present.min()), float(present.max())
    closer = _closer_edges(column, present)
    if _fullest(spread, closer) >= _fullest(spread, even):
        return plain
    if column.type in CALENDAR:
        return Axis(closer, (in_words(column, low), in_words(column, high)), "range of the rows shown")
    middle = in_words(column, _rounded(float(closer[len(closer) // 2])))
    return Axis(closer, (in_words(column, low), middle, in_words(column, high)), "logarithmic axis")


def _without_spike(present: FloatArray) -> FloatArray:
    """Return the values but for one that most rows have: no cuts spread that one."""
    found, counts = np.unique(present, return_counts=True)
    if not len(found) or counts.max() <= CROWDED * len(present):
        return present
    return np.asarray(present[present != found[counts.argmax()]], dtype=np.float64)


def _fullest(values: FloatArray, edges: FloatArray) -> float:
    return float(np.bincount(bin_numbers(values, edges)).max()) / len(values)


def _closer_edges(column: ColumnLike, present: FloatArray) -> FloatArray:
    """Return cuts over the range of the values: even ones for dates, else even in the inverse hyperbolic sine."""
    low, high = float(present.min()), float(present.max())
    unit = 1.0
    if column.type in CALENDAR:
        edges = np.linspace(low, high, MAX_BINS + 1)
    else:
        sizes = np.abs(present[present != 0.0])
        # The axis is straight below the smallest common size and logarithmic above; it never spans over 12 decades.
        unit = max(float(np.quantile(sizes, 0.05)), float(sizes.max()) * 1e-12) if len(sizes) else 1.0
        edges = unit * np.sinh(np.linspace(np.arcsinh(low / unit), np.arcsinh(high / unit), MAX_BINS + 1))
        edges[0], edges[-1] = low, high  # rounding must not lose the ends
    if column.type in WHOLE:
        edges = np.append(np.floor(edges[:-1]) - 0.5, high + 0.5)
    return np.asarray(np.unique(edges), dtype=np.float64)


def _rounded(value: float) -> float:
    """Return ``value`` to two digits: the label of a cut that means nothing by itself."""
    return float(f"{value:.1e}")
