"""Shared by all tests: generous deadlines, and a ledger of its own for every test."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # model servers and other parts that several folders use

settings.register_profile("evomix", deadline=None)
settings.load_profile("evomix")


@pytest.fixture(autouse=True)
def own_ledger(tmp_path, monkeypatch):
    """Keep tests away from the user's ledger."""
    monkeypatch.setenv("EVOMIX_LEDGER", str(tmp_path / "ledger" / "ledger.sqlite"))
