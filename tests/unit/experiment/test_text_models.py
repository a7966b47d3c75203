import pytest

from evomix.core.errors import EnvironmentFailure
from evomix.experiment import text_models


class Steps:
    """Records what is done, in order; a step can be told to fail."""

    def __init__(self, monkeypatch, *, fails=None):
        self.done = []
        self.fails = fails
        for name in ("load_runtime", "load", "install_packaged_models"):
            monkeypatch.setattr(text_models, name, self._step(name))
        for name in ("llama_conversion", "minilm_conversion"):
            monkeypatch.setattr(text_models, name, self._conversion(name))
        for name in ("WRITER", "ENCODER"):
            package = type("Package", (), {"require": lambda self, name=name: name})()
            monkeypatch.setattr(text_models, name, package)

    def _step(self, name):
        def step(*_):
            if name == self.fails:
                raise EnvironmentFailure(name)
            self.done.append(name)

        return step

    def _conversion(self, name):
        return lambda source: type("Conversion", (), {"converted": lambda _: self.done.append((name, source))})()


def test_models_are_installed_and_converted(monkeypatch):
    steps = Steps(monkeypatch)
    text_models.install_text_models()
    assert steps.done[-3:] == [
        "install_packaged_models",
        ("llama_conversion", "WRITER"),
        ("minilm_conversion", "ENCODER"),
    ]


@pytest.mark.parametrize("missing", ["load_runtime", "load"])
def test_nothing_is_installed_for_a_runtime_that_is_not_there(monkeypatch, missing):
    steps = Steps(monkeypatch, fails=missing)
    with pytest.raises(EnvironmentFailure, match=missing):
        text_models.install_text_models()
    assert "install_packaged_models" not in steps.done
