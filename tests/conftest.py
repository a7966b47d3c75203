"""Shared by all tests: generous deadlines, and a ledger of its own for every test."""

import pytest
from hypothesis import settings

settings.register_profile("evomix", deadline=None)
settings.load_profile("evomix")


@pytest.fixture(autouse=True)
def own_ledger(tmp_path, monkeypatch):
    """Keep tests away from the user's ledger."""
    monkeypatch.setenv("EVOMIX_LEDGER", str(tmp_path / "ledger" / "ledger.sqlite"))
