"""Rows by position: what the curator asks of a private table, whatever file it lies in."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, Protocol

import numpy as np
import pyarrow as pa

from evomix.core.arrays import IntArray
from evomix.core.errors import SchemaError, SpecError
from evomix.formats.views import plain_table, plain_type


class RowSource(Protocol):
    """A table whose rows are read by position; its ``repr`` shows none of them, and it refuses pickling."""

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, in order; distinct."""

    @property
    def num_rows(self) -> int:
        """Number of rows."""

    def storage_types(self) -> dict[str, pa.DataType]:
        """Return the type in which each column is stored (text for CSV and JSON lines)."""

    def take(self, positions: IntArray, columns: Sequence[str]) -> pa.Table:
        """Return ``columns`` of the rows at ``positions``, in that order; repeats are allowed.

        Raises:
            SchemaError: for an unknown column.
            SpecError: for a position outside [0, num_rows).
            InputFileError: when the file can no longer be read.
        """

    def batches(self, columns: Sequence[str], size: int = 65536) -> Iterator[pa.Table]:
        """Yield ``columns`` of all rows in order, at most ``size`` rows at a time; raises as `take`."""


class SealedRows(ABC):
    """What all row sources share: a name, columns, and silence about everything else."""

    def __init__(self, name: str, schema: pa.Schema, num_rows: int) -> None:
        self._name = name
        self._types: dict[str, pa.DataType] = dict(zip(schema.names, map(plain_type, schema.types), strict=True))
        self._num_rows = num_rows

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self._types)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._num_rows

    def storage_types(self) -> dict[str, pa.DataType]:
        """Return the type in which each column is stored."""
        return dict(self._types)

    def take(self, positions: IntArray, columns: Sequence[str]) -> pa.Table:
        """Return ``columns`` of the rows at ``positions``, in that order; see `RowSource.take`."""
        wanted = np.asarray(positions, dtype=np.int64)
        if wanted.ndim != 1 or (wanted.size and (wanted.min() < 0 or wanted.max() >= self._num_rows)):
            raise SpecError(f"{self._name}: row positions must be a vector of integers in [0, number of rows)")
        return self._take(wanted, self._known(columns))

    def batches(self, columns: Sequence[str], size: int = 65536) -> Iterator[pa.Table]:
        """Yield ``columns`` of all rows in order, at most ``size`` at a time; see `RowSource.batches`."""
        if size < 1:
            raise SpecError(f"a batch needs at least one row, size={size}")
        return self._batches(self._known(columns), size)

    @abstractmethod
    def _take(self, positions: IntArray, columns: list[str]) -> pa.Table: ...

    @abstractmethod
    def _batches(self, columns: list[str], size: int) -> Iterator[pa.Table]: ...

    def _known(self, columns: Sequence[str]) -> list[str]:
        unknown = [name for name in columns if name not in self._types]
        if unknown or not columns:
            raise SchemaError(f"{self._name}: expected names of its columns, columns={unknown or list(columns)}")
        return list(columns)

    def _no_rows(self, columns: list[str]) -> pa.Table:
        return pa.schema([(name, self._types[name]) for name in columns]).empty_table()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name}, content withheld>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(f"{type(self).__name__} may hold private records and refuses to be pickled or copied")


class ChunkedRows(SealedRows):
    """Rows in chunks on disk (row groups, record batches), of which only the wanted ones are decoded."""

    def __init__(self, name: str, schema: pa.Schema, lengths: Sequence[int]) -> None:
        ends = np.cumsum(np.asarray(lengths, dtype=np.int64))
        super().__init__(name, schema, int(ends[-1]) if len(ends) else 0)
        self._starts: IntArray = ends - np.asarray(lengths, dtype=np.int64)

    @abstractmethod
    def _read(self, chunk: int, columns: list[str]) -> Iterator[pa.Table]:
        """Yield ``columns`` of one chunk, all rows in order, in one or more pieces; raises InputFileError."""

    def _take(self, positions: IntArray, columns: list[str]) -> pa.Table:
        """Decode each touched chunk once and keep its wanted rows; memory is one piece of it plus the result."""
        rows, inverse = np.unique(positions, return_inverse=True)
        if not rows.size:
            return self._no_rows(columns)
        chunk_of = np.searchsorted(self._starts, rows, side="right") - 1
        touched, first = np.unique(chunk_of, return_index=True)
        found = pa.concat_tables(
            kept
            for chunk, wanted in zip(touched, np.split(rows, first[1:]), strict=True)
            for kept in self._keep(int(chunk), wanted - self._starts[chunk], columns)
        )
        if np.array_equal(inverse, np.arange(len(rows))):
            return found
        return found.combine_chunks().take(pa.array(inverse))

    def _keep(self, chunk: int, wanted: IntArray, columns: list[str]) -> Iterator[pa.Table]:
        """Yield the rows ``wanted`` of one chunk, in rising order."""
        start = 0
        for piece in self._read(chunk, columns):
            low, high = np.searchsorted(wanted, (start, start + piece.num_rows))
            if low < high:
                yield plain_table(piece).take(pa.array(wanted[low:high] - start))
            start += piece.num_rows

    def _batches(self, columns: list[str], size: int) -> Iterator[pa.Table]:
        for chunk in range(len(self._starts)):
            for piece in self._read(chunk, columns):
                table = plain_table(piece)
                for start in range(0, table.num_rows, size):
                    yield table.slice(start, size)


class MemoryRows(SealedRows):
    """Rows of a table in memory: what CSV, TSV and JSON lines become, and frames that were passed in.

    Attributes:
        table: the whole table.
    """

    def __init__(self, name: str, table: pa.Table) -> None:
        super().__init__(name, table.schema, table.num_rows)
        self.table = plain_table(table)

    def _take(self, positions: IntArray, columns: list[str]) -> pa.Table:
        if not positions.size:
            return self._no_rows(columns)
        return self.table.select(columns).take(pa.array(positions))

    def _batches(self, columns: list[str], size: int) -> Iterator[pa.Table]:
        table = self.table.select(columns)
        for start in range(0, table.num_rows, size):
            yield table.slice(start, size)
