"""Records count, draw and read by unit, whatever the unit column is stored as."""

import copy
import datetime as dt
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curator_parts import NumberCodec, records_of
from scipy.stats import chisquare

from evomix.core.errors import PrivateRecordsFailure, SchemaError
from evomix.curator.records import PrivateRecords
from evomix.formats.rows import open_rows
from evomix.privacy.randomness import SystemSource

DAY = dt.date(2020, 1, 1)


def test_each_row_is_a_unit_by_default():
    assert records_of([5, 6, 7]).units == 3


def _repeating_dictionary():
    return pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 1]), pa.array(["a", "a", "b"]))


def _dictionaries_that_differ():
    pieces = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", None]).dictionary_encode()]
    return pa.chunked_array(pieces)


@pytest.mark.parametrize(
    ("column", "units"),
    [
        (pa.array(["a", "b", "a", "c"]), 3),
        (pa.array(["a", None, "a", None]), 2),
        (pa.array(["a", "", None, "b"]), 3),  # empty in CSV is what null is elsewhere
        (pa.array(["a", "", None, "b"], pa.large_string()), 3),
        (pa.array(["a", "b"], pa.string_view()), 2),
        (pa.array([1, 2, None, 2]), 3),
        (pa.array([1.5, None, float("nan"), 1.5]), 2),
        (pa.array([0.0, -0.0], pa.float32()), 1),
        (pa.array([0.0, -0.0, None], pa.float16()), 2),
        (pa.array([True, False, None, True]), 3),
        (pa.array([DAY, DAY, None]), 2),
        (pa.array([b"a", b"b", b"a"]), 2),
        (pa.array(["a", "b", "a"]).dictionary_encode(), 2),
        (_repeating_dictionary(), 2),
        (_dictionaries_that_differ(), 3),
        (pa.array([None, None]), 1),
        (pa.array([], pa.string()), 0),
        (pa.chunked_array([], pa.dictionary(pa.int32(), pa.string())), 0),
    ],
    ids=str,
)
def test_one_person_is_one_unit_however_it_is_stored(column, units):
    assert records_of(np.arange(len(column)), units=column).units == units


@pytest.mark.parametrize("column", [pa.array([[1], [2]]), pa.array([{"a": 1}])])
def test_units_need_plain_values(column):
    with pytest.raises(SchemaError, match="'unit' holds"):
        records_of(np.arange(len(column)), units=column)


def test_draws_are_uniform_over_units_and_then_over_their_rows():
    records = records_of(range(6), units=["a", "b", "b", "b", None, None])
    rows = records.draw_rows(30_000, SystemSource())
    counts = np.bincount(rows, minlength=6)
    right = np.array([1 / 3, 1 / 9, 1 / 9, 1 / 9, 1 / 6, 1 / 6]) * 30_000
    assert chisquare(counts, right).pvalue > 1e-6
    assert chisquare(counts, np.full(6, 5000.0)).pvalue < 1e-6  # uniform over rows is another law


def test_rows_come_in_the_order_asked_for_with_repeats():
    records = records_of([10, 11, 12, 13])
    assert records.read(np.array([3, 0, 0, 2]))[:, 0].tolist() == [13, 10, 10, 12]
    assert records.read(np.array([], np.int64)).shape == (0, 1)


def test_a_folder_of_parquet_files_counts_units_across_files(tmp_path):
    for number in range(3):
        table = pa.table({"x": [float(number), number + 10.0], "unit": ["shared", f"own-{number}"]})
        pq.write_table(table, tmp_path / f"part-{number}.parquet", row_group_size=1)
    records = PrivateRecords(open_rows(tmp_path), NumberCodec(), columns=["x"], unit_column="unit")
    assert records.units == 4
    scanned = [
        (unit, float(row)) for units, rows in records.scan() for unit, row in zip(units, rows[:, 0], strict=True)
    ]
    assert len({unit for unit, row in scanned if row < 5}) == 1
    assert len({unit for unit, row in scanned}) == 4
    assert records.read(np.array([5, 0]))[:, 0].tolist() == [12.0, 0.0]


def test_scan_gives_each_row_once_with_its_unit():
    records = records_of([1, 2, 3, 4], units=["b", "a", "b", None])
    units, rows = (np.concatenate(parts) for parts in zip(*records.scan(), strict=True))
    assert rows[:, 0].tolist() == [1, 2, 3, 4]
    assert units[0] == units[2]
    assert len(set(units.tolist())) == 3


def test_records_stay_where_they_are():
    records = records_of([123456.75], units=["canary"])
    assert "canary" not in repr(records) + str(records)
    assert "123456" not in repr(records)
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            leave(records)


class _QuotingCodec(NumberCodec):
    def encode(self, table):
        raise ValueError(f"cannot read {table.column('x')[0]}")


@pytest.mark.parametrize("use", [lambda r: r.read(np.array([0])), lambda r: list(r.scan())], ids=["read", "scan"])
def test_a_codec_that_quotes_a_cell_is_withheld(use):
    table = pa.table({"x": [987654.25]})
    records = PrivateRecords(open_rows(table), _QuotingCodec(), columns=["x"])
    with pytest.raises(PrivateRecordsFailure) as caught:
        use(records)
    assert "987654" not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


class _CountingCodec(NumberCodec):
    def __init__(self):
        self.encoded = []

    def encode(self, table):
        self.encoded += table.column("x").to_pylist()
        return super().encode(table)


def test_kept_rows_are_encoded_once_and_are_the_same():
    codec, table = _CountingCodec(), pa.table({"x": [10.0, 11.0, 12.0, 13.0]})
    kept = PrivateRecords(open_rows(table), codec, columns=["x"], keep=True)
    for positions in ([3, 1, 3], [1, 0], [3, 1, 3]):
        assert kept.read(np.array(positions))[:, 0].tolist() == [10.0 + position for position in positions]
    for _ in range(2):
        assert np.concatenate([rows for _, rows in kept.scan()])[:, 0].tolist() == [10.0, 11.0, 12.0, 13.0]
    assert sorted(codec.encoded) == [10.0, 11.0, 12.0, 13.0]
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            leave(kept._kept)
    assert "10" not in repr(kept._kept)


def test_of_no_rows_nothing_fails_though_rows_are_kept():
    for values in ([], [1.0, 2.0]):
        kept = PrivateRecords(
            open_rows(pa.table({"x": pa.array(values, pa.float64())})), _CountingCodec(), columns=["x"], keep=True
        )
        assert kept.read(np.zeros(0, np.int64)).shape == (0, 1)  # as where no draw is a private one
        assert sum(len(rows) for _, rows in kept.scan()) == len(values)
