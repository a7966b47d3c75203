"""A steward's working folder, and the command line in it."""

import csv
import io
import json
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass

import numpy as np
import pytest

from evomix.cli.app import main
from evomix.privacy.ledger import Ledger

ORDINARY = {
    "age": (18, 90),
    "income": (0, 150_000),
    "region": ["north", "south", "east", "west"],
    "plan": ["basic", "pro"],
}


@dataclass
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


class Desk:
    """Inputs lie in ``folder/in``; everything else in ``folder`` was made by the runs."""

    def __init__(self, folder, capture):
        self.folder = folder
        self._capture = capture
        self.said = ""
        (folder / "in").mkdir()

    def write(self, name, content):
        """Write bytes, text or rows (mappings) as an input file; return its path as the command line takes it."""
        if not isinstance(content, str | bytes):
            text = io.StringIO(newline="")
            rows = csv.DictWriter(text, list(content[0]))
            rows.writeheader()
            rows.writerows(content)
            content = text.getvalue()
        (self.folder / "in" / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return f"in/{name}"

    def run(self, *words):
        self._capture.readouterr()
        code = main([str(word) for word in words])
        captured = self._capture.readouterr()
        self.said += captured.out + captured.err
        return Answer(code, captured.out, captured.err)

    def synth(self, *options, private="in/private.csv", public="in/public.csv", epsilon=1, delta="1e-6", rows=50):
        given = () if public is None else ("--public", public)
        return self.run("synth", private, *given, "--epsilon", epsilon, "--delta", delta, "--rows", rows,
                        "--out", "out.csv", "--overwrite", *options)  # fmt: skip

    def done(self, *options, **settings):
        """Run ``synth``, which must end well, and return the rows of the output."""
        answer = self.synth(*options, **settings)
        assert answer.code == 0, answer.err
        return self.rows()

    def refused(self, *mentioned, answer, code=2):
        """Check a refusal: one message that says why, nothing written, nothing spent."""
        assert answer.code == code, answer
        assert answer.out == ""
        assert answer.err.count("\n") == 1, answer.err
        assert answer.err.startswith("evomix: ")
        for text in mentioned:
            assert text in answer.err
        assert self.made() == []
        assert Ledger().datasets() == ()

    def made(self):
        return sorted(path.name for path in self.folder.iterdir() if path.name not in {"in", "ledger"})

    def rows(self, name="out.csv"):
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, strict=True))

    def privacy(self, run="out.run"):
        return json.loads((self.folder / run / "privacy.json").read_text())

    def spent(self):
        """Return what all data sets together have spent, as (epsilon of each)."""
        ledger = Ledger()
        return [ledger.balance(name).spent.epsilon for name in ledger.datasets()]

    def traces(self):
        """Return everything that the runs wrote or said, packed arrays unpacked."""
        found = self.said.encode()
        for path in self.folder.rglob("*"):
            if path.is_file() and path.parent.name != "in":
                content = path.read_bytes()
                found += content
                if zipfile.is_zipfile(path):
                    with zipfile.ZipFile(path) as packed:
                        found += b"".join(packed.read(name) for name in packed.namelist())
        return found

    def killed(self, patch, *words):
        """Run the command line in a process of its own, which ``patch`` makes kill itself at some point."""
        code = f"import os, signal\ndie = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n{patch}\n"
        code += f"from evomix.cli.app import main\nmain({[str(word) for word in words]!r})"
        ended = subprocess.run(
            [sys.executable, "-c", code], cwd=self.folder, capture_output=True, timeout=120, check=False
        )
        assert ended.returncode == -9, ended.stderr.decode()


@pytest.fixture
def desk(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVOMIX_DEBUG", raising=False)
    return Desk(tmp_path, capsys)


@pytest.fixture
def people():
    """Make ordinary rows: ``people(100, seed=1)``."""

    def make(size, seed=0):
        rng = np.random.default_rng(seed)
        low, high = ORDINARY["age"]
        return [
            {
                "age": int(rng.integers(low, high + 1)),
                "region": str(rng.choice(ORDINARY["region"])),
                "plan": str(rng.choice(ORDINARY["plan"], p=[0.8, 0.2])),
                "income": int(rng.integers(20_000, 60_000)),
            }
            for _ in range(size)
        ]

    return make


@pytest.fixture
def ordinary(desk, people):
    """Lay an ordinary private table, public table and schema on the desk."""
    desk.write("private.csv", people(120))
    edges = [
        {"age": 18, "region": "north", "plan": "basic", "income": 0},
        {"age": 90, "region": "south", "plan": "pro", "income": 150_000},
    ]
    desk.write("public.csv", edges + people(20, seed=1))
    columns = [
        {"name": "age", "type": "integer", "min": 18, "max": 90},
        {"name": "region", "type": "category", "values": ORDINARY["region"]},
        {"name": "plan", "type": "category", "values": ORDINARY["plan"]},
        {"name": "income", "type": "integer", "min": 0, "max": 150_000},
    ]
    desk.write("schema.json", json.dumps({"columns": columns}))
    return desk


@pytest.fixture
def ordinary_row():
    """Tell whether a row of the output lies inside the ordinary tables' schema."""

    def fits(row):
        return (
            list(row) == ["age", "region", "plan", "income"]
            and re.fullmatch(r"\d+", row["age"]) is not None
            and 18 <= int(row["age"]) <= 90
            and row["region"] in ORDINARY["region"]
            and row["plan"] in ORDINARY["plan"]
            and re.fullmatch(r"\d+", row["income"]) is not None
            and 0 <= int(row["income"]) <= 150_000
        )

    return fits
