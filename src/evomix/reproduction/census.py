"""Person records of the American Community Survey, as cells of seven coded columns.

The cells are all combinations of the codes in the Census Bureau's data dictionary, so their list says nothing about
any row. Rows count once each: survey weights are left out.
Source of the codes: U.S. Census Bureau, ACS PUMS data dictionary (1-year person files).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import InputFileError
from evomix.formats.rows import RowSource, open_rows

MISSING: Final = 0  # the code of an empty cell; no column of the dictionary uses it
STATE: Final = "state"
WHERE_FROM: Final = (
    "Such rows are in the person files of the American Community Survey's Public Use Microdata Sample, free of charge "
    "from the U.S. Census Bureau (census.gov/programs-surveys/acs/microdata), with the state's letters added"
)


@dataclass(frozen=True, slots=True)
class CensusColumn:
    """A coded column: its name in the files, its meaning, the largest code, and whether it may be empty."""

    name: str
    meaning: str
    largest: int
    may_be_empty: bool = False

    @property
    def least(self) -> int:
        """The smallest code, ``MISSING`` where the column may be empty."""
        return MISSING if self.may_be_empty else 1

    @property
    def levels(self) -> int:
        """Number of codes."""
        return self.largest - self.least + 1


COLUMNS: Final = (
    CensusColumn("RAC1P", "race", 9),
    CensusColumn("SEX", "sex", 2),
    CensusColumn("COW", "class of work", 9, may_be_empty=True),
    CensusColumn("MAR", "marital status", 5),
    CensusColumn("SCHL", "education", 24, may_be_empty=True),
    CensusColumn("DIS", "disability", 2),
    CensusColumn("ENG", "English", 4, may_be_empty=True),
)
SHAPE: Final = tuple(column.levels for column in COLUMNS)
CELLS: Final = int(np.prod(SHAPE))
NEEDED: Final = (STATE, *(column.name for column in COLUMNS))


@dataclass(frozen=True, slots=True)
class States:
    """The rows of each state.

    Attributes:
        source: name of the file.
        sha256: of the file's bytes; None for a folder.
        cells: int64 (rows,) cell of each row, by state; the largest state first, ties by name.
    """

    source: str
    sha256: str | None
    cells: Mapping[str, IntArray]


def read_states(path: str | Path) -> States:
    """Read a table with the column ``state`` and the seven coded columns; other columns are not opened.

    Args:
        path: any table that evomix reads. The rows are taken as public: what is made of them has no guarantee.

    Raises:
        InputFileError: the file cannot be read, lacks a column, or holds what is no code of the dictionary.
    """
    rows = open_rows(path)
    lacking = [name for name in NEEDED if name not in rows.column_names]
    if lacking:
        raise InputFileError(
            f"Expected the columns {', '.join(NEEDED)} in {str(path)!r}; found no {', '.join(lacking)}. {WHERE_FROM}."
        )
    table = _read(rows)
    state = _states(table.column(STATE), path)
    codes = [_codes(table.column(column.name), column, path) - column.least for column in COLUMNS]
    cells = np.asarray(np.ravel_multi_index(codes, SHAPE), dtype=np.int64)
    names, counts = np.unique(state, return_counts=True)
    order = np.lexsort((names, -counts))
    by_state = {str(names[k]): cells[state == names[k]] for k in order}
    file = Path(path)
    digest = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None
    return States(source=file.name, sha256=digest, cells=by_state)


def histogram(cells: IntArray) -> FloatArray:
    """Return the share of each cell, float64 (CELLS,), among at least one row."""
    return np.asarray(np.bincount(cells, minlength=CELLS) / len(cells), dtype=np.float64)


def decode(cells: IntArray) -> IntArray:
    """Return the codes of each cell, int64 (rows, 7), an empty cell as ``MISSING``."""
    indices = np.stack(np.unravel_index(cells, SHAPE), axis=1)
    return np.asarray(indices + np.array([column.least for column in COLUMNS]), dtype=np.int64)


def _read(rows: RowSource) -> pa.Table:
    kinds = rows.storage_types()
    empty = pa.schema([(name, kinds[name]) for name in NEEDED]).empty_table()
    return pa.concat_tables([empty, *rows.batches(NEEDED, size=1 << 20)])


def _states(column: pa.ChunkedArray, path: str | Path) -> np.ndarray:
    if not len(column) or column.null_count:
        raise InputFileError(
            f"Expected rows with a state each in {str(path)!r}; found none, or empty cells. Drop those."
        )
    return np.asarray(pc.cast(column, pa.string()).to_numpy(zero_copy_only=False), dtype=np.str_)


def _codes(column: pa.ChunkedArray, spec: CensusColumn, path: str | Path) -> IntArray:
    """Return the codes of a column, int64 (rows,), an empty cell as ``MISSING``."""
    expected = f"codes 1..{spec.largest}{' or empty cells' if spec.may_be_empty else ''}"
    message = (
        f"Expected {expected} in column {spec.name} ({spec.meaning}) of {str(path)!r}; found others. {WHERE_FROM}."
    )
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        trimmed = pc.utf8_trim_whitespace(column)
        column = pc.if_else(pc.equal(trimmed, ""), None, trimmed)
    try:
        numbers = pc.fill_null(pc.cast(column, pa.float64()), float(MISSING)).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputFileError(message) from None
    numbers = np.where(np.isnan(numbers), float(MISSING), numbers)
    if not ((numbers == np.floor(numbers)) & (numbers >= spec.least) & (numbers <= spec.largest)).all():
        raise InputFileError(message)
    return np.asarray(numbers, dtype=np.int64)
