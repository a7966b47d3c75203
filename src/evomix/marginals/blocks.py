"""Sets of columns whose joint cells are counted."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray, IntArray, Population


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A marginal: the joint cells of a few columns, each of them cut coarsely.

    Attributes:
        columns: positions of the columns, each once.
        maps: for each of them int64 (its number of codes,), the coarse cell of every code.
    """

    columns: tuple[int, ...]
    maps: tuple[IntArray, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Coarse cells of each column."""
        return tuple(int(cells.max()) + 1 for cells in self.maps)

    @property
    def cells(self) -> int:
        """Joint cells."""
        return int(np.prod(self.sizes))

    def assign(self, codes: IntArray) -> IntArray:
        """Return the joint cell of every row, int64 (n,), the last column running fastest."""
        found = np.zeros(len(codes), np.int64)
        for column, cells, size in zip(self.columns, self.maps, self.sizes, strict=True):
            found = found * size + cells[codes[:, column]]
        return found

    def shares(self, codes: IntArray) -> FloatArray:
        """Return the share of rows in every joint cell, float64 (cells,)."""
        return np.bincount(self.assign(codes), minlength=self.cells) / max(len(codes), 1)


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Blocks that are counted together; see :class:`evomix.core.protocols.Panel`.

    Attributes:
        blocks: at least one.
        encode: from records to codes.
    """

    blocks: tuple[Block, ...]
    encode: Callable[[Population], IntArray]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Joint cells of each block."""
        return tuple(block.cells for block in self.blocks)

    def cells(self, records: Population) -> Iterator[IntArray]:
        """Yield the joint cell of every record in each block, int64 (n,)."""
        codes = self.encode(records)
        for block in self.blocks:
            yield block.assign(codes)

    def digest(self) -> str:
        """Return what tells one panel from another."""
        found = hashlib.sha256()
        for block in self.blocks:
            found.update(repr(block.columns).encode())
            for cells in block.maps:
                found.update(np.ascontiguousarray(cells, np.int64).tobytes())
        return found.hexdigest()


def split(values: FloatArray, blocks: Sequence[Block]) -> list[FloatArray]:
    """Return the part of a panel's release that belongs to each block."""
    return np.split(values, np.cumsum([block.cells for block in blocks])[:-1])
