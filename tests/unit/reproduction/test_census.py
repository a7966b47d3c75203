import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from evomix.core.errors import InputFileError
from evomix.reproduction.census import CELLS, COLUMNS, NEEDED, SHAPE, decode, histogram, read_states

ROW = {"state": "AA", "RAC1P": 9, "SEX": 2, "COW": None, "MAR": 5, "SCHL": 24, "DIS": 1, "ENG": None}


def table(*rows, **types):
    return pa.table({name: pa.array([row.get(name) for row in rows], types.get(name)) for name in rows[0]})


def saved(content, path):
    pq.write_table(content, path)
    return path


def test_cells_are_all_combinations_of_the_dictionary():
    assert SHAPE == (9, 2, 10, 5, 25, 2, 5)
    assert CELLS == 225_000


def test_every_cell_decodes_to_codes_of_its_own():
    codes = decode(np.arange(CELLS))
    assert len(np.unique(codes, axis=0)) == CELLS
    assert codes.min(axis=0).tolist() == [1, 1, 0, 1, 0, 1, 0]
    assert codes.max(axis=0).tolist() == [column.largest for column in COLUMNS]


def test_rows_become_the_cells_of_their_codes(tmp_path):
    other = ROW | {"COW": 3, "ENG": 4, "RAC1P": 1}
    states = read_states(saved(table(ROW, other), tmp_path / "s.parquet"))
    assert decode(states.cells["AA"]).tolist() == [[9, 2, 0, 5, 24, 1, 0], [1, 2, 3, 5, 24, 1, 4]]


def test_text_and_other_columns_make_no_difference(tmp_path):
    content = table(ROW, ROW | {"state": "BB", "COW": 3})
    pa.csv.write_csv(content.append_column("AGEP", pa.array([3, 4])), tmp_path / "s.csv")
    found = [read_states(path) for path in (tmp_path / "s.csv", saved(content, tmp_path / "s.parquet"))]
    assert {name: cells.tolist() for name, cells in found[0].cells.items()} == {
        name: cells.tolist() for name, cells in found[1].cells.items()
    }
    assert found[0].source == "s.csv"
    assert found[0].sha256 != found[1].sha256


def test_nan_is_an_empty_cell(tmp_path):
    path = saved(table(ROW | {"COW": float("nan")}, COW=pa.float64()), tmp_path / "s.parquet")
    assert decode(read_states(path).cells["AA"])[0, 2] == 0


def test_large_states_come_first_and_ties_by_name(tmp_path):
    rows = [ROW | {"state": name} for name in ("ZZ", "MM", "CC", "MM", "AA")]
    assert list(read_states(saved(table(*rows), tmp_path / "s.parquet")).cells) == ["MM", "AA", "CC", "ZZ"]


def test_a_histogram_has_the_shares():
    shares = histogram(np.array([5, 5, 7, 5]))
    assert shares[[5, 7]].tolist() == [0.75, 0.25]
    assert shares.sum() == 1.0
    assert len(shares) == CELLS


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("RAC1P", 10),
        ("RAC1P", 0),
        ("SEX", None),
        ("MAR", 1.5),
        ("SCHL", 77),
        ("DIS", "yes-4711"),
        ("COW", 0.5),
        ("ENG", -1),
    ],
)
def test_what_is_no_code_is_refused_without_being_quoted(tmp_path, column, value):
    kinds = {column: pa.string() if isinstance(value, str) else pa.float64()}
    path = saved(table(ROW | {column: value}, **kinds), tmp_path / "s.parquet")
    with pytest.raises(InputFileError, match=f"column {column}") as caught:
        read_states(path)
    assert "4711" not in str(caught.value)
    assert "77" not in str(caught.value)
    assert "census.gov" in str(caught.value)


def test_missing_columns_are_named_with_what_is_needed_and_where_it_is(tmp_path):
    content = table({name: value for name, value in ROW.items() if name not in {"ENG", "state"}})
    with pytest.raises(InputFileError, match="found no state, ENG") as caught:
        read_states(saved(content, tmp_path / "s.parquet"))
    assert all(name in str(caught.value) for name in NEEDED)
    assert "American Community Survey" in str(caught.value)


@pytest.mark.parametrize("rows", [(ROW | {"state": None},), (ROW, ROW | {"state": None})])
def test_rows_without_a_state_are_refused(tmp_path, rows):
    with pytest.raises(InputFileError, match="state each"):
        read_states(saved(table(*rows, state=pa.string()), tmp_path / "s.parquet"))


def test_an_empty_table_is_refused(tmp_path):
    with pytest.raises(InputFileError, match="found none"):
        read_states(saved(table(ROW).slice(0, 0), tmp_path / "s.parquet"))
