"""Rows of an Arrow IPC file (``.arrow``, ``.feather``) by position, straight from the memory map."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from evomix.core.errors import InputFileError
from evomix.formats.library_errors import or_refuse
from evomix.formats.names import check_names
from evomix.formats.row_source import ChunkedRows, MemoryRows


class ArrowFileRows(ChunkedRows):
    """Rows of an IPC file that is mapped into memory.

    Without compression nothing is decoded and a row costs the same wherever it lies; with compression the
    record batches that hold wanted rows are decoded, the wanted columns alone. So are texts in Arrow's view
    form, which polars writes. The file is mapped anew for each record batch: pages that were looked at for
    the last one do not stay resident.
    """

    def __init__(self, path: str | Path) -> None:
        """Map ``path``.

        Raises:
            InputFileError: when it is missing, damaged, of another kind, or repeats a column name.
        """
        self._path = Path(path)
        if not self._path.is_file():
            raise InputFileError(f"{path}: no such file")
        schema = or_refuse(lambda: pa.ipc.open_file(pa.memory_map(str(self._path))).schema, self._damaged())
        check_names(schema.names, str(path))
        self._fields = {name: number for number, name in enumerate(schema.names)}
        super().__init__(self._path.name, schema, or_refuse(self._lengths, self._damaged()))

    def _damaged(self) -> str:
        return f"{self._path}: cannot be read as an Arrow file; it is damaged, unfinished or of another kind"

    def _lengths(self) -> list[int]:
        reader = self._open([0])  # lengths are not in the footer; one column tells them
        return [reader.get_batch(number).num_rows for number in range(reader.num_record_batches)]

    def _open(self, fields: list[int]) -> pa.RecordBatchFileReader:
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        return pa.ipc.open_file(pa.memory_map(str(self._path)), options=options)

    def _read(self, chunk: int, columns: list[str]) -> Iterator[pa.Table]:
        def read() -> pa.Table:
            reader = self._open([self._fields[name] for name in columns])
            return pa.Table.from_batches([reader.get_batch(chunk)]).select(columns)

        yield or_refuse(read, self._damaged())


def open_arrow(path: str | Path) -> ArrowFileRows | MemoryRows:
    """Open an Arrow file, or the stream form of one (which has no index, so it is read whole, uncopied).

    Raises:
        InputFileError: as `ArrowFileRows`.
    """
    path = Path(path)
    if not path.is_file():
        raise InputFileError(f"{path}: no such file")
    stream = _stream(path)
    return ArrowFileRows(path) if stream is None else MemoryRows(path.name, stream)


def _stream(path: Path) -> pa.Table | None:
    try:
        table = pa.ipc.open_stream(pa.memory_map(str(path))).read_all()
    except (pa.ArrowException, OSError):
        return None
    check_names(table.column_names, str(path))
    return table
