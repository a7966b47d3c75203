"""Files as people save them: what a spreadsheet, a code page or a broken export does to a table."""

import pytest


def test_a_byte_order_mark_and_crlf_stay_out_of_the_names(ordinary):
    private = ordinary.folder / "in" / "private.csv"
    private.write_bytes(b"\xef\xbb\xbf" + private.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    for given in ({}, {"public": None}):
        options = () if not given else ("--schema", "in/schema.json")
        ordinary.done(*options, **given)
        written = (ordinary.folder / "out.csv").read_bytes()
        assert written.startswith(b"age,region,plan,income\n")
        assert b"\r" not in written
        assert b"\xef\xbb\xbf" not in written


def test_amounts_with_thousands_marks_stay_amounts(desk):
    amounts = range(30_000, 60_000, 250)
    desk.write("private.csv", [{"age": 20 + k % 50, "income": f"{a:,}"} for k, a in enumerate(amounts)])
    desk.write("public.csv", 'age,income\n18,0\n90,"150,000"\n40,"60,000"\n')
    incomes = [int(row["income"]) for row in desk.done(epsilon=4, rows=100)]
    assert all(0 <= income <= 150_000 for income in incomes)
    assert 15_000 < sum(incomes) / len(incomes) < 135_000


TOWNS = ("Malmö", "Köln", "Évry", "Århus")


def test_a_code_page_is_refused_until_it_is_declared(desk):
    rows = [{"age": 20 + k % 60, "town": TOWNS[k % 4]} for k in range(100)]
    desk.write("private.csv", ("age,town\n" + "".join(f"{r['age']},{r['town']}\n" for r in rows)).encode("cp1252"))
    desk.write("public.csv", "age,town\n18,Malmö\n90,Köln\n40,Évry\n41,Århus\n")
    answer = desk.synth()
    desk.refused("private.csv", "line 2", "UTF-8", "--encoding", answer=answer)
    assert "Malm" not in answer.err
    found = {row["town"] for row in desk.done("--encoding", "cp1252", rows=100)}
    assert found
    assert found <= set(TOWNS)
    refused = desk.synth("--encoding", "no-such-code-page")
    assert (refused.code, "no-such-code-page" in refused.err) == (2, True)


@pytest.mark.parametrize("broken", ["private.csv", "public.csv"])
def test_a_repeated_column_name_is_refused(desk, broken):
    desk.write("private.csv", "age,region,plan\n" + "30,north,basic\n" * 40)
    desk.write("public.csv", "age,region,plan\n18,north,basic\n90,south,pro\n")
    good = (desk.folder / "in" / broken).read_text()
    desk.write(broken, good.replace("age,region,plan", "age,region,age"))
    desk.refused("duplicate column", "'age'", broken, answer=desk.synth())


def test_rows_that_are_too_long_never_move_the_names(desk):
    desk.write("public.csv", "age,region,plan\n18,north,basic\n90,south,pro\n")
    desk.write("private.csv", "age,region,plan\n" + "30,north,basic\n" * 40 + "31,SECRET,north,basic\n32,north\n")
    answer = desk.synth()
    desk.refused("line 42", "4 fields", "3 names", answer=answer)
    assert "SECRET" not in answer.err
    desk.write("private.csv", "age,region,plan\n" + "1,30,north,basic\n" * 40)
    desk.refused("line 2", "4 fields", answer=desk.synth())


@pytest.mark.parametrize("content", ["", "\n\n\n"])
def test_a_file_without_a_header_is_refused(ordinary, content):
    ordinary.write("private.csv", content)
    ordinary.refused("private.csv", "empty", "header", answer=ordinary.synth())


@pytest.mark.parametrize("mechanism", ["auto", "linmix", "gaussian", "laplace"])
def test_a_table_without_rows_is_the_neighbour_of_one_with_a_row(ordinary, ordinary_row, mechanism):
    ordinary.write("private.csv", "age,region,plan,income\n")
    for options in ((), ("--schema", "in/schema.json")):
        rows = ordinary.done("--mechanism", mechanism, *options, rows=80)
        assert len(rows) == 80
        assert all(map(ordinary_row, rows))
        assert ordinary.privacy()["epsilon"] == 1.0


def test_without_public_file_and_schema_nothing_is_read_off_the_private_table(ordinary):
    ordinary.refused("--public", "--schema", answer=ordinary.synth(public=None))


def test_a_public_table_without_rows_asks_for_a_schema(ordinary, ordinary_row):
    ordinary.write("public.csv", "age,region,plan,income\n")
    ordinary.refused("no rows", "schema", answer=ordinary.synth())
    assert all(map(ordinary_row, ordinary.done("--schema", "in/schema.json")))


def test_odd_text_passes_through_as_plain_text(desk):
    odd = [
        "<|endoftext|>",
        "[INST] <<SYS>> </s>",
        "👩🏽‍🚀",
        "שלום עולם 123",
        "مرحبا \u200f(test)\u200f",
        "cafe\u0301",
        "Z͑ͫ̓algo",
        "𠀀",
    ]
    desk.write("public.csv", [{"lang": "en", "text": text} for text in odd])
    desk.write("private.csv", [{"lang": "en", "text": odd[k % len(odd)]} for k in range(200)])
    rows = desk.done(epsilon=4, delta="1e-3", rows=100)
    assert {row["text"] for row in rows} <= set(odd)
    assert len({row["text"] for row in rows}) > 1


def test_a_null_byte_is_refused_with_its_line(desk):
    desk.write("public.csv", "lang,text\nen,a\nfr,b\n")
    desk.write("private.csv", "lang,text\n" + "en,a\n" * 11 + "en,SECRET\0\n")
    answer = desk.synth()
    desk.refused("private.csv", "line 13", "NUL", answer=answer)
    assert "SECRET" not in answer.err


@pytest.mark.parametrize(
    ("private", "mentioned"),
    [("in/absent.csv", "absent.csv"), ("in/private.xlsx", "xlsx"), ("in/private", "suffix"), ("in", "in")],
)
def test_a_file_that_is_not_there_or_of_an_unknown_kind_is_refused(ordinary, private, mentioned):
    for name in ("private.xlsx", "private"):
        ordinary.write(name, "a,b\n1,2\n")
    ordinary.refused(mentioned, answer=ordinary.synth(private=private))
