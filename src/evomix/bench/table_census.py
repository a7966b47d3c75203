"""Census tables of one state beside those of another: ACS PUMS 2018 and the NIST excerpts of 2018 and 2019.

Codes and ranges are those of the Census Bureau's data dictionary; money is bounded by round numbers.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evomix.bench.splitting import split_groups
from evomix.bench.table_set import SPLIT_SEED, TEST_SHARE, Reader, TableSet, codes, pick, rows_at, rows_where, whole
from evomix.modalities.tabular.schema import Schema

ACS_FILE: Final = "acs2018_14states.parquet"
NIST_FILE: Final = "nist_acs_2018_2019.parquet"
_PERSON_NOTE: Final = "Each person is a private unit; persons of a household are on one side of the split."
_SEVEN: Final = Schema(
    (
        codes("RAC1P", range(1, 10)),
        codes("SEX", (1, 2)),
        codes("COW", range(1, 10), missing=True),
        codes("MAR", range(1, 6)),
        whole("SCHL", 1, 24, missing=True),
        codes("DIS", (1, 2)),
        whole("ENG", 0, 4),
    )
)
_WIDE: Final = Schema(
    (
        whole("AGEP", 0, 99),
        codes("SEX", (1, 2)),
        codes("RAC1P", range(1, 10)),
        codes("HISP", range(1, 25)),
        codes("MAR", range(1, 6)),
        whole("SCHL", 1, 24, missing=True),
        codes("SCH", range(1, 4), missing=True),
        codes("COW", range(1, 10), missing=True),
        codes("ESR", range(1, 7), missing=True),
        whole("WKHP", 1, 99, missing=True),
        whole("WAGP", 0, 500_000, missing=True),
        whole("PINCP", -20_000, 500_000, missing=True),
        whole("POVPIP", 0, 501, missing=True),
        codes("RELP", range(18)),
        codes("CIT", range(1, 6)),
        codes("NATIVITY", (1, 2)),
        codes("ANC", (1, 2, 3, 4, 8)),
        codes("ENG", range(1, 5), missing=True),
        codes("LANX", (1, 2), missing=True),
        *(codes(name, (1, 2)) for name in ("DIS", "DEAR", "DEYE")),
        *(codes(name, (1, 2), missing=True) for name in ("DREM", "DPHY", "DDRS", "DOUT")),
        codes("MIL", range(1, 5), missing=True),
        codes("MIG", range(1, 4), missing=True),
        codes("ESP", range(1, 9), missing=True),
        codes("FER", (1, 2), missing=True),
        codes("GCL", (1, 2), missing=True),
        whole("JWMNP", 1, 200, missing=True),
        codes("JWTR", range(1, 13), missing=True),
        codes("HICOV", (1, 2)),
        codes("PUBCOV", (1, 2)),
    )
)
_NIST: Final = Schema(
    (
        whole("AGEP", 0, 99),
        codes("SEX", (1, 2)),
        codes("MSP", range(1, 7), missing=True),
        codes("HISP", range(5)),
        codes("RAC1P", range(1, 10)),
        whole("NOC", 0, 20, missing=True),
        whole("NPF", 2, 20, missing=True),
        codes("HOUSING_TYPE", range(1, 4)),
        codes("OWN_RENT", range(3)),
        codes("INDP_CAT", range(19), missing=True),
        codes("EDU", range(1, 13), missing=True),
        whole("PINCP", -20_000, 500_000, missing=True),
        codes("PINCP_DECILE", range(10), missing=True),
        whole("POVPIP", 0, 501, missing=True),
        codes("DVET", range(1, 7), missing=True),
        *(codes(name, (1, 2), missing=True) for name in ("DREM", "DPHY")),
        *(codes(name, (1, 2)) for name in ("DEYE", "DEAR")),
    )
)


def acs_reader(private: str, public: str, *, wide: bool) -> Reader:
    """Return what splits the ACS by state, and the private state by household.

    Args:
        private: letters of the private state.
        public: letters of the public one.
        wide: whether to keep all usable columns, or seven.
    """

    def read(tables: Mapping[str, pa.Table]) -> TableSet:
        schema = _WIDE if wide else _SEVEN
        table = pick(tables[ACS_FILE], ("state", "SERIALNO", *schema.names), ACS_FILE)
        if not wide:
            table = _spoken(table)
        rows, others = (rows_where(table, "state", letters) for letters in (private, public))
        test, kept = split_groups(rows.column("SERIALNO").to_pylist(), (TEST_SHARE,), seed=SPLIT_SEED)
        names = list(schema.names)
        parts = (rows_at(rows, kept).select(names), rows_at(rows, test).select(names), others.select(names))
        if wide:
            left_out = (
                "Left out of the wide columns: identifiers, weights, areas within the state (PUMA, POWPUMA), and the "
                "occupation, industry and birthplace of hundreds of codes each, which methods on cells cannot do."
            )
            return TableSet(*parts, schema, "PUBCOV", notes=(_PERSON_NOTE, left_out))
        note = "How well English is spoken is a number from 1 (very well) to 4; 0 for those who speak nothing else."
        return TableSet(*parts, schema, "ENG", "regression", notes=(_PERSON_NOTE, note))

    return read


def _spoken(table: pa.Table) -> pa.Table:
    """Return the table with 0 where the question of English was not asked."""
    place = table.column_names.index("ENG")
    return table.set_column(place, "ENG", pc.fill_null(pc.cast(table.column("ENG"), pa.int64()), 0))


def read_nist(tables: Mapping[str, pa.Table]) -> TableSet:
    """Split the NIST excerpts by state, Texas being private, both years together."""
    table = pick(tables[NIST_FILE], ("region", *_NIST.names), NIST_FILE)
    rows, public = (rows_where(table, "region", region) for region in ("TX", "MA"))
    known = np.flatnonzero(np.asarray(pc.is_valid(rows.column("POVPIP"))))
    parts = split_groups(range(len(known)), (TEST_SHARE,), seed=SPLIT_SEED)
    test = rows_at(rows, known[parts[0]])
    kept = np.setdiff1d(np.arange(rows.num_rows), known[parts[0]])
    note = (
        "Left out: area, density and weights, and the industry's code where its group says enough. Only people whose "
        "income to poverty ratio is known are in the test part."
    )
    return TableSet(rows_at(rows, kept), test, public, _NIST, "POVPIP", "regression", notes=(note,))
