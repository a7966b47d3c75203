"""Rows whose two-way counts come near given ones, by small changes that are kept when they help.

Changing one cell of one row moves two counts in each of the tables of its column, so the change of the squared error is
a closed form: (e − 1)² − e² = 1 − 2e where a row leaves and 1 + 2e where it comes, e being count minus target. A
proposal therefore costs a few reads a column, however many statistics there are. The paper evaluates a batch of
changed tables and keeps the best; the operators are the paper's.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from evomix.bench.rivals.grid import marginal
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled

GENERATION: Final = 50
"""Proposals in one generation (Liu, Tang, Vietri and Wu 2023)."""
LEAST_IMPROVEMENT: Final = 1e-4
"""The search ends when as many generations as rows lower the error by less than this share (2023)."""
LEAST_SHARE: Final = 0.05
"""Least share of the proposals that an operator keeps (2023)."""
MOST_SWEEPS: Final = 1_000

_MUTATE, _SWAP, _CROSSOVER = 0, 1, 2
_OPERATORS: Final = 3


@dataclass(frozen=True, slots=True)
class PairTables:
    """Where the counts of every pair of columns lie in one flat array.

    The cell of values x, y of columns i, j is ``offsets[i, j] + x·strides[i, j] + y·strides[j, i]``.

    Attributes:
        sizes: number of cells of each column, int64 (c,), c ≥ 2.
        offsets: int64 (c, c), symmetric.
        strides: int64 (c, c).
        total: cells of all pairs.
    """

    sizes: IntArray
    offsets: IntArray
    strides: IntArray
    total: int

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs, in the order of their cells, the second column running fastest."""
        return list(combinations(range(len(self.sizes)), 2))


def pair_tables(sizes: IntArray) -> PairTables:
    """Return the layout of all pairs of columns with those sizes."""
    columns, position = len(sizes), 0
    offsets = np.zeros((columns, columns), np.int64)
    strides = np.ones((columns, columns), np.int64)
    for i, j in combinations(range(columns), 2):
        offsets[i, j] = offsets[j, i] = position
        strides[i, j] = sizes[j]
        position += int(sizes[i] * sizes[j])
    return PairTables(np.asarray(sizes, np.int64), offsets, strides, position)


def search(rows: IntArray, targets: FloatArray, tables: PairTables, rng: np.random.Generator) -> float:
    """Change ``rows`` in place until their counts hardly come nearer to ``targets``; return the squared error.

    Args:
        rows: int64 (m, c), the start, m ≥ 1.
        targets: float64 (tables.total,), summing to m in every pair.
        tables: the layout.
        rng: of the proposals.
    """
    sizes = tuple(tables.sizes)
    errors = -targets
    for i, j in tables.pairs:
        start = tables.offsets[i, j]
        errors[start : start + sizes[i] * sizes[j]] += marginal(rows, sizes, (i, j))
    weights = np.log(np.maximum(tables.sizes, 1)) + 1e-9  # a column with many values needs more tries
    columns = np.cumsum(weights) / weights.sum()
    shares = np.full(_OPERATORS, 1.0 / _OPERATORS)
    squared = float(errors @ errors)
    layout = (tables.sizes, tables.offsets, tables.strides)
    for _ in range(MOST_SWEEPS):
        gains = _sweep(rows, errors, *layout, columns, np.cumsum(shares), GENERATION * len(rows), rng)
        gain = float(gains.sum())
        if not gain > LEAST_IMPROVEMENT * max(squared, 0.0):
            break
        squared -= gain
        shares = LEAST_SHARE + (1.0 - _OPERATORS * LEAST_SHARE) * gains / gain
    return float(errors @ errors)


@compiled
def _sweep(
    rows: IntArray,
    errors: FloatArray,
    sizes: IntArray,
    offsets: IntArray,
    strides: IntArray,
    columns: FloatArray,
    shares: FloatArray,
    proposals: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Try ``proposals`` changes, keep those that help, return by how much each operator lowered the squared error."""
    gains = np.zeros(3)
    count = len(rows)
    for _ in range(proposals):
        draw = rng.random()
        operator = _MUTATE if draw < shares[0] else (_SWAP if draw < shares[1] else _CROSSOVER)
        row, other = rows[int(rng.random() * count)], rows[int(rng.random() * count)]
        j = _column(columns, rng.random())
        k = j
        if operator == _MUTATE:
            value, second = int(rng.random() * sizes[j]), -1
        else:
            value, second = other[j], -1
            if operator == _SWAP:
                second = row[j]
            elif rng.random() < 0.5:  # a second column, copied into the same row
                k = _column(columns, rng.random())
                second, other = (other[k], row) if k != j else (-1, other)
        before = row[j]
        rise = _rise(errors, row, j, value, offsets, strides)
        if second < 0:
            if rise < 0.0:
                _move(errors, row, j, value, offsets, strides)
                gains[operator] -= rise
            continue
        _move(errors, row, j, value, offsets, strides)
        rise += _rise(errors, other, k, second, offsets, strides)
        if rise < 0.0:
            _move(errors, other, k, second, offsets, strides)
            gains[operator] -= rise
        else:
            _move(errors, row, j, before, offsets, strides)
    return gains


@compiled
def _column(cumulative: FloatArray, draw: float) -> int:
    """Return the first position whose cumulative weight is above ``draw``, which lies in [0, 1)."""
    j = 0
    while j < len(cumulative) - 1 and cumulative[j] <= draw:
        j += 1
    return j


@compiled
def _rise(errors: FloatArray, row: IntArray, j: int, value: int, offsets: IntArray, strides: IntArray) -> float:
    """Return by how much the squared error rises when ``row`` takes ``value`` in column ``j``."""
    old, rise = row[j], 0.0
    if value == old:
        return rise
    for k in range(len(row)):
        if k != j:
            cell, stride = offsets[j, k] + row[k] * strides[k, j], strides[j, k]
            rise += 2.0 + 2.0 * (errors[cell + value * stride] - errors[cell + old * stride])
    return rise


@compiled
def _move(errors: FloatArray, row: IntArray, j: int, value: int, offsets: IntArray, strides: IntArray) -> None:
    """Give ``row`` the value and bring the errors up to date."""
    old = row[j]
    for k in range(len(row)):
        if k != j:
            cell, stride = offsets[j, k] + row[k] * strides[k, j], strides[j, k]
            errors[cell + old * stride] -= 1.0
            errors[cell + value * stride] += 1.0
    row[j] = value
