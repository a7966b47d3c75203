"""A private table full of canaries, a public one without any, and a search for them in everything a run leaves."""

import contextlib
import io
import json
import os
import traceback
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from evomix.cli.app import main

WORD = "kanarie"  # in no public value, file name or message
NUMBERS = ("73519.8642", "918273645", "1893-07-19", "1911-03-05T04:05:06")
CANARIES = (WORD, *NUMBERS, "73519.8", "91827364", "1893-07", "1911-03")
SCHEMA = {
    "columns": [
        {"name": "age", "type": "integer", "min": 0, "max": 100},
        {"name": "income", "type": "number", "min": 0, "max": 1000, "missing": True},
        {"name": "region", "type": "category", "values": ["north", "south"], "other": True},
        {"name": "colour", "type": "category", "values": ["red", "green"]},
        {"name": "born", "type": "date", "min": "2000-01-01", "max": "2010-12-31"},
        {"name": "seen", "type": "datetime", "min": "2020-01-01T00:00:00", "max": "2024-01-01T00:00:00"},
        {"name": "smokes", "type": "boolean"},
        {"name": "key", "type": "id"},
    ]
}
ROWS = 60


def private_table(*, strings=True):
    """Return rows whose every third cell is a canary; with ``strings=False`` typed as Parquet would have them."""
    rng = np.random.default_rng(5)
    columns = {
        "age": ["918273645" if row % 3 == 0 else str(int(rng.integers(0, 100))) for row in range(ROWS)],
        "income": ["73519.8642" if row % 3 == 1 else f"{rng.random() * 900:.2f}" for row in range(ROWS)],
        "region": [f"{WORD}-region" if row % 3 == 2 else str(rng.choice(["north", "south"])) for row in range(ROWS)],
        "colour": [f"{WORD}-colour" if row % 3 == 0 else str(rng.choice(["red", "green"])) for row in range(ROWS)],
        "born": ["1893-07-19" if row % 3 == 1 else "2005-05-05" for row in range(ROWS)],
        "seen": ["1911-03-05T04:05:06" if row % 3 == 2 else "2021-02-03T00:00:00" for row in range(ROWS)],
        "smokes": [f"{WORD}-smokes" if row % 3 == 0 else "yes" for row in range(ROWS)],
        "key": [f"{WORD}-key-{row}" for row in range(ROWS)],
        "person": [f"{WORD}-person-{row // 2}" for row in range(ROWS)],
    }
    table = pa.table(columns)
    if strings:
        return table
    typed = {"age": pa.int64(), "income": pa.float64()}
    return pa.table({name: table.column(name).cast(typed.get(name, pa.string())) for name in table.column_names})


def public_table():
    rng = np.random.default_rng(6)
    return pa.table(
        {
            "age": rng.integers(0, 100, ROWS),
            "income": np.round(rng.random(ROWS) * 900, 2),
            "region": rng.choice(["north", "south"], ROWS).tolist(),
            "colour": rng.choice(["red", "green"], ROWS).tolist(),
            "born": ["2004-04-04", "2006-06-06"] * (ROWS // 2),
            "seen": ["2022-02-02T00:00:00", "2023-03-03T00:00:00"] * (ROWS // 2),
            "smokes": ["yes", "no"] * (ROWS // 2),
            "key": [f"p{row}" for row in range(ROWS)],
        }
    )


def plant(folder, *, suffix="csv", unit=False):
    """Write private and public table and schema into ``folder``."""
    private = private_table(strings=suffix == "csv")
    if not unit:
        private = private.drop_columns(["person"])
    for name, table in (("private", private), ("public", public_table())):
        if suffix == "csv":
            arrow_csv.write_csv(table, folder / f"{name}.csv")
        else:
            pq.write_table(table, folder / f"{name}.parquet", row_group_size=16)
    (folder / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")


def call(arguments):
    """Run the command in this process; return exit code and everything it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in arguments])
    return code, out.getvalue() + err.getvalue()


def texts_of(error):
    """Return what a log would show of an exception and of everything it leads to."""
    seen, todo, texts = [], [error], ["".join(traceback.format_exception(error))]
    while todo:
        link = todo.pop()
        if link is not None and link not in seen:
            seen.append(link)
            texts += [str(link), repr(link), repr(link.args), repr(getattr(link, "__notes__", []))]
            todo += [link.__cause__, link.__context__]
    return texts


def bytes_under(folder, *, but=()):
    """Yield (path, content) of all files under ``folder``; archives and HTML escapes unpacked."""
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file() and path not in but:
            content = path.read_bytes()
            yield path, os.fsencode(path.name) + b"\n" + content
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as archive:
                    for name in archive.namelist():
                        yield path / name, archive.read(name)


def found_in(content):
    """Return the canaries in ``content``: as text in common encodings, numbers also as the bytes of a float or int."""
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    spellings = {canary: [canary.encode(), canary.encode("utf-16-le"), canary.upper().encode()] for canary in CANARIES}
    spellings["float 73519.8642"] = [np.float64(73519.8642).tobytes(), np.float32(73519.8642).tobytes()]
    spellings["int 918273645"] = [kind(918273645).tobytes() for kind in (np.int32, np.int64, np.float64)]
    return [canary for canary, forms in spellings.items() if any(form in data for form in forms)]
