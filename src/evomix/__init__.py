"""Differentially private synthetic data: only privatised counts and votes of private records come out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evomix.experiment.api import Result, TableSynthesizer, synthesize
    from evomix.experiment.evaluating import evaluate
    from evomix.experiment.planning import Plan, plan

__version__ = "0.1.0"

__all__ = ["Plan", "Result", "TableSynthesizer", "evaluate", "plan", "synthesize"]

_HOMES = {
    "Plan": "evomix.experiment.planning",
    "Result": "evomix.experiment.api",
    "TableSynthesizer": "evomix.experiment.api",
    "evaluate": "evomix.experiment.evaluating",
    "plan": "evomix.experiment.planning",
    "synthesize": "evomix.experiment.api",
}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use, so that ``import evomix`` is light."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'evomix' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*globals(), *__all__])
