import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.formats import csv_grammar
from evomix.formats.csv_grammar import (
    DELIMITERS,
    MalformedError,
    quotes_are_regular,
    scan_records,
    sniff_delimiter,
    split_cells,
    unquote,
)

MARKS = st.text(st.sampled_from(list('a",\n\r')), max_size=30).map(str.encode)


def scanned(text: bytes) -> list[tuple[int, int]] | None:
    try:
        return [(record.line, record.fields) for record in scan_records(text, b",")]
    except MalformedError:
        return None


def test_records_have_physical_lines_and_field_counts():
    text = b'a,b\n\n"1\n2",",",x\r\n3\r"4""",\n'
    assert scanned(text) == [(1, 2), (2, 0), (3, 3), (5, 1), (6, 2)]
    starts = [record.start for record in scan_records(text, b",")]
    assert [record.after for record in scan_records(text, b",")] == [*starts[1:], len(text)]


def test_cells_are_cut_and_unquoted():
    text = b'"a ""x"", b",,c d\n'
    spans, after = split_cells(text, 0, b",")
    assert [unquote(text[start:stop]) for start, stop in spans] == ['a "x", b', "", "c d"]
    assert after == len(text)


@settings(max_examples=500, deadline=None)
@given(MARKS)
def test_regular_quotes_are_never_malformed(text):
    if quotes_are_regular(text, b","):
        assert scanned(text) is not None


@settings(max_examples=200, deadline=None)
@given(text=MARKS, block=st.integers(1, 7))
def test_blocks_do_not_change_the_verdict(text, block):
    expected = quotes_are_regular(text, b",")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_grammar, "_BLOCK", block)
        assert quotes_are_regular(text, b",") == expected


@given(st.lists(st.lists(st.text(st.sampled_from(list('a",;\n')), max_size=5), min_size=1, max_size=4), max_size=5))
def test_fully_quoted_text_is_regular(rows):
    text = "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows).encode()
    assert quotes_are_regular(text, b",")
    assert [fields for _, fields in scanned(text) or []] == [len(row) for row in rows]


@pytest.mark.parametrize(("text", "regular"), [(b'"a', False), (b'"a"b', False), (b'a"b"', False), (b'"""', False)])
def test_irregular_quotes(text, regular):
    assert quotes_are_regular(text, b",") is regular


def test_a_fault_in_the_sample_does_not_hide_the_delimiter():
    assert sniff_delimiter(b'a;b,c\n1;2\n3;"x"y\n') == b";"
    assert sniff_delimiter(b"") == DELIMITERS[0]
