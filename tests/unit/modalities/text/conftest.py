"""Lets the tests of this folder use the model servers of `tests/`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))


@pytest.fixture(scope="session")
def llama_address():
    """Address of a real server with the packaged model."""
    from llama_server import llama_server

    with llama_server() as address:
        yield address
