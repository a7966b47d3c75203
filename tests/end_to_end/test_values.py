"""Values as they are in the world: codes, gaps, dates, constants, identifiers, and cells that are no values at all."""

import json
import math
import re
from datetime import date

import pytest


def test_codes_keep_their_leading_zeros(desk):
    zips, departments = ["00501", "01002", "20500", "94105"], ["001", "007", "042"]
    codes = [{"zip": zips[k % 4], "dept": departments[k % 3]} for k in range(120)]
    desk.write("private.csv", codes)
    desk.write("public.csv", codes[:12])
    rows = desk.done(epsilon=2, rows=100)
    assert {row["zip"] for row in rows} == set(zips)
    assert {row["dept"] for row in rows} == set(departments)


def test_whole_numbers_with_gaps_stay_whole_and_gaps_stay_empty(desk):
    desk.write("private.csv", [{"age": 20 + k % 60, "visits": "" if k % 5 == 0 else k % 13} for k in range(300)])
    desk.write("public.csv", "age,visits\n18,0\n90,12\n40,\n41,3\n")
    rows = desk.done(epsilon=4, rows=300)
    visits = [row["visits"] for row in rows]
    assert all(re.fullmatch(r"\d+", cell) and 0 <= int(cell) <= 12 for cell in visits if cell)
    assert 0.05 < visits.count("") / len(visits) < 0.4
    assert all(row["age"] for row in rows)


@pytest.mark.parametrize("source", ["public", "schema", "both"])
def test_dates_keep_their_format_and_the_ends_of_time_stay_out(desk, source):
    far = ["9999-12-31", "0001-01-01", "2024-05-17"]
    desk.write("private.csv", [{"joined": 20110101 + k % 28, "ends": far[k % 3]} for k in range(150)])
    desk.write("public.csv", "joined,ends\n20100101,2020-01-01\n20231231,2030-12-31\n20150615,2024-02-29\n")
    columns = [
        {"name": "joined", "type": "date", "format": "%Y%m%d", "min": "20100101", "max": "20231231"},
        {"name": "ends", "type": "date", "format": "%Y-%m-%d", "min": "2020-01-01", "max": "2030-12-31"},
    ]
    desk.write("schema.json", json.dumps({"columns": columns}))
    options = () if source == "public" else ("--schema", "in/schema.json")
    rows = desk.done(*options, epsilon=2, rows=100, public=None if source == "schema" else "in/public.csv")
    for row in rows:
        assert re.fullmatch(r"\d{8}", row["joined"])
        joined = date(int(row["joined"][:4]), int(row["joined"][4:6]), int(row["joined"][6:]))
        assert date(2010, 1, 1) <= joined <= date(2023, 12, 31)
        assert date(2020, 1, 1) <= date.fromisoformat(row["ends"]) <= date(2030, 12, 31)


def test_a_column_with_one_value_holds_it_and_costs_nothing_extra(desk):
    desk.write("private.csv", [{"age": 20 + k % 50, "site": "A", "year": 2024} for k in range(100)])
    desk.write("public.csv", "age,site,year\n18,A,2024\n90,A,2024\n40,A,2024\n")
    rows = desk.done()
    assert {(row["site"], row["year"]) for row in rows} == {("A", "2024")}
    assert desk.privacy()["epsilon"] == 1.0
    report = (desk.folder / "out.run" / "report.html").read_text()
    assert not re.search(r"\bnan\b|\binf\b", report, re.IGNORECASE)


def test_a_table_of_constants_only(desk):
    desk.write("private.csv", "site,year\n" + "A,2024\n" * 30)
    desk.write("public.csv", "site,year\nA,2024\nA,2024\n")
    for mechanism in ("auto", "linmix", "gaussian", "laplace"):
        assert {tuple(row.values()) for row in desk.done("--mechanism", mechanism)} == {("A", "2024")}


def test_identifiers_are_made_up_never_learned(desk, people):
    for name, size, seed in (("private", 150, 0), ("public", 40, 1)):
        rows = people(size, seed)
        desk.write(f"{name}.csv", [row | {"login": f"{name}-{k:05}@mail.invalid"} for k, row in enumerate(rows)])
    answer = desk.synth("--debug")
    assert answer.code == 0
    assert "'login'" in answer.err
    assert len({row["login"] for row in desk.rows()}) == 50
    assert b"private-0" not in desk.traces()


PRIVATE = [{"age": 20 + k % 60, "region": "north" if k % 2 else "south", "income": 30_000 + k} for k in range(100)]


def _public(**renamed):
    rows = [(18, "north", 0), (90, "south", 150_000), (40, "north", 60_000)]
    names = [renamed.get(name, name) for name in ("age", "region", "income")]
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_columns_are_matched_by_name_not_by_position(desk):
    desk.write("private.csv", PRIVATE)
    desk.write("public.csv", [{name: row[name] for name in ("income", "age", "region")} for row in _public()])
    rows = desk.done()
    assert list(rows[0]) == ["income", "age", "region"]
    assert all(18 <= int(row["age"]) <= 90 and row["region"] in {"north", "south"} for row in rows)


@pytest.mark.parametrize(
    ("public", "mentioned"),
    [
        (_public(age="Age"), ["'age'", "'Age'"]),
        ([{"age": 18, "region": "north"}, {"age": 90, "region": "south"}], ["'income'", "private"]),
        ([row | {"height": 170, "weight": 70} for row in _public()], ["'height'", "'weight'", "public"]),
        ([row | {"age": word} for row, word in zip(_public(), ["young", "old", "old"], strict=True)],
         ["'age'", "category in the public table", "number in the private table"]),
        (_public(age="Age", income="salary"), ["'Age'", "'salary'", "'income'"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_that_do_not_agree_are_refused_naming_all_that_differs(desk, public, mentioned, suffix):
    import pyarrow as pa
    import pyarrow.parquet as pq

    desk.write("private.csv", PRIVATE)
    pq.write_table(pa.Table.from_pylist(PRIVATE), desk.folder / "in" / "private.parquet")
    desk.write("public.csv", public)
    desk.refused(*mentioned, answer=desk.synth(private=f"in/private.{suffix}"))


def test_words_that_tools_keep_for_themselves_stay_ordinary_values(desk):
    words = ["_RARE_", "other", "<NA>", "UNKNOWN", "[MASK]", "__missing__"]
    desk.write("private.csv", [{"tag": words[k % 6], "spend": 10 + k % 90} for k in range(600)])
    desk.write(
        "public.csv", [{"tag": word, "spend": spend} for word, spend in zip(words, range(0, 600, 100), strict=True)]
    )
    rows = desk.done(epsilon=5, rows=200)
    tags = [row["tag"] for row in rows]
    assert set(tags) == set(words)
    assert min(map(tags.count, words)) >= 6
    assert all(0 <= float(row["spend"]) <= 500 for row in rows)


CELLS = ["41000", "inf", "-Infinity", "nan", "1e400", "n/a", "1e-320", "=cmd()", '"', "-0.0", "9" * 400]


@pytest.mark.parametrize("mechanism", ["auto", "gaussian"])
def test_one_odd_cell_never_decides_how_a_run_ends(ordinary, ordinary_row, people, mechanism):
    said = set()
    for number, cell in enumerate(CELLS):
        rows = people(60)
        rows[7]["income"] = cell
        ordinary.write("private.csv", rows)
        # An account of its own for each, because what is said counts the account's runs.
        answer = ordinary.synth("--mechanism", mechanism, "--dataset", f"table {number}", rows=30)
        said.add((answer.code, answer.out, answer.err))
        assert all(map(ordinary_row, ordinary.rows()))
    assert len(said) == 1


def test_negative_zero_and_tiny_numbers_come_out_as_numbers_inside_the_bounds(desk):
    cells = ["-0.0", "5e-324", "1e-310", "-1e-320", "0.5", "-1", "1"]
    desk.write("private.csv", [{"x": cells[k % 7], "y": k % 5} for k in range(140)])
    desk.write("public.csv", "x,y\n-1.0,0\n1.0,4\n0.25,2\n")
    for _ in range(5):
        written = [row["x"] for row in desk.done(rows=60)]
        assert all(math.isfinite(float(x)) and -1 <= float(x) <= 1 for x in written)
        assert not {"-0", "-0.0"} & set(written)
    desk.write("public.csv", "x,y\n0,0\n0,4\n0,2\n")
    assert {row["x"] for row in desk.done(rows=60)} == {"0"}
