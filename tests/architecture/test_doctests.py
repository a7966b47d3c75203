"""Examples in docstrings do what they show."""

import doctest
import importlib
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
MODULES = sorted(
    ".".join(path.relative_to(SRC).with_suffix("").parts)
    for path in SRC.rglob("*.py")
    if path.name != "__init__.py" and ">>>" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("module", MODULES)
def test_examples(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_examples_are_run():
    assert sum(doctest.testmod(importlib.import_module(module)).attempted for module in MODULES) >= 6
