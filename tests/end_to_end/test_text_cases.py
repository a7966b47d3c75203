"""Ways in which text products fail in the field, tried on the command line; skipped where the cases are not at hand."""

import itertools
import json
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("openai")

CASES = Path(__file__).parents[3] / "shared" / "cases"
TOOL = CASES / "tools" / "mock_llm.py"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL.exists(), reason="the cases are not at hand"),
]
VOWELS = """
import numpy as np
def place(texts):
    counts = np.array([[1.0, *(t.lower().count(v) for v in 'aeioustrn')] for t in texts]).reshape(-1, 10)
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)
"""


@contextmanager
def served(scenario, log):
    """Serve a scenario on a free port; yields address and a function that counts the requests so far."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, str(TOOL), str(scenario), "--port", str(port), "--log", str(log)]
    with subprocess.Popen(words) as server:
        try:
            for _ in range(100):
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5):
                        break
                except OSError:
                    time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/v1", lambda: [json.loads(line) for line in log.read_text().splitlines()]
        finally:
            server.terminate()


@pytest.fixture
def inn(desk, monkeypatch):
    """Forty private remarks, and a schema."""
    monkeypatch.syspath_prepend(desk.folder / "in")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-the-key-4711")
    desk.write("vowels.py", VOWELS)
    desk.write("private.csv", (CASES / "inputs" / "67-llm-retry" / "private.csv").read_bytes())
    desk.write("schema.json", '{"columns": [{"name": "text", "type": "text"}]}')

    def run(scenario, *more, rows=4):
        log = desk.folder.parent / f"{scenario.stem}.jsonl"
        with served(scenario, log) as (address, hits):
            answer = desk.synth(
                "--schema", "in/schema.json", "--domain", "remarks on an inn by a lake", "--embedder", "vowels:place",
                "--base-url", address, "--model", "mock", "--concurrency", "1", "--timeout-s", "5", "--rounds", "1",
                "--candidates", "4", "--mechanism", "gaussian", "--selection", "rank", *more,
                public=None, epsilon=4, delta="1e-2", rows=rows,
            )  # fmt: skip
            return answer, hits()

    desk.ask = run
    return desk


def _inputs(case):
    return CASES / "inputs" / case


def test_67_passing_faults_are_waited_for(inn):
    answer, hits = inn.ask(_inputs("67-llm-retry") / "retry.json")
    assert answer.code == 0, answer.err
    assert len(inn.rows()) == 4
    waits = [later["t"] - earlier["t"] for earlier, later in itertools.pairwise(hits)]
    assert waits[0] >= 1.0
    assert sum(hit["status"] != 200 for hit in hits) == 2


def test_67_an_empty_account_ends_the_run_and_keeps_what_was_paid(inn):
    began = time.monotonic()
    answer, hits = inn.ask(_inputs("67-llm-retry") / "quota.json")
    assert time.monotonic() - began < 10
    assert answer.code == 4
    assert "quota" in answer.err or "credit" in answer.err
    assert "rate limit" not in answer.err
    assert len(hits) <= 2 + 3
    journal = inn.folder / "out.run" / "checkpoint" / "answers.jsonl"
    assert len(journal.read_text().splitlines()) == 2
    assert "--resume" in answer.err


@pytest.mark.parametrize(("scenario", "told"), [("bad_key", "key"), ("bad_request", "unknown parameter")])
def test_67_what_cannot_pass_is_asked_once(inn, scenario, told):
    answer, hits = inn.ask(_inputs("67-llm-retry") / f"{scenario}.json")
    assert answer.code == 4
    assert told in answer.err
    assert len(hits) == 1
    assert b"sk-the-key-4711" not in inn.traces()


def test_69_half_an_answer_is_no_record(inn):
    answer, _ = inn.ask(_inputs("69-llm-truncated") / "length.json")
    assert answer.code == 0, answer.err
    rows = inn.rows()
    assert len(rows) == 4
    assert not any("but then the wai" in row["text"] or "{" in row["text"] for row in rows)
    report = (inn.folder / "out.run" / "report.html").read_text()
    assert "Answers dropped: truncated" in report


def test_70_if_nearly_all_is_refused_the_run_fails_with_that_reason(inn):
    answer, _ = inn.ask(_inputs("70-llm-refusals") / "mostly_refused.json", "--candidates", "20", rows=20)
    if answer.code == 0:  # some were usable: none of the refusals is among them, and their share is told
        assert not any("sorry" in row["text"].lower() for row in inn.rows())
        assert "no usable texts" in answer.err
        assert "refusal" in answer.err
    else:
        assert "refusal" in answer.err
        assert not (inn.folder / "out.csv").exists()


@pytest.mark.parametrize("labelled", [True, False])
def test_66_odd_texts_survive(desk, labelled):
    case = _inputs("66-odd-unicode")
    for name in ("private.csv", "public.csv"):
        content = (case / name).read_bytes().decode("utf-8")
        if not labelled:  # the language is left out of both
            header, *lines = content.split("\n")
            cells = [line.split(",", 1)[1] for line in lines if "," in line]
            content = "\n".join([header.split(",", 1)[1], *cells, ""])
        desk.write(name, content.encode())
    options = ("--modality", "text", "--generator", "recombine", "--embedder", "tfidf", "--candidates", "12")
    answer = desk.synth(*options, epsilon=4, delta="1e-2", rows=12)
    if answer.code == 2:  # the null byte: refused by its line
        assert "13" in answer.err
        private = desk.folder / "in" / "private.csv"
        private.write_bytes(b"\n".join(line for line in private.read_bytes().split(b"\n") if b"\x00" not in line))
        answer = desk.synth(*options, epsilon=4, delta="1e-2", rows=12)
    assert answer.code == 0, answer.err
    written = (desk.folder / "out.csv").read_bytes().decode("utf-8")
    assert "\ufffd" not in written
    assert "Traceback" not in answer.err
    assert len(desk.rows()) == 12
