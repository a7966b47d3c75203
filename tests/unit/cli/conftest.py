import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from evomix.cli.app import main

PRIVACY = {"epsilon": 1.0, "delta": 1e-6, "adjacency": "replace-one", "unit": "row", "mechanism": "linmix"}


@dataclass
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def evomix(capsys, monkeypatch, tmp_path):
    """Call the command line; returns exit code, stdout and stderr."""
    monkeypatch.setenv("EVOMIX_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.delenv("EVOMIX_DEBUG", raising=False)

    def call(*words):
        capsys.readouterr()
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return call


@dataclass
class Backend:
    """Stands in for the experiment package: records what was asked, gives or raises what a test wants."""

    asked: dict[str, Any] = field(default_factory=dict)
    error: BaseException | None = None
    private: bool = True

    def record(self, name, value, result):
        self.asked[name] = value
        if self.error is not None:
            raise self.error
        return result


@pytest.fixture
def backend(monkeypatch):
    state = Backend()

    def module(name, **members):
        stub = ModuleType(name)
        stub.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, stub)

    class RunSpec:
        @staticmethod
        def from_mapping(values):
            return SimpleNamespace(values=values, epsilon=values.get("epsilon", 1.0))

    outcome = SimpleNamespace(
        out=Path("s.csv"), rows=7, run_dir=Path("s.run"), warnings=("income: odd",), plan={"draws": 5}
    )

    def synthesize_to_file(spec, *, progress=None):
        outcome.privacy = {**PRIVACY, "private": state.private}
        return state.record("synth", spec.values, outcome)

    module("evomix.experiment.spec", RunSpec=RunSpec, load_toml=lambda path: {"epsilon": 3.0, "rows": 9})
    module(
        "evomix.experiment.run",
        synthesize_to_file=synthesize_to_file,
        dry_run=lambda spec: state.record("dry_run", spec.values, {"draws": 5, "share": float("nan")}),
    )
    plan = SimpleNamespace(to_dict=lambda: {"draws": 5, "candidates": 20, "per_round": [1, 2]})
    module("evomix.experiment.planning", plan=lambda **given: state.record("plan", given, plan))
    between = {"ceiling": 0.01, "floor": None}
    arm = {"title": "synthetic rows", "rows": 7, "scores": {"macro_f1": {"mean": 0.5, "sd": 0.1}}}
    bare = {"title": "guess", "rows": 8, "scores": {"accuracy": {"mean": None, "sd": None}}}
    measured = {
        "warnings": ["few rows"],
        "fidelity": {
            "floor_name": "public rows",
            "marginals": [{"way": 2, "mean": 0.1234, **between}],
            "association": {"difference": 0.5, **between},
        },
        "downstream": {"target": "y", "test_rows": 30, "arms": [arm, bare]},
    }
    module(
        "evomix.experiment.demo",
        run_demo=lambda out, *, progress: state.record("demo", out, {"out": str(out), "quality": measured}),
    )
    module(
        "evomix.experiment.evaluating",
        evaluate_files=lambda *files, **given: state.record("evaluate", (files, given), measured),
    )
    return state
