import copy
import pickle
import traceback

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evomix.core.errors import InputFileError, SchemaError, SpecError
from evomix.formats.json_lines import read_json_lines
from evomix.formats.parquet_rows import ParquetRows
from evomix.formats.rows import ArrowFileRows, MemoryRows, open_rows
from evomix.formats.table import read_table, write_table

ROWS = 1000
TABLE = pa.table(
    {
        "number": pa.array([n if n % 7 else None for n in range(ROWS)], pa.int64()),
        "text": pa.array([f"Zqx77canary {n}" for n in range(ROWS)]),
        "kind": pa.array([f"k{n % 3}" for n in range(ROWS)]).dictionary_encode(),
        "number.part": pa.array(np.arange(ROWS) / 8),
    }
)


def save_parquet(folder):
    pq.write_table(TABLE, folder / "t.parquet", row_group_size=64)
    return folder / "t.parquet"


def save_parquet_folder(folder):
    parts = folder / "parts"
    parts.mkdir()
    for number, (start, length) in enumerate([(0, 300), (300, 0), (300, 1), (301, ROWS)]):
        part = TABLE.slice(start, length)
        part = part if number != 2 else part.select(TABLE.column_names[::-1])
        pq.write_table(part, parts / f"part-{number}.parquet", row_group_size=100)
    (parts / "_SUCCESS").touch()
    (parts / ".hidden.parquet").write_text("not one")
    return parts


def save_arrow(folder, *, compression=None, stream=False):
    path = folder / "t.arrow"
    options = pa.ipc.IpcWriteOptions(compression=compression)
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(str(path), TABLE.schema, options=options) as writer:
        writer.write_table(TABLE, max_chunksize=64)
    return path


def save_polars_ipc(folder):
    pl.from_arrow(TABLE).write_ipc(folder / "t.feather")
    return folder / "t.feather"


SOURCES = {
    "parquet": save_parquet,
    "parquet folder": save_parquet_folder,
    "arrow": save_arrow,
    "arrow compressed": lambda folder: save_arrow(folder, compression="zstd"),
    "arrow stream": lambda folder: save_arrow(folder, stream=True),
    "polars ipc": save_polars_ipc,
    "table": lambda _: TABLE,
    "pandas": lambda _: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda _: pl.from_arrow(TABLE),
}


@pytest.fixture(params=SOURCES, scope="module")
def rows(request, tmp_path_factory):
    return open_rows(SOURCES[request.param](tmp_path_factory.mktemp("rows")))


def expected(positions, columns):
    everything = TABLE.to_pydict()
    return {name: [everything[name][n] for n in positions] for name in columns}


@pytest.mark.parametrize(
    "positions", [[], [0], [999, 0, 999, 0], [63, 64, 65, 299, 300, 301, 300], list(range(ROWS)), [5, 4, 3] * 400]
)
@pytest.mark.parametrize("columns", [["number"], ["number.part", "kind"], ["text", "number"]])
def test_rows_come_in_the_asked_order_with_repeats(rows, positions, columns):
    taken = rows.take(np.array(positions, dtype=np.int64), columns)
    assert taken.column_names == columns
    assert taken.to_pydict() == expected(positions, columns)
    assert {name: rows.storage_types()[name] for name in columns} == dict(zip(columns, taken.schema.types, strict=True))


@pytest.mark.parametrize("size", [1, 64, 77, 65536])
def test_batches_cover_all_rows_in_order(rows, size):
    batches = list(rows.batches(["kind", "number"], size=size))
    assert max(batch.num_rows for batch in batches) <= size
    joined = pa.concat_tables(batches)
    assert joined.to_pydict() == expected(range(ROWS), ["kind", "number"])


def test_names_types_and_count_are_public(rows):
    assert rows.column_names == tuple(TABLE.column_names)
    assert rows.num_rows == ROWS
    types = rows.storage_types()
    assert types["number"] == pa.int64()
    assert types["text"] in {pa.string(), pa.large_string()}


def test_content_is_sealed(rows):
    for shown in (repr(rows), str(rows)):
        assert "canary" not in shown
        assert str(ROWS) not in shown
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="refuses to be pickled"):
            leak(rows)


@pytest.mark.parametrize("positions", [[-1], [ROWS], [0, 10**12], [[0]]])
def test_positions_outside_are_refused(rows, positions):
    with pytest.raises(SpecError, match="positions"):
        rows.take(np.array(positions), ["number"])


def test_unknown_columns_are_refused(rows):
    with pytest.raises(SchemaError, match="absent"):
        rows.take(np.array([0]), ["number", "absent"])
    with pytest.raises(SchemaError):
        rows.take(np.array([0]), [])
    with pytest.raises(SchemaError):
        rows.batches(["absent"])
    with pytest.raises(SpecError, match="size=0"):
        rows.batches(["number"], size=0)


def test_random_positions_agree_with_memory(rows):
    positions = np.random.default_rng(0).integers(0, ROWS, 3000)
    assert rows.take(positions, ["number.part"])["number.part"].to_pylist() == [n / 8 for n in positions]


def test_only_touched_row_groups_are_read_and_each_once(tmp_path, monkeypatch):
    rows = ParquetRows(save_parquet(tmp_path))
    read = []
    original = ParquetRows._read
    monkeypatch.setattr(
        ParquetRows, "_read", lambda self, chunk, columns: read.append(chunk) or original(self, chunk, columns)
    )
    rows.take(np.array([130, 0, 129, 1, 999, 0]), ["number"])
    assert read == [0, 2, 15]


@pytest.mark.parametrize("groups", [32, 1])
def test_memory_does_not_grow_with_the_file_or_its_row_groups(tmp_path, groups):
    cells = 1 << 16
    table = pa.table({"x": np.random.default_rng(0).normal(size=32 * cells)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=32 * cells // groups, compression="none")
    del table
    rows = ParquetRows(tmp_path / "t.parquet")
    pool = pa.system_memory_pool()  # a fresh account of the highest allocation
    previous = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        base = pool.bytes_allocated()
        rows.take(np.arange(0, 32 * cells, 1000), ["x"])
        assert pool.max_memory() - base < 8 * cells * 8  # all of it would be 32 times as many cells of 8 bytes
    finally:
        pa.set_memory_pool(previous)


def test_a_file_without_rows_or_row_groups(tmp_path):
    pq.write_table(TABLE.slice(0, 0), tmp_path / "t.parquet")
    save = pa.ipc.new_file(str(tmp_path / "t.arrow"), TABLE.schema)
    save.close()
    for name in ("t.parquet", "t.arrow"):
        rows = open_rows(tmp_path / name)
        assert rows.num_rows == 0
        assert rows.take(np.array([], dtype=np.int64), ["number"]).schema.names == ["number"]
        assert read_table(tmp_path / name).schema.names == TABLE.column_names


def refused(action, kind=InputFileError):
    with pytest.raises(kind) as caught:
        action()
    assert caught.value.__context__ is None
    assert "canary" not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def test_a_folder_whose_files_disagree_is_refused(tmp_path):
    pq.write_table(pa.table({"a": [1], "b": [2], "c": [3]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [1], "b": ["x"], "d": [3]}), tmp_path / "2.parquet")
    message = refused(lambda: open_rows(tmp_path))
    for part in ("2.parquet", "lacks column 'c'", "another column 'd'", "'b' as string instead of int64"):
        assert part in message


def test_folders_without_or_with_nested_parquet_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    assert "no .parquet file" in refused(lambda: open_rows(tmp_path))
    (tmp_path / "year=1").mkdir()
    pq.write_table(TABLE, tmp_path / "year=1" / "x.parquet")
    assert "sub-folders" in refused(lambda: open_rows(tmp_path))


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather"])
def test_damaged_files_are_refused(tmp_path, name):
    path = tmp_path / name
    assert "no such file" in refused(lambda: open_rows(path))
    for content in (b"", b"canary", b"PAR1canary" * 20 + b"PAR1"):
        path.write_bytes(content)
        assert "damaged" in refused(lambda: open_rows(path))


def test_damage_found_while_reading_is_refused_without_a_cell(tmp_path):
    path = save_parquet(tmp_path)
    rows = open_rows(path)
    content = bytearray(path.read_bytes())
    content[4:-2000] = bytes(len(content) - 2004)
    path.write_bytes(content)
    assert "damaged" in refused(lambda: rows.take(np.array([0, 999]), ["text"]))
    assert "damaged" in refused(lambda: list(rows.batches(["text"])))
    path.unlink()
    assert "damaged" in refused(lambda: rows.take(np.array([0]), ["text"]))


@pytest.mark.parametrize("save", ["parquet", "arrow", "stream", "table"])
def test_repeated_names_are_refused_everywhere(tmp_path, save):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", "age"])
    source = tmp_path / ("t.parquet" if save == "parquet" else "t.arrow")
    match save:
        case "parquet":
            pq.write_table(table, source)
        case "arrow":
            with pa.ipc.new_file(str(source), table.schema) as writer:
                writer.write_table(table)
        case "stream":
            with pa.ipc.new_stream(str(source), table.schema) as writer:
                writer.write_table(table)
        case _:
            source = table
    assert "duplicate column name 'age'" in refused(lambda: open_rows(source))


def test_suffixes_decide(tmp_path):
    (tmp_path / "T.CSV").write_text("a\n1\n")
    assert isinstance(open_rows(str(tmp_path / "T.CSV")), MemoryRows)
    assert isinstance(open_rows(save_arrow(tmp_path)), ArrowFileRows)
    for name in ("x.xlsx", "x", "x.csv.gz"):
        message = refused(lambda name=name: open_rows(tmp_path / name))
        for part in (name, ".csv", ".parquet", ".jsonl", ".feather"):
            assert part in message


def test_json_lines_are_text_as_written(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(
        '\ufeff{"a": 1.50, "b": "x", "c": true}\r\n\n'
        '{"b": null, "a": 12345678901234567890123, "d": [1, {"e": "é"}]}\n'
        '{"a": "\\ud83d\\ude00 \\ud800", "c": NaN, "b": ""}'
    )
    assert open_rows(path).take(np.array([0, 1, 2]), ["a", "b", "c", "d"]).to_pydict() == {
        "a": ["1.50", "12345678901234567890123", "😀 \ufffd"],
        "b": ["x", None, ""],
        "c": ["true", None, "NaN"],
        "d": [None, '["1", {"e": "é"}]', None],
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"a": "canary', "line 3"),
        ('["canary"]', "line 3"),
        ('"canary"', "line 3"),
        ('{"a": 1, "a": "canary"}', "line 3"),
        ("[" * 100_000, "line 3"),
        ('{"a": 1} {"a": "canary"}', "line 3"),
        ('{"": "canary"}', "no name"),
    ],
)
def test_json_lines_that_are_no_objects_are_refused_by_line(tmp_path, line, said):
    (tmp_path / "t.ndjson").write_text('{"a": 1}\n\n' + line + "\n")
    assert said in refused(lambda: read_json_lines(tmp_path / "t.ndjson"))


def test_json_lines_need_an_object_and_honour_the_encoding(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("\n \n")
    assert "is empty" in refused(lambda: read_json_lines(path))
    path.write_bytes('{"a": "ü"}'.encode("cp1252"))
    assert "line 1: not valid UTF-8" in refused(lambda: read_json_lines(path))
    assert read_json_lines(path, encoding="cp1252")["a"].to_pylist() == ["ü"]


def test_read_table_is_the_whole_table(tmp_path):
    write_table(TABLE, tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").to_pydict() == TABLE.to_pydict()
    assert read_table(TABLE).to_pydict() == TABLE.to_pydict()
