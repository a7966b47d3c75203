"""Rows of a Parquet file, or of a folder of them, by position."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from evomix.core.arrays import IntArray
from evomix.core.errors import InputFileError
from evomix.formats.library_errors import or_refuse
from evomix.formats.names import check_names
from evomix.formats.row_source import ChunkedRows
from evomix.formats.views import plain_table

_PIECE: Final = 65_536
"""Rows decoded at a time: row groups of a million rows, which many writers make, then cost no more memory."""


class ParquetRows(ChunkedRows):
    """Rows of one ``.parquet`` file or of all in a folder, in the order of their file names.

    Opening reads the footers alone. `take` decodes only the wanted columns of the row groups that hold wanted
    rows, each once and piece by piece, and keeps only the wanted rows.
    """

    def __init__(self, path: str | Path) -> None:
        """Open ``path``.

        Raises:
            InputFileError: when it is missing, holds no Parquet file, is damaged, repeats a column name, or
                when the files of a folder do not agree in column names and types.
        """
        path = Path(path)
        self._files: list[tuple[Path, pq.FileMetaData]] = []
        self._groups: list[tuple[int, int]] = []
        self._opened: tuple[int, pq.ParquetFile] | None = None
        lengths: list[int] = []
        schema: pa.Schema | None = None
        for file in _parquet_files(path):
            footer, found = or_refuse(partial(_footer, file), _damaged(file))
            check_names(found.names, str(file))
            if schema is None:
                schema = found
            else:
                _check_agreement(self._files[0][0], schema, file, found)
            self._groups.extend((len(self._files), group) for group in range(footer.num_row_groups))
            lengths.extend(footer.row_group(group).num_rows for group in range(footer.num_row_groups))
            self._files.append((file, footer))
        super().__init__(path.name, schema, lengths)

    def _take(self, positions: IntArray, columns: list[str]) -> pa.Table:
        try:
            return super()._take(positions, columns)
        finally:
            self._close()

    def _read(self, chunk: int, columns: list[str]) -> Iterator[pa.Table]:
        number, group = self._groups[chunk]
        path = self._files[number][0]
        file = or_refuse(partial(self._open, number), _damaged(path))
        return _stream(file, path, columns, _PIECE, [group])

    def _open(self, number: int) -> pq.ParquetFile:
        """Return the open file ``number``; one stays open at a time, as chunks come in the order of files."""
        if self._opened is None or self._opened[0] != number:
            self._close()
            path, footer = self._files[number]
            self._opened = (number, pq.ParquetFile(path, metadata=footer))
        return self._opened[1]

    def _close(self) -> None:
        if self._opened is not None:
            self._opened[1].close()
            self._opened = None

    def _batches(self, columns: list[str], size: int) -> Iterator[pa.Table]:
        """Stream each file; less than a row group is held at a time."""
        for path, footer in self._files:
            with or_refuse(partial(pq.ParquetFile, path, metadata=footer), _damaged(path)) as file:
                yield from map(plain_table, _stream(file, path, columns, size))


def _stream(
    file: pq.ParquetFile, path: Path, columns: list[str], size: int, groups: list[int] | None = None
) -> Iterator[pa.Table]:
    """Yield the rows of some row groups (``None``: of all) in order, at most ``size`` at a time."""
    batches = file.iter_batches(batch_size=size, columns=columns, row_groups=groups)
    while (batch := or_refuse(partial(next, batches, None), _damaged(path))) is not None:
        # A name also matches "name.…" columns in Parquet's reader: select drops those.
        yield pa.Table.from_batches([batch]).select(columns)


def _footer(path: Path) -> tuple[pq.FileMetaData, pa.Schema]:
    with pq.ParquetFile(path) as file:
        return file.metadata, file.schema_arrow


def _damaged(path: Path) -> str:
    return f"{path}: cannot be read as a Parquet file; it is damaged, unfinished or of another kind"


def _parquet_files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise InputFileError(f"{path}: no such file")
        return [path]
    files = sorted(file for file in path.iterdir() if _is_parquet(file))
    nested = next((file for file in path.rglob("*") if file.parent != path and _is_parquet(file)), None)
    if nested is not None:
        raise InputFileError(f"{path}: holds Parquet files in sub-folders; put all files into one folder")
    if not files:
        raise InputFileError(f"{path}: the folder holds no .parquet file")
    return files


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet" and not path.name.startswith(".") and path.is_file()


def _check_agreement(first: Path, schema: pa.Schema, file: Path, found: pa.Schema) -> None:
    """Refuse a folder whose files differ in column names or types; the order of columns is free."""
    expected = dict(zip(schema.names, schema.types, strict=True))
    types = dict(zip(found.names, found.types, strict=True))
    faults = [f"lacks column {name!r}" for name in expected if name not in types]
    faults += [f"has another column {name!r}" for name in types if name not in expected]
    faults += [
        f"has column {name!r} as {types[name]} instead of {kind}"
        for name, kind in expected.items()
        if name in types and types[name] != kind
    ]
    if faults:
        raise InputFileError(f"{file}: does not fit {first.name} of the same folder: {'; '.join(faults[:5])}")
