"""The endpoint against the scenarios of a stand-in service, where they are at hand; its waits are real ones."""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from evomix.core.errors import GeneratorError
from evomix.modalities.text.language_model import Request

pytest.importorskip("openai")

from evomix.modalities.text.openai_endpoint import OpenAIEndpoint

CASES = Path(__file__).parents[5] / "shared" / "cases"
KEY = "sk-planted-key-4711"

pytestmark = pytest.mark.skipif(not (CASES / "tools" / "mock_llm.py").is_file(), reason="needs the shared cases")


@pytest.fixture
def service(tmp_path):
    """Start the service with a scenario; returns its address and what tells the hits."""
    started = []

    def start(scenario):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = tmp_path / "hits.jsonl"
        tool = CASES / "tools" / "mock_llm.py"
        script = CASES / "inputs" / scenario
        started.append(subprocess.Popen([sys.executable, tool, script, "--port", str(port), "--log", log]))
        address = f"http://127.0.0.1:{port}"
        for _ in range(200):
            try:
                urllib.request.urlopen(f"{address}/v1/models", timeout=5).close()
                break
            except OSError:
                time.sleep(0.05)
        return address, lambda: [json.loads(line) for line in log.read_text().splitlines()]

    yield start
    for process in started:
        process.kill()
        process.wait()


def run(address, count=4, **settings):
    model = OpenAIEndpoint(
        **{"model": "mock", "base_url": f"{address}/v1", "api_key": KEY, "concurrency": 1, "timeout_s": 5} | settings
    )
    found, error, start = [], None, time.monotonic()
    try:
        found.extend(model.complete([Request("", "Write a remark.", 60, seed=seed) for seed in range(count)]))
    except GeneratorError as raised:
        error = raised
    seconds = time.monotonic() - start
    assert KEY not in f"{error} {error!r} {model!r} {model.name} {model.spent}"
    return found, error, model, seconds


def test_faults_that_pass(service):
    address, hits = service("67-llm-retry/retry.json")
    # As a client of its own time-out: the service hangs for 20 s once.
    found, error, model, _ = run(address, timeout_s=1.5)
    assert error is None
    assert len(found) == 4
    assert all(answer.text and answer.finish == "stop" for _, answer in found)
    times = [hit["t"] for hit in hits()]
    assert [hit["status"] for hit in hits()] == [429, 200, 503, 200, 200, 200, 200]
    assert 1.0 <= times[1] - times[0] < 3.0  # as Retry-After says
    assert 1.0 <= times[3] - times[2] < 3.0  # the first wait without a hint
    assert model.spent.retries == {"rate limit": 1, "server error": 1, "timeout": 1}


def test_an_empty_account(service):
    address, hits = service("67-llm-retry/quota.json")
    found, error, _, seconds = run(address)
    assert [answer.text for _, answer in found] == [
        "The tea was hot and the staff were kind.",
        "Slow service, but the view made up for it.",
    ]
    assert seconds < 10
    assert len(hits()) - 2 <= 3
    assert "quota" in str(error)
    assert "credit" in str(error)
    assert "rate limit" not in str(error).lower()


def test_an_empty_account_with_several_at_once(service):
    address, hits = service("67-llm-retry/quota.json")
    found, error, *_ = run(address, count=50, concurrency=3)
    assert len(found) == 2
    assert len(hits()) - 2 <= 3
    assert "quota" in str(error)


def test_a_wrong_key(service):
    address, hits = service("67-llm-retry/bad_key.json")
    found, error, *_ = run(address)
    assert (found, len(hits())) == ([], 1)
    assert "authentication" in str(error)
    assert "key" in str(error)


def test_a_bad_request(service):
    address, hits = service("67-llm-retry/bad_request.json")
    found, error, *_ = run(address)
    assert (found, len(hits())) == ([], 1)
    assert "unknown parameter" in str(error)


def test_answers_cut_at_the_limit(service):
    address, _ = service("69-llm-truncated/length.json")
    found, error, *_ = run(address, count=7)
    assert error is None
    assert [answer.finish for _, answer in found] == ["stop", "length", "stop", "length", "stop", "stop", "stop"]
