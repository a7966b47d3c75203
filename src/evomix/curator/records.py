"""Private records, grouped by the unit whose privacy is protected."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evomix.core.arrays import IntArray, Population
from evomix.core.errors import SchemaError
from evomix.core.protocols import Encoding
from evomix.curator.guard import refuse_pickling, withheld
from evomix.formats.rows import RowSource
from evomix.privacy.randomness import RandomSource


class PrivateRecords:
    """Rows of a private table, read by position and encoded by the public codec.

    A *unit* is one row, or all rows that share a value of ``unit_column`` (rows without a value are one unit
    together). The number of units is public under the replace-one relation.
    """

    def __init__(
        self,
        rows: RowSource,
        encoding: Encoding,
        *,
        columns: Sequence[str],
        unit_column: str | None = None,
        keep: bool = False,
    ) -> None:
        """Open the records; with ``unit_column`` that one column is read.

        Args:
            rows: the private table.
            encoding: public; total on values.
            columns: those that are read.
            unit_column: names the unit of each row.
            keep: whether to hold encoded rows in memory, where encoding costs more than they weigh.

        Raises:
            SchemaError: the unit column holds lists or structures.
            PrivateRecordsFailure: the unit column could not be read.
        """
        self._rows = rows
        self._encoding = encoding
        self._columns = tuple(columns)
        self._unit_of_row: IntArray | None = None
        self._kept = EncodedRows(rows.num_rows) if keep else None
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
            return self._encoded(positions, lambda wanted: self._rows.take(wanted, self._columns))

    def scan(self) -> Iterator[tuple[IntArray, Population]]:
        """Yield all rows as (unit of each row, encoded rows), batch by batch."""
        start = 0
        batches = self._rows.batches(self._columns)
        while True:
            with withheld("reading private rows"):
                batch = next(batches, None)
                if batch is None:
                    return
                positions = np.arange(start, start + batch.num_rows, dtype=np.int64)
                population = self._encoded(positions, partial(_of_batch, batch, start))
            start += batch.num_rows
            yield (positions if self._unit_of_row is None else self._unit_of_row[positions]), population

    def _encoded(self, positions: IntArray, fetch: Callable[[IntArray], pa.Table]) -> Population:
        """Return the encoded rows at ``positions``; ``fetch`` gets those from the table that are not kept already."""
        if self._kept is None or not positions.size:  # of no rows nothing tells how wide they are
            return self._encoding.encode(fetch(positions))
        new = self._kept.missing(positions)
        if new.size:
            self._kept.put(new, self._encoding.encode(fetch(new)))
        return self._kept.take(positions)


class EncodedRows:
    """Encoded rows by position, each encoded once. Held in memory, never written."""

    def __init__(self, count: int) -> None:
        self._there = np.zeros(count, np.bool_)
        self._rows: Population | None = None

    def __repr__(self) -> str:
        return "EncodedRows(<withheld>)"

    def __reduce__(self) -> NoReturn:
        refuse_pickling("EncodedRows")

    def missing(self, positions: IntArray) -> IntArray:
        """Return the distinct ``positions`` that are not there yet, ascending."""
        return np.unique(positions[~self._there[positions]])

    def put(self, positions: IntArray, rows: Population) -> None:
        """Keep encoded rows."""
        if self._rows is None:
            self._rows = np.empty((self._there.size, *rows.shape[1:]), rows.dtype)
        self._rows[positions] = rows
        self._there[positions] = True

    def take(self, positions: IntArray) -> Population:
        """Return kept rows; ``positions`` of which none is missing."""
        assert self._rows is not None
        return self._rows[positions]


def _of_batch(batch: pa.Table, start: int, wanted: IntArray) -> pa.Table:
    """Return rows of a batch that begins at position ``start``; all of them as they are."""
    return batch if wanted.size == batch.num_rows else batch.take(pa.array(wanted - start))


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
