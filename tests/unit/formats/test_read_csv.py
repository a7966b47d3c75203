import traceback
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import InputFileError, SpecError
from evomix.formats import csv as csv_module
from evomix.formats.csv import read_csv
from evomix.formats.table import write_table

CANARY = "Zqx77canary"


@pytest.fixture
def put(tmp_path):
    def write(content: bytes | str, name: str = "private.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refusal(path: Path, **options) -> str:
    """The message; the whole traceback is searched for the canary."""
    with pytest.raises(InputFileError) as caught:
        read_csv(path, **options)
    assert caught.value.__context__ is None
    shown = "".join(traceback.format_exception(caught.value))
    assert CANARY not in shown
    assert path.name in str(caught.value)
    return str(caught.value)


def test_case_01_byte_order_mark_and_crlf_leave_no_trace(put):
    table = read_csv(put(b"\xef\xbb\xbfage,region\r\n33,north\r\n,south\r\n"))
    assert table.to_pydict() == {"age": ["33", ""], "region": ["north", "south"]}
    assert table.schema.types == [pa.string(), pa.string()]


def test_case_03_thousands_marks_stay_as_written(put):
    assert read_csv(put('age,income\n46,"54,250"\n41,"-1,234,567"\n'))["income"].to_pylist() == [
        "54,250",
        "-1,234,567",
    ]


def test_case_04_another_encoding_is_refused_with_line_and_way_out(put):
    path = put("age,town\n20,Paris\n30,Orléans Zqx77canary\n".encode("cp1252"))
    message = refusal(path)
    for part in ("line 3", "UTF-8", "--encoding", "--public-encoding"):
        assert part in message
    assert read_csv(path, encoding="cp1252")["town"].to_pylist() == ["Paris", "Orléans Zqx77canary"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp037", "utf_8"])
def test_every_encoding_python_knows_is_transcoded(put, encoding):
    path = put("name,ä\nö,1\nü,2\n".encode(encoding))
    assert read_csv(path, encoding=encoding).to_pydict() == {"name": ["ö", "ü"], "ä": ["1", "2"]}


def test_a_bad_byte_under_a_declared_encoding_names_it_and_the_line(put):
    message = refusal(put("a,b\n1,2\n3,".encode("utf-16-le") + b"\x00\xdc"), encoding="utf-16-le")
    assert "line 3" in message
    assert "utf-16-le" in message
    assert "line 2" in refusal(put(b"a,b\n\x81,1\n"), encoding="cp1252")


@pytest.mark.parametrize("encoding", ["no-such", "base64", "rot13", "", "a\0b"])
def test_an_unknown_encoding_is_an_option_error(put, encoding):
    with pytest.raises(SpecError, match="encoding="):
        read_csv(put("a\n1\n"), encoding=encoding)


def test_halves_of_characters_are_not_text(put):
    refusal(put(b"a,b\n\\ud800,1\n"), encoding="unicode_escape")


def test_case_06_a_repeated_name_is_refused_by_name(put):
    message = refusal(put(f"age,region,age\n{CANARY},2,3\n"))
    assert "duplicate column name 'age' (columns 1 and 3)" in message


def test_a_file_without_a_header_does_not_give_away_its_first_record(put):
    message = refusal(put("31977,31977,north\n5,6,south\n"))
    assert "columns 1 and 2" in message
    assert "31977" not in message


@pytest.mark.parametrize(("header", "position"), [("a,,c", 2), ("a,b,", 3), ('"",b', 1), ("a,  ,c", 2)])
def test_an_unnamed_column_is_refused_by_position(put, header, position):
    assert f"column {position} of" in refusal(put(f"{header}\n1,2,{CANARY}\n"))


def test_case_08_the_first_ragged_lines_are_named_with_both_counts(put):
    rows = [f"{n},{CANARY},1" for n in range(2, 42)]
    message = refusal(put("\n".join(["a,b,c", *rows, f"1,2,3,{CANARY}", "1,2", "1,2,3", ""])))
    assert "line 42: the row has 4 fields for 3 names" in message
    assert "line 43 with 2" in message


def test_case_08_every_row_too_long_is_said_so(put):
    message = refusal(put(f"age,region,plan\n{CANARY},1,2,3\n4,5,6,7\n"))
    assert "line 2: every row has 4 fields for 3 names" in message


def test_many_ragged_lines_are_cut_short(put):
    message = refusal(put("a,b\n" + "1\n" * 50 + "1,2\n"))
    assert "line 6 with 1, and more" in message
    assert "line 7" not in message


def test_line_numbers_are_physical(put):
    assert "line 6: the row has 3 fields" in refusal(put(f'a,b\n"first {CANARY}\nsecond\r\nthird",x\n\n1,2,3\n'))


@pytest.mark.parametrize("content", [b"", b"\n\n\n", b"\r\n", b" \n\t\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_case_10_no_bytes_or_only_line_ends_is_empty(put, content):
    assert "is empty: no header" in refusal(put(content))


@pytest.mark.parametrize("content", ["a,b", "a,b\n", "a,b\r\n", "a,b\n\n\n", "\n\na,b\n"])
def test_case_10_a_header_alone_is_a_table_without_rows(put, content):
    table = read_csv(put(content))
    assert table.num_rows == 0
    assert table.column_names == ["a", "b"]
    assert table.schema.types == [pa.string(), pa.string()]


def test_case_66_a_nul_byte_is_refused_and_the_rest_of_unicode_kept(put):
    texts = [
        "Stop <|endoftext|>",
        "\U0001f469\U0001f3fd\u200d\U0001f680",
        "\u0645\u0631 \u200f(x)\u200f",
        "café",
        "Z͑ͫalgo",
        "line\u2028sep",
        "𠀀",
        "\ufeffmark",
    ]
    lines = [f"xx,{text}" for text in texts]
    assert read_csv(put("\n".join(["lang,text", *lines])))["text"].to_pylist() == texts
    message = refusal(put("\n".join(["lang,text", *lines, f"en,nu\0ll {CANARY}"])))
    assert "line 10" in message
    assert "NUL byte" in message
    assert "UTF-16" in refusal(put("a,b\n1,2\n".encode("utf-16-le")))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_dialects(put, delimiter, end):
    rows = [["name", "note"], ["1,5", "a;b|c\td"], ['say "hi"', "two\nlines"], ["", ""]]
    cells = [['"' + cell.replace('"', '""') + '"' for cell in row] for row in rows]
    content = end.join(delimiter.join(row) for row in cells)
    table = read_csv(put(content))
    assert table.to_pydict() == {"name": ["1,5", 'say "hi"', ""], "note": ["a;b|c\td", "two\nlines", ""]}


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("a;b\n1,5;2,5\n", ["a", "b"]),
        ("age,region (n|s),x\n1,2,3\n", ["age", "region (n|s)", "x"]),
        ('"a;b","c"\n1,2\n', ["a;b", "c"]),
        ("a|b;c\n1|2\n3|4\n", ["a", "b;c"]),
        ("x, y;z\n1;2\n", ["x, y", "z"]),
        ("one\n1\n2\n", ["one"]),
        ('k;"n\nm"\n1;"a,b"\n', ["k", "n\nm"]),
    ],
)
def test_the_delimiter_is_found_from_the_first_lines(put, content, names):
    assert read_csv(put(content)).column_names == names


def test_a_tsv_file_is_split_at_tabs_only(put):
    table = read_csv(put("a,b\tc\n1,2\t3\n", "x.tsv"))
    assert table.to_pydict() == {"a,b": ["1,2"], "c": ["3"]}


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        ("a\n1\n\n2\n", ["1", "", "2"]),
        ("a\r\n1\r\n\r\n2\r\n\r\n", ["1", "", "2", ""]),
        ('a\n""\n"x\n\ny"\n', ["", "x\n\ny"]),
        ("a\n1", ["1"]),
        ("\na\n1\n", ["1"]),
    ],
)
def test_in_one_column_an_empty_line_is_an_empty_cell(put, content, cells):
    assert read_csv(put(content))["a"].to_pylist() == cells


def test_one_column_with_the_delimiter_in_a_row_is_ragged(put):
    assert "line 3: the row has 2 fields for 1 name" in refusal(put(f"text\nhello\nhello, {CANARY}\n"))


def test_several_columns_skip_blank_lines(put):
    assert read_csv(put("a,b\n\n1,2\n\n\r\n3,4\n\n")).to_pydict() == {"a": ["1", "3"], "b": ["2", "4"]}


def test_nothing_is_stripped_and_nothing_is_null(put):
    table = read_csv(put('a,b,c\n x ,NA,\nnull,nan,"  "\n'))
    assert table.to_pylist() == [{"a": " x ", "b": "NA", "c": ""}, {"a": "null", "b": "nan", "c": "  "}]
    assert sum(column.null_count for column in table.columns) == 0


def test_a_lone_quote_inside_a_cell_is_text(put):
    assert read_csv(put('a,b\n5" pipe,1\nx,6"\n')).to_pydict() == {"a": ['5" pipe', "x"], "b": ["1", '6"']}


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (f'a,b\n1,2\n3,"{CANARY}\n4,5\n', 3, "never closed"),
        (f'a,b\n1,2\n3,"{CANARY}\n4,5""\n', 3, "never closed"),
        (f'a,b\n5" p,1\n3,"{CANARY}\n4,5\n', 3, "never closed"),
        (f'a,b\n1,"{CANARY}\n2,3\n4,"x"\n5,6\n', 4, "follows the closing quote"),
        (f'a,b\n1,"x"{CANARY}\n', 2, "follows the closing quote"),
        (f'a,b\n"1\n2","x"{CANARY}\n', 3, "follows the closing quote"),
        ('"a,b\n1,2\n', 1, "never closed"),
        ('"a" x,b\n1,2\n', 1, "follows the closing quote"),
    ],
)
def test_a_quote_never_swallows_rows(put, content, line, reason):
    message = refusal(put(content))
    assert f"line {line}: " in message
    assert reason in message


def test_a_missing_file_and_a_folder(tmp_path):
    assert "no such file" in refusal(tmp_path / "absent.csv")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert "folder" in refusal(folder)


@pytest.mark.parametrize("block", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_where_blocks_end_does_not_matter(put, monkeypatch, block, end):
    monkeypatch.setattr(csv_module, "_BLOCK", block)
    rows = [["1", "x"], ["", ""], ["a long cell, with a comma", f"two{end}lines"], ["3", ""]]
    content = end.join(["k,v", *(",".join(f'"{cell}"' for cell in row) for row in rows), ""])
    assert [list(row.values()) for row in read_csv(put(content)).to_pylist()] == rows


def test_a_cell_longer_than_a_block(put):
    long = "x" * (csv_module._BLOCK + 10)
    assert read_csv(put(f'a,b\n1,"{long}"\n2,y\n'))["b"].to_pylist() == [long, "y"]


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(
        st.tuples(CELLS, CELLS | st.sampled_from(['"', '""', ",", "\n", "\r\n", "\r", ";", "|"])), max_size=8
    ),
    suffix=st.sampled_from([".csv", ".tsv"]),
)
def test_what_is_written_is_read_back(tmp_path_factory, rows, suffix):
    path = tmp_path_factory.getbasetemp() / f"t{suffix}"
    table = pa.table({"k,": [row[0] for row in rows], 'v"': [row[1] for row in rows]}, schema=_TEXTS)
    write_table(table, path)
    assert read_csv(path).equals(table.combine_chunks())


_TEXTS = pa.schema([("k,", pa.string()), ('v"', pa.string())])


@settings(max_examples=300, deadline=None)
@given(content=st.text(st.sampled_from(list('ab",;\n\r\t| ')), max_size=40))
def test_any_text_is_read_whole_or_refused(tmp_path_factory, content):
    """Every letter of the text is in the table exactly once, or the file is refused."""
    path = tmp_path_factory.getbasetemp() / "t.csv"
    path.write_bytes(content.encode())
    try:
        table = read_csv(path)
    except InputFileError:
        return
    kept = "".join(table.column_names) + "".join(str(v) for row in table.to_pylist() for v in row.values())
    assert [kept.count(letter) for letter in "ab"] == [content.count(letter) for letter in "ab"]
