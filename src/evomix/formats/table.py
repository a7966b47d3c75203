"""Whole tables in and out, by the suffix of the file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from evomix.core.errors import SpecError
from evomix.formats.atomic import atomic_write, check_place, check_writable
from evomix.formats.csv_writer import write_csv
from evomix.formats.json_writer import write_json_lines
from evomix.formats.names import check_names
from evomix.formats.rows import open_rows
from evomix.formats.text_cells import portable


def read_table(source: Any, *, encoding: str = "utf-8") -> pa.Table:
    """Read a whole public table.

    Args:
        source: a path or frame, as in `evomix.formats.rows.open_rows`.
        encoding: of a text file, any that Python knows.

    Returns:
        The table; every column of a CSV, TSV or JSON lines file is text.

    Raises:
        SpecError: for an unknown encoding, or a ``source`` that is neither a path nor a table.
        InputFileError: when the file is missing, of an unknown kind or cannot be read; never quotes a cell.
    """
    rows = open_rows(source, encoding=encoding)
    empty = pa.schema(list(rows.storage_types().items())).empty_table()
    return pa.concat_tables([empty, *rows.batches(rows.column_names, size=1 << 20)])


def write_table(table: pa.Table, path: str | Path, *, before: Callable[[], None] | None = None) -> None:
    """Write ``table`` to ``path``, whole or not at all, in the format of its suffix.

    Missing values are empty cells (CSV, TSV) or null; NaN and infinities are missing, -0.0 is 0. In text,
    integers have no fraction, floats are the shortest text that reads back the same, dates are ISO.

    Args:
        table: what to write.
        path: the file.
        before: called when the table is written, under its temporary name, and about to appear; what it raises
            passes, and nothing appears.

    Raises:
        SpecError: for a suffix other than .csv, .tsv, .parquet, .jsonl and .ndjson, a path that is no file's,
            or a column that the format cannot hold.
        InputFileError: for repeated or empty column names.
        EnvironmentFailure: when the disk refuses; an older file at ``path`` is untouched.
    """
    write = _writer(path)
    check_names(table.column_names, str(path))
    plain = portable(table)
    with atomic_write(path) as partial:
        with partial.open("wb") as file:
            write(plain, file)
        if before is not None:
            before()


def check_output(path: str | Path, *, create: bool = True) -> None:
    """Make sure, before any budget is spent, that `write_table` knows the suffix and can create the file.

    Args:
        path: where the table will be written.
        create: whether to try it out with a temporary file; else only suffix and folder are looked at.

    Raises:
        SpecError: for an unknown suffix or a path that is no file's.
        EnvironmentFailure: when the disk refuses.
    """
    _writer(path)
    (check_writable if create else check_place)(path)


def _writer(path: str | Path) -> Callable[[pa.Table, BinaryIO], None]:
    writers: dict[str, Callable[[pa.Table, BinaryIO], None]] = {
        ".csv": lambda table, file: write_csv(table, file, delimiter=","),
        ".tsv": lambda table, file: write_csv(table, file, delimiter="\t"),
        ".parquet": pq.write_table,
        ".jsonl": write_json_lines,
        ".ndjson": write_json_lines,
    }
    suffix = Path(path).suffix.lower()
    if suffix not in writers:
        raise SpecError(f"{path}: cannot write a table with suffix={suffix!r}; choose {', '.join(writers)}")
    return writers[suffix]
