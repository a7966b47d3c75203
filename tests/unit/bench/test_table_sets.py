from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from evomix.bench.catalog import CATALOG, entry
from evomix.bench.table_health import PATIENT
from evomix.bench.table_sets import read_table_set
from evomix.core.errors import InputFileError, SpecError
from evomix.modalities.tabular.codec import TableCodec

NAMES = [one.name for one in CATALOG if one.kind == "table"]
DATA = Path(__file__).parents[4] / "shared" / "data"
needs_data = pytest.mark.skipif(not (DATA / "adult").is_dir(), reason="needs the data sets")


def cells(table):
    return table.to_pylist()


@pytest.mark.parametrize("name", NAMES)
def test_every_set_is_read_and_split(tables, name):
    parts = read_table_set(entry(name), tables)
    columns = list(parts.schema.names)
    unit = [] if parts.unit is None else [parts.unit]
    assert parts.target in columns
    assert sorted(parts.private.column_names) == sorted([*columns, *unit])
    for table in (parts.test, parts.public):
        assert table is None or (table.column_names == columns and table.num_rows > 0)
    assert parts.private.num_rows > parts.test.num_rows * 0.9
    assert ("no public" in entry(name).what) == (parts.public is None)
    assert all(note.endswith(".") for note in parts.notes)


@pytest.mark.parametrize("name", NAMES)
def test_a_set_is_the_same_again(tables, name):
    first, again = (read_table_set(entry(name), tables) for _ in range(2))
    assert all(getattr(first, part) == getattr(again, part) for part in ("private", "test", "public", "schema"))


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_changes_nothing_that_the_publisher_documents(tables, name):
    parts = read_table_set(entry(name), tables)
    codec = TableCodec(parts.schema)
    back = codec.decode(codec.encode(parts.test))
    for column in parts.schema.modelled:
        given, kept = (table.column(column.name).to_pylist() for table in (parts.test, back))
        given = [None if cell in column.missing_codes else cell for cell in given]
        assert given == pytest.approx(kept) if column.type == "number" else given == kept, column.name


def test_no_household_and_no_patient_is_on_two_sides(tables):
    table = pq.read_table(tables / "acs2018_14states.parquet")
    parts = read_table_set(entry("acs-hawaii-wide"), tables)
    homes = table.filter(pc.equal(table.column("state"), "HI"))
    of = dict(
        zip(map(str, homes.select(parts.schema.names).to_pylist()), homes.column("SERIALNO").to_pylist(), strict=True)
    )
    private, test = ({of[str(row)] for row in cells(part)} for part in (parts.private, parts.test))
    assert private
    assert test
    assert not private & test


def test_a_patient_gives_one_stay_to_methods_that_protect_rows(tables):
    parts = read_table_set(entry("readmission"), tables)
    assert parts.units == len(set(parts.private.column(PATIENT).to_pylist())) < parts.private.num_rows
    one, again, other = (parts.one_row_a_unit(seed) for seed in (0, 0, 1))
    assert one.num_rows == parts.units
    assert one == again != other
    assert PATIENT not in one.column_names
    # Neighbours in one patient differ in one row at most.
    patient = parts.private.column(PATIENT).to_pylist()[0]
    fewer = parts.private.filter(pc.not_equal(parts.private.column(PATIENT), patient))
    assert fewer.num_rows < parts.private.num_rows
    kept = {str(row) for row in cells(one)}
    own = [row for row in cells(parts.private) if row.pop(PATIENT) == patient]
    assert sum(str(row) in kept for row in own) == 1


def test_diagnoses_are_put_into_their_groups(tables):
    parts = read_table_set(entry("readmission"), tables)
    found = {cell for part in (parts.private, parts.test) for cell in part.column("diag_1").to_pylist()}
    assert found == {"diabetes", "rest", "circulatory", None, "respiratory"}


def test_the_wrong_public_table_keeps_no_relation_and_flips_the_label(tables):
    right, wrong = (read_table_set(entry(name), tables) for name in ("adult", "adult-wrong-public"))
    assert wrong.private == right.private
    test, apart = (wrong.test.num_rows, wrong.public.num_rows)
    assert test + apart == right.test.num_rows
    high = lambda table: np.mean([cell == ">50K" for cell in table.column("income").to_pylist()])  # noqa: E731
    both = test * high(wrong.test) + apart * (1.0 - high(wrong.public))
    assert both == pytest.approx(right.test.num_rows * high(right.test))
    real = {str(row) for row in cells(right.test)}
    assert not real & {str(row) for row in cells(wrong.public)}


def test_who_speaks_only_english_is_a_number(tables):
    parts = read_table_set(entry("acs-hawaii"), tables)
    assert parts.task == "regression"
    assert set(parts.private.column("ENG").to_pylist()) <= {0, 1, 2, 3, 4}
    assert 0 in parts.private.column("ENG").to_pylist()


def test_files_are_found_in_folders_of_the_folder_and_named_when_they_are_not(tables, tmp_path):
    assert read_table_set(entry("bank"), tables).private.num_rows
    with pytest.raises(SpecError, match=r"not found in data=.*: adult_train\.parquet, adult_test\.parquet$"):
        read_table_set(entry("adult"), tmp_path)
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "ldpa_30pct.parquet").write_bytes((tables / "ldpa_30pct.parquet").read_bytes())
    with pytest.raises(SpecError, match="several in data="):
        read_table_set(entry("person-activity"), tmp_path)


def test_a_missing_column_or_part_is_named(tmp_path):
    pq.write_table(pa.table({"part": ["private"]}), tmp_path / "ldpa_30pct.parquet")
    with pytest.raises(InputFileError, match="it lacks tag, timestamp_rank"):
        read_table_set(entry("person-activity"), tmp_path)
    columns = {name: [1, 2] for name in ("V1", "V2", "V3", "V4", "V5", "V6", "V7", "Class")}
    pq.write_table(pa.table(columns | {"part": ["private"] * 2}), tmp_path / "artificial_characters.parquet")
    with pytest.raises(SpecError, match="expected rows with part=test"):
        read_table_set(entry("artificial-characters"), tmp_path)


@needs_data
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("person-activity", (21_439, 5_359, 22_660)),
        ("artificial-characters", (7_152, 1_533, None)),
        ("adult", (32_561, 16_281, None)),
    ],
)
def test_published_splits_have_the_published_sizes(name, sizes):
    parts = read_table_set(entry(name), DATA)
    found = (parts.private, parts.test, parts.public)
    assert tuple(None if part is None else part.num_rows for part in found) == sizes


@needs_data
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("xor", "scm")])
def test_schemas_hold_nearly_all_of_the_real_cells(name):
    parts = read_table_set(entry(name), DATA)
    back = TableCodec(parts.schema).decode(TableCodec(parts.schema).encode(parts.test))
    for column in parts.schema.modelled:
        given, kept = (table.column(column.name).to_pylist() for table in (parts.test, back))
        same = [
            one == other or one in column.missing_codes or (column.type == "number" and one == pytest.approx(other))
            for one, other in zip(given, kept, strict=True)
        ]
        assert np.mean(same) > 0.99, column.name
