"""How strongly each pair of columns goes together, as a grid of shaded squares. Post-processing; costs nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.evaluation.association import association_matrix
from evomix.evaluation.columns import ColumnLike
from evomix.reports.wording import shorten

MOST_COLUMNS = 60
MOST_NAMED = 30
MOST_ROWS = 50_000
SIZE = 360.0


@dataclass(frozen=True, slots=True)
class Square:
    """One pair: place, size and shade (0 unrelated to 1) of its square, and its words where there is room."""

    x: float
    y: float
    size: float
    shade: float
    title: str | None


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A grid of at most 60 columns.

    Attributes:
        title: whose rows.
        squares: the pairs, without the diagonal.
        labels: (name, middle of its row); empty where there is no room.
        size: width and height.
        note: which columns are shown, where not all are.
    """

    title: str
    squares: tuple[Square, ...]
    labels: tuple[tuple[str, float], ...]
    size: float
    note: str | None


def heat_maps(columns: Sequence[ColumnLike], tables: Sequence[tuple[str, FloatArray]]) -> tuple[HeatMap, ...]:
    """Return one map a table; none where fewer than two columns or rows leave nothing to relate.

    Args:
        columns: the c columns.
        tables: (title, float64 (n, c)) pairs of public or synthetic rows, never of private ones.
    """
    if len(columns) < 2:
        return ()
    return tuple(_heat_map(title, rows, columns) for title, rows in tables if len(rows) > 1)


def _heat_map(title: str, rows: FloatArray, columns: Sequence[ColumnLike]) -> HeatMap:
    shown = columns[:MOST_COLUMNS]
    sample = rows
    if len(rows) > MOST_ROWS:
        sample = rows[np.linspace(0, len(rows) - 1, MOST_ROWS).astype(np.int64)]
    strength = np.abs(association_matrix(sample[:, : len(shown)], shown))
    step, named = SIZE / len(shown), len(shown) <= MOST_NAMED
    names = [shorten(column.name, 20) for column in shown]
    squares = tuple(
        Square(
            x=round(j * step, 1),
            y=round(i * step, 1),
            size=round(step * 0.94, 1),
            shade=round(float(strength[i, j]), 2),
            title=f"{names[i]} with {names[j]}: {strength[i, j]:.2f}" if named else None,
        )
        for i in range(len(shown))
        for j in range(len(shown))
        if i != j
    )
    labels = tuple((name, round((i + 0.5) * step, 1)) for i, name in enumerate(names)) if named else ()
    note = f"the first {MOST_COLUMNS} of {len(columns)} columns" if len(columns) > MOST_COLUMNS else None
    return HeatMap(title, squares, labels, SIZE, note)
