"""One door to every readable table: a path or a frame in, rows by position out."""

from pathlib import Path
from typing import Any

from evomix.core.errors import InputFileError
from evomix.formats.arrow_rows import ArrowFileRows, open_arrow
from evomix.formats.csv import read_csv
from evomix.formats.frames import from_frame
from evomix.formats.json_lines import read_json_lines
from evomix.formats.parquet_rows import ParquetRows
from evomix.formats.row_source import MemoryRows, RowSource

__all__ = ["ArrowFileRows", "MemoryRows", "ParquetRows", "RowSource", "open_rows"]

_READABLE = ".csv, .tsv, .parquet (a file or a folder of them), .jsonl, .ndjson, .arrow, .feather"


def open_rows(source: Any, *, encoding: str = "utf-8") -> RowSource:
    """Open a table for reading rows by position.

    Parquet and Arrow files are read where they lie; CSV, TSV and JSON lines are read into memory, as text.

    Args:
        source: a path (``.csv``, ``.tsv``, ``.parquet`` or a folder of such, ``.jsonl``, ``.ndjson``,
            ``.arrow``, ``.feather``) or a pandas, polars or Arrow table.
        encoding: of a text file, any that Python knows; other sources ignore it.

    Raises:
        SpecError: for an unknown encoding, or a ``source`` that is neither a path nor a table.
        InputFileError: when the file is missing, of an unknown kind or cannot be read; never quotes a cell.
    """
    if not isinstance(source, str | Path):
        return MemoryRows("table in memory", from_frame(source))
    path = Path(source)
    if path.is_dir():
        return ParquetRows(path)
    match path.suffix.lower():
        case ".csv" | ".tsv":
            return MemoryRows(path.name, read_csv(path, encoding=encoding))
        case ".jsonl" | ".ndjson":
            return MemoryRows(path.name, read_json_lines(path, encoding=encoding))
        case ".parquet":
            return ParquetRows(path)
        case ".arrow" | ".feather":
            return open_arrow(path)
        case suffix:
            found = f"suffix={suffix!r}" if suffix else "it has no suffix"
            raise InputFileError(f"{path}: no table format is known by its name ({found}); supported: {_READABLE}")
