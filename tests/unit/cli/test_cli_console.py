import json
import sys
from pathlib import Path

import numpy as np

from evomix.cli import console
from evomix.cli.progress import progress_bars


def test_json_says_what_json_can(capsys):
    payload = {
        "a": float("nan"),
        "b": [float("inf"), np.float64(1.5)],
        "c": Path("x"),
        "d": np.arange(3),
        "e": {1: None},
        "f": "ε",
    }
    console.answer_json(payload)
    text = capsys.readouterr().out
    assert json.loads(text) == {
        "a": None,
        "b": [None, 1.5],
        "c": "x",
        "d": [0, 1, 2],
        "e": {"1": None},
        "f": "ε",
    }
    assert "ε" in text


def test_table_is_aligned(capsys):
    console.answer_table(("a", "bb"), [("long", "x")])
    assert capsys.readouterr().out == "a     bb\nlong  x\n"


def test_no_progress_where_nobody_looks(capsys):
    with progress_bars() as report:
        assert report is None


def test_progress_goes_to_stderr(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bars() as report:
        report("round [1]", 0, 2)
        report("round [1]", 2, 2)
        report("report", 1, 1)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "round [1]" in captured.err
    assert "2/2" in captured.err
