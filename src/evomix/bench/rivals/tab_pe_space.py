"""The records of a schema as Tab-PE sees them: fresh ones, variations, distances.

Source: Tran et al., "Differentially private synthetic data via APIs 4: tabular data" (2026).

The paper has no missing numbers. Here whether a number is there is one more category: drawn evenly at the start, drawn
anew as categories are, and two values of a category apart in the distance.
"""

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.evaluation.columns import bounds
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.conform import snap
from evomix.modalities.tabular.schema import Schema
from evomix.neighbors.tabular import CATEGORY, NUMBER, TabularIndex

CATEGORY_COORDINATE: Final = 1.0 / 3.0
"""The one coordinate of a one-hot category that is not 0 (2026, experimental setting)."""
_CATEGORY_WEIGHT: Final = 2.0 * CATEGORY_COORDINATE**2
"""Squared distance of two different categories: they differ in two coordinates."""
_MISSING_POSITION: Final = 0.5
_MISSING_CODE: Final = -1.0


class Space:
    """All columns but the class, which neither varies nor enters the distance.

    Rows are float64 (m, modelled columns), as :class:`TableCodec` writes them; NaN is missing.

    Args:
        schema: the public schema.
        target: the column that may hold the class; None where there is none.

    Raises:
        SpecError: ``target`` is not one of the modelled columns.
    """

    def __init__(self, schema: Schema, target: str | None) -> None:
        self._columns = schema.modelled
        self._codec = TableCodec(schema)
        names = [column.name for column in self._columns]
        if target is not None and target not in names:
            raise SpecError(f"expected target to be one of the columns {', '.join(names)}; found target={target!r}")
        label = names.index(target) if target is not None else None
        if label is not None and not self._columns[label].coded:
            label = None  # a number is no class: all rows evolve together, the target among their columns
        self._label = label
        self._free = [j for j in range(len(names)) if j != label]
        self._kinds, self._weights = self._geometry()

    @property
    def classes(self) -> int:
        """Number of classes, a missing one included; 1 where the target is a number or there is none."""
        return 1 if self._label is None else _codes(self._columns[self._label])

    def encode(self, table: pa.Table) -> FloatArray:
        """Return a table's rows."""
        return np.asarray(self._codec.encode(table), np.float64)

    def decode(self, rows: FloatArray) -> pa.Table:
        """Return rows as a table of the modelled columns."""
        return self._codec.decode(rows).select([column.name for column in self._columns])

    def labels(self, rows: FloatArray) -> IntArray:
        """Return the class of each row, int64 (m,)."""
        if self._label is None:
            return np.zeros(len(rows), np.int64)
        codes = rows[:, self._label]
        return np.where(np.isnan(codes), self.classes - 1, codes).astype(np.int64)

    def random(self, labels: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return a row of each class given, every other column even over the schema."""
        rows = np.empty((len(labels), len(self._columns)))
        for j in self._free:
            rows[:, j] = _fresh(self._columns[j], len(labels), rng)
        if self._label is not None:
            rows[:, self._label] = _values(self._columns[self._label], labels)
        return rows

    def vary(self, rows: FloatArray, rate: float, rng: np.random.Generator) -> FloatArray:
        """Return a variation of each row.

        Each category is drawn anew with probability ``rate``; each number moves by up to ``rate`` of its range.
        """
        varied = rows.copy()
        for j in self._free:
            varied[:, j] = _varied(self._columns[j], rows[:, j], rate, rng)
        return varied

    def nearest(self, queries: FloatArray, candidates: FloatArray) -> IntArray:
        """Return the position of each query's nearest candidate, int64; ties go to the lowest position."""
        if not self._kinds.size:
            return np.zeros(len(queries), np.int64)
        index = TabularIndex(self._coordinates(candidates), kinds=self._kinds, weights=self._weights)
        return index.nearest(self._coordinates(queries))

    def _geometry(self) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        kinds: list[int] = []
        for column in (self._columns[j] for j in self._free):
            kinds += [CATEGORY] if column.coded else [NUMBER] + [CATEGORY] * column.missing
        found = np.array(kinds, np.uint8)
        return found, np.where(found == NUMBER, 1.0, _CATEGORY_WEIGHT).astype(np.float32)

    def _coordinates(self, rows: FloatArray) -> NDArray[np.float32]:
        parts: list[FloatArray] = []
        for j in self._free:
            column, cells = self._columns[j], rows[:, j]
            missing = np.isnan(cells)
            if column.coded:
                parts.append(np.where(missing, _MISSING_CODE, cells))
                continue
            low, high = bounds(column)
            parts.append(np.where(missing, _MISSING_POSITION, (cells - low) / ((high - low) or 1.0)))
            if column.missing:
                parts.append(missing.astype(np.float64))
        return np.stack(parts, axis=1).astype(np.float32)


def _codes(column: Column) -> int:
    return len(column.values) + column.missing


def _values(column: Column, codes: IntArray) -> FloatArray:
    return np.where(codes < len(column.values), codes, np.nan)


def _fresh(column: Column, size: int, rng: np.random.Generator) -> FloatArray:
    if column.coded:
        return _values(column, rng.integers(_codes(column), size=size))
    cells = _even(column, size, rng)
    return np.where(rng.random(size) < 0.5, np.nan, cells) if column.missing else cells


def _even(column: Column, size: int, rng: np.random.Generator) -> FloatArray:
    low, high = bounds(column)
    half = (column.step or 0.0) / 2.0  # so that the outermost values of a grid are as likely as the others
    return snap(column, rng.uniform(low - half, high + half, size))


def _varied(column: Column, cells: FloatArray, rate: float, rng: np.random.Generator) -> FloatArray:
    size = len(cells)
    if column.coded:
        return np.where(rng.random(size) < rate, _fresh(column, size, rng), cells)
    low, high = bounds(column)
    moved = snap(column, cells + rng.uniform(-rate, rate, size) * (high - low))
    if not column.missing:
        return moved
    drawn = _fresh(column, size, rng)
    redrawn = (rng.random(size) < rate) & (np.isnan(drawn) | np.isnan(cells))
    return np.where(redrawn, drawn, moved)
