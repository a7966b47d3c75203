"""Private records, grouped by the unit whose privacy is protected."""

from collections.abc import Iterator, Sequence
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evomix.core.arrays import IntArray, Population
from evomix.core.errors import SchemaError
from evomix.core.protocols import Codec
from evomix.curator.guard import refuse_pickling, withheld
from evomix.formats.rows import RowSource
from evomix.privacy.randomness import RandomSource


class PrivateRecords:
    """Rows of a private table, read by position and encoded by the public codec.

    A *unit* is one row, or all rows that share a value of ``unit_column`` (rows without a value are one unit
    together). The number of units is public under the replace-one relation.
    """

    def __init__(
        self, rows: RowSource, codec: Codec, *, columns: Sequence[str], unit_column: str | None = None
    ) -> None:
        """Open the records; with ``unit_column`` that one column is read.

        Raises:
            SchemaError: the unit column holds lists or structures.
            PrivateRecordsFailure: the unit column could not be read.
        """
        self._rows = rows
        self._codec = codec
        self._columns = tuple(columns)
        self._unit_of_row: IntArray | None = None
        self.units: int = rows.num_rows
        if unit_column is not None:
            kind = rows.storage_types()[unit_column]
            if pa.types.is_nested(kind):
                raise SchemaError(f"the unit column {unit_column!r} holds {kind}; a unit needs one plain value a row")
            with withheld("grouping private rows by unit"):
                self._group(unit_column)

    def __repr__(self) -> str:
        return "PrivateRecords(<withheld>)"

    def __reduce__(self) -> NoReturn:
        refuse_pickling("PrivateRecords")

    @property
    def one_row_each(self) -> bool:
        """Whether each row is a unit of its own."""
        return self._unit_of_row is None

    def _group(self, unit_column: str) -> None:
        """Number the units and lay their rows out one unit after the other."""
        chunks = [_plain(batch.column(unit_column)) for batch in self._rows.batches([unit_column])]
        values = pa.chunked_array(
            [piece for column in chunks for piece in column.chunks], type=chunks[0].type if chunks else pa.string()
        )
        codes = pc.fill_null(pc.dictionary_encode(values).combine_chunks().indices, -1)
        _, unit_of_row = np.unique(codes.to_numpy(zero_copy_only=False), return_inverse=True)
        self._unit_of_row = unit_of_row.astype(np.int64)
        self._rows_by_unit = np.argsort(unit_of_row, kind="stable").astype(np.int64)
        self._unit_sizes = np.bincount(unit_of_row).astype(np.int64)
        self._unit_starts = np.cumsum(self._unit_sizes) - self._unit_sizes
        self.units = int(self._unit_sizes.size)

    def draw_rows(self, size: int, source: RandomSource) -> IntArray:
        """Return row positions of ``size`` draws: a unit uniformly, then one of its rows uniformly."""
        drawn = source.below(np.full(size, self.units, np.int64))
        if self._unit_of_row is None:
            return drawn
        within = source.below(self._unit_sizes[drawn])
        return np.asarray(self._rows_by_unit[self._unit_starts[drawn] + within])

    def read(self, positions: IntArray) -> Population:
        """Return the encoded rows at ``positions``, in that order."""
        with withheld("reading private rows"):
            return self._codec.encode(self._rows.take(positions, self._columns))

    def scan(self) -> Iterator[tuple[IntArray, Population]]:
        """Yield all rows as (unit of each row, encoded rows), batch by batch."""
        start = 0
        batches = self._rows.batches(self._columns)
        while True:
            with withheld("reading private rows"):
                batch = next(batches, None)
                if batch is None:
                    return
                population = self._codec.encode(batch)
            positions = np.arange(start, start + batch.num_rows, dtype=np.int64)
            start += batch.num_rows
            yield (positions if self._unit_of_row is None else self._unit_of_row[positions]), population


def _plain(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return cells in which one person has one form, so that nobody counts as two units.

    A dictionary may list a value twice, and a missing value may be a null, a NaN or an empty text.
    """
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if pa.types.is_float16(cells.type):
        cells = cells.cast(pa.float32())  # Arrow has no arithmetic for half precision
    kind = cells.type
    if pa.types.is_floating(kind):
        cells = pc.if_else(pc.is_nan(cells), pa.scalar(None, kind), pc.add(cells, pa.scalar(0.0, kind)))  # -0 is 0
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        cells = pc.if_else(pc.equal(cells, pa.scalar("", kind)), pa.scalar(None, kind), cells)
    return cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])
