"""The data of the table benchmarks: who is private, who scores, what is public, and the public schema."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa

from evomix.bench.catalog import Entry
from evomix.bench.files import find_files
from evomix.bench.table_census import acs_reader, read_nist
from evomix.bench.table_classics import (
    read_activity,
    read_adult,
    read_adult_with_wrong_public,
    read_bank,
    read_characters,
)
from evomix.bench.table_health import read_brfss, read_stays
from evomix.bench.table_set import Reader, TableSet
from evomix.formats.table import read_table

_ROWS: Final = 20_000
"""Records of a part of a set that is made."""
_XOR_COLUMNS: Final = 10
_SCM_COLUMNS: Final = 12
_SHIFT: Final = 0.3
"""How far the public causal model is from the private one, of 1."""


def read_table_set(entry: Entry, folder: str | Path) -> TableSet:
    """Read and split the tables of a benchmark, or make them.

    Raises:
        SpecError: a file is not in ``folder``, or too small to be split.
        InputFileError: a file lacks a column or cannot be read.
    """
    files = find_files(folder, entry.files, who=entry.name)
    return _READERS[entry.name]({name: read_table(path) for name, path in files.items()})


def _xor(_tables: Mapping[str, pa.Table]) -> TableSet:
    from evomix.bench.simulated import make_xor, xor_schema  # noqa: PLC0415  (only for those who ask for it)

    private, test = (make_xor(_ROWS, columns=_XOR_COLUMNS, order=3, seed=seed) for seed in (0, 1))
    note = "Made: the label is the parity of three columns, which no two of them say anything of."
    return TableSet(private, test, None, xor_schema(_XOR_COLUMNS), "label", notes=(note,))


def _scm(_tables: Mapping[str, pa.Table]) -> TableSet:
    from evomix.bench.simulated import make_scm, scm_schema  # noqa: PLC0415

    private, test = (make_scm(_ROWS, columns=_SCM_COLUMNS, seed=seed) for seed in (0, 1))
    public = make_scm(_ROWS, columns=_SCM_COLUMNS, seed=2, shift=_SHIFT)
    note = f"Made: a random causal model; the public table is of one in which a share of {_SHIFT:g} is moved."
    return TableSet(private, test, public, scm_schema(_SCM_COLUMNS), "label", notes=(note,))


_READERS: Final[Mapping[str, Reader]] = {
    "person-activity": read_activity,
    "artificial-characters": read_characters,
    "adult": read_adult,
    "adult-wrong-public": read_adult_with_wrong_public,
    "bank": read_bank,
    "acs-hawaii": acs_reader("HI", "NM", wide=False),
    "acs-hawaii-wide": acs_reader("HI", "NM", wide=True),
    "acs-rhode-island": acs_reader("RI", "DE", wide=False),
    "acs-rhode-island-wide": acs_reader("RI", "DE", wide=True),
    "nist": read_nist,
    "brfss-diabetes": read_brfss,
    "readmission": read_stays,
    "xor": _xor,
    "scm": _scm,
}
