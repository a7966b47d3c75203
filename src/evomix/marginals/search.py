"""The search for rows: change one value of one row, keep what brings the counts nearer to their targets.

The loss is ``Σ_b w_b Σ_cells (C − T)²`` with the rows' counts C and targets T. A value that changes moves one row from
one cell to another in each block that has the column, so the loss changes by
``Σ_b 2·w_b·(1 − (C−T)[old] + (C−T)[new])``: a proposal costs as many look-ups as the column has blocks, however many
cells there are. Idea: a genetic search over statistics (Liu, Tang, Vietri and Wu 2023), here one value at a time with
the exact change of the loss.
Post-processing; costs nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled
from evomix.marginals.blocks import Block

_LEAST_SPREAD: Final = float(np.finfo(float).tiny)


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What a block's counts should be.

    Attributes:
        block: whose cells.
        shares: float64 (cells,), estimated; about 1 together.
        stddev: standard deviation of the noise on a share that was released.
    """

    block: Block
    shares: FloatArray
    stddev: float


def search(
    rows: IntArray, targets: Sequence[Target], columns: Sequence[FloatArray], *, proposals: int, seed: int
) -> IntArray:
    """Return rows that agree better with the targets, int64 as ``rows``.

    Args:
        rows: int64 (n, columns), n ≥ 1; left as they are.
        targets: at least one.
        columns: for each column float64 (codes,), the shares that new values are drawn by; half of all proposals take
            another row's value instead.
        proposals: changes that are tried.
        seed: of the search.
    """
    found = np.ascontiguousarray(rows, np.int64).copy()
    layout = _layout(targets, len(columns))
    if not layout.tried[-1] > 0.0:
        return found
    counts = np.concatenate([np.bincount(one.block.assign(found), minlength=one.block.cells) for one in targets])
    excess = counts - len(found) * np.concatenate([one.shares for one in targets])
    spreads = np.array([max(one.stddev, _LEAST_SPREAD) for one in targets])
    weights = (spreads.min() / spreads) ** 2  # their scale is of no matter, and could overflow
    starts = np.concatenate([[0], np.cumsum([len(shares) for shares in columns])])
    chosen = _Columns(starts, np.concatenate([_cumulated(shares) for shares in columns]), layout.tried)
    _search(found, excess, weights, layout, chosen, proposals, seed)
    return found


def _cumulated(shares: FloatArray) -> FloatArray:
    total = shares.sum()
    return np.asarray(np.cumsum(shares) / total if total > 0.0 else np.arange(1, len(shares) + 1) / len(shares))


class _Columns(NamedTuple):
    """What new values are drawn from: ``cumulated[starts[j]:starts[j + 1]]`` are the shares of column j, summed up."""

    starts: IntArray
    cumulated: FloatArray
    tried: FloatArray


class _Layout(NamedTuple):
    """Blocks as flat arrays. ``places[first_place[j]:first_place[j + 1]]`` are the blocks that have column j."""

    tried: FloatArray
    first_place: IntArray
    places: IntArray
    width: IntArray
    members: IntArray
    tables: IntArray
    strides: IntArray
    offsets: IntArray
    maps: IntArray


def _layout(targets: Sequence[Target], columns: int) -> _Layout:
    blocks = [one.block for one in targets]
    widest = max(len(block.columns) for block in blocks)
    members, tables, strides = (np.zeros((len(blocks), widest), np.int64) for _ in range(3))
    maps: list[IntArray] = []
    known: dict[bytes, int] = {}
    length = 0
    for i, block in enumerate(blocks):
        stride = block.cells
        for k, (column, cells, size) in enumerate(zip(block.columns, block.maps, block.sizes, strict=True)):
            stride //= size
            key = np.ascontiguousarray(cells, np.int64).tobytes()
            if key not in known:
                known[key] = length
                maps.append(np.asarray(cells, np.int64))
                length += len(cells)
            members[i, k], tables[i, k], strides[i, k] = column, known[key], stride
    having: list[list[int]] = [[] for _ in range(columns)]
    lengths = np.zeros(columns)
    for i, block in enumerate(blocks):
        for column, cells in zip(block.columns, block.maps, strict=True):
            having[column].append(i)
            lengths[column] = max(lengths[column], np.log2(len(cells)))  # a column of more codes is tried more often
    tried = np.cumsum(lengths)
    return _Layout(
        tried=tried,
        first_place=np.concatenate([[0], np.cumsum([len(places) for places in having])]),
        places=np.array([i for places in having for i in places], np.int64),
        width=np.array([len(block.columns) for block in blocks], np.int64),
        members=members,
        tables=tables,
        strides=strides,
        offsets=np.concatenate([[0], np.cumsum([block.cells for block in blocks])[:-1]]).astype(np.int64),
        maps=np.concatenate(maps),
    )


@compiled
def _cell(
    rows: IntArray, row: int, column: int, value: int, block: int, layout: _Layout
) -> int:  # pragma: no cover - compiled
    """Return the cell of a row, in the arrays of all blocks, if one of its columns had another value."""
    cell = int(layout.offsets[block])
    for k in range(layout.width[block]):
        other = layout.members[block, k]
        code = value if other == column else rows[row, other]
        cell += layout.maps[layout.tables[block, k] + code] * layout.strides[block, k]
    return cell


@compiled
def _search(
    rows: IntArray,
    excess: FloatArray,
    weights: FloatArray,
    layout: _Layout,
    chosen: _Columns,
    proposals: int,
    seed: int,
) -> None:  # pragma: no cover - compiled
    np.random.seed(seed)  # noqa: NPY002  (compiled code has no other generator)
    count = rows.shape[0]
    for _ in range(proposals):
        row = np.random.randint(count)  # noqa: NPY002
        drawn = np.searchsorted(chosen.tried, np.random.random() * chosen.tried[-1], side="right")  # noqa: NPY002
        column = min(drawn, len(chosen.tried) - 1)  # the product may round up to the end
        if np.random.random() < 0.5:  # noqa: NPY002
            new = rows[np.random.randint(count), column]  # noqa: NPY002
        else:
            shares = chosen.cumulated[chosen.starts[column] : chosen.starts[column + 1]]
            new = min(np.searchsorted(shares, np.random.random(), side="right"), len(shares) - 1)  # noqa: NPY002
        old = rows[row, column]
        if new == old:
            continue
        change = 0.0
        for place in range(layout.first_place[column], layout.first_place[column + 1]):
            block = layout.places[place]
            before = _cell(rows, row, column, old, block, layout)
            after = _cell(rows, row, column, new, block, layout)
            if before != after:
                change += weights[block] * (1.0 - excess[before] + excess[after])
        if change >= 0.0:
            continue
        for place in range(layout.first_place[column], layout.first_place[column + 1]):
            block = layout.places[place]
            excess[_cell(rows, row, column, old, block, layout)] -= 1.0
            excess[_cell(rows, row, column, new, block, layout)] += 1.0
        rows[row, column] = new
