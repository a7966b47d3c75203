"""Counts that rows should have, laid out for the loops that change rows."""

import math
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


class Loss(NamedTuple):
    """How far rows are from the targets: ``Σ_b weights[b]·Σ_cells excess²``, over the cells of block b.

    Attributes:
        excess: float64 (cells of all blocks,), the rows' counts less those wanted.
        weights: float64 (blocks,), at most 1.
        least_gain: what a change in a single block of weight 1 must gain.
    """

    excess: FloatArray
    weights: FloatArray
    least_gain: float


def loss_of(rows: IntArray, targets: Sequence[Target], caution: float) -> Loss:
    """Return how far rows are from the targets.

    Args:
        rows: int64 (n, columns).
        targets: at least one.
        caution: what a change must gain to be kept, in standard deviations of what noise alone makes of its gain.
    """
    counts = np.concatenate([np.bincount(one.block.assign(rows), minlength=one.block.cells) for one in targets])
    excess = counts - len(rows) * np.concatenate([one.shares for one in targets])
    spreads = np.array([max(one.stddev, _LEAST_SPREAD) for one in targets])
    weights = (spreads.min() / spreads) ** 2  # their scale is of no matter, and could overflow
    return Loss(excess, weights, caution * len(rows) * float(spreads.min()) * math.sqrt(2.0))


class Layout(NamedTuple):
    """Blocks as flat arrays. ``places[first_place[j]:first_place[j + 1]]`` are the blocks that have column j.

    In the block of a place, the column's coarse cells begin at ``place_tables`` in ``maps`` and are ``place_strides``
    cells apart.
    """

    tried: FloatArray
    first_place: IntArray
    places: IntArray
    place_tables: IntArray
    place_strides: IntArray
    width: IntArray
    members: IntArray
    tables: IntArray
    strides: IntArray
    offsets: IntArray
    maps: IntArray


def layout_of(targets: Sequence[Target], columns: int) -> Layout:
    """Return the blocks of the targets as flat arrays, of a table of so many columns."""
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
    having: list[list[tuple[int, int, int]]] = [[] for _ in range(columns)]
    lengths = np.zeros(columns)
    for i, block in enumerate(blocks):
        for k, (column, cells) in enumerate(zip(block.columns, block.maps, strict=True)):
            having[column].append((i, int(tables[i, k]), int(strides[i, k])))
            lengths[column] = max(lengths[column], np.log2(len(cells)))  # a column of more codes is tried more often
    tried = np.cumsum(lengths)
    places = np.array([place for found in having for place in found], np.int64).reshape(-1, 3)
    return Layout(
        tried=tried,
        first_place=np.concatenate([[0], np.cumsum([len(found) for found in having])]),
        places=places[:, 0].copy(),
        place_tables=places[:, 1].copy(),
        place_strides=places[:, 2].copy(),
        width=np.array([len(block.columns) for block in blocks], np.int64),
        members=members,
        tables=tables,
        strides=strides,
        offsets=np.concatenate([[0], np.cumsum([block.cells for block in blocks])[:-1]]).astype(np.int64),
        maps=np.concatenate(maps),
    )


@compiled
def cell_of(rows: IntArray, row: int, block: int, layout: Layout) -> int:  # pragma: no cover - compiled
    """Return the cell of a row in the arrays of all blocks."""
    cell = int(layout.offsets[block])
    for k in range(layout.width[block]):
        code = rows[row, layout.members[block, k]]
        cell += layout.maps[layout.tables[block, k] + code] * layout.strides[block, k]
    return cell
