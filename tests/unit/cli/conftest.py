import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from evomix.cli.app import main

PRIVACY = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "adjacency": "replace-one",
    "unit": "one row",
    "mechanism": "linmix",
    "mixing_weight": 0.7712,
    "dataset": "/data/p.csv",
}
PLAN = {
    "n": 100,
    "epsilon": 2.0,
    "delta": 1e-6,
    "adjacency": "replace-one",
    "mechanism": "linmix",
    "rows": 50,
    "rounds": 3,
    "candidates": 20,
    "draws": [5, 4, 4],
    "total_draws": 13,
    "variations": 3,
    "mixing_weight": 0.6918,
    "floor": 0.05,
    "noise_scale": None,
    "signal": 59.36,
    "worst_case_tv": 0.0042,
    "warnings": ["few units"],
}


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


SELECTING = {"selection": "gape", "denoising": "signed", "schedule": "geometric", "threshold": 2.0, "radius": None}


@dataclass
class Backend:
    """Stands in for the experiment package: records what was asked, gives or raises what a test wants."""

    asked: dict[str, Any] = field(default_factory=dict)
    error: BaseException | None = None
    private: bool = True
    privacy: dict[str, Any] = field(default_factory=lambda: dict(PRIVACY))
    plan: dict[str, Any] = field(default_factory=lambda: dict(PLAN))
    charge: Any = None

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
            return SimpleNamespace(values=values, epsilon=values.get("epsilon", 1.0), ledger=None)

    outcome = SimpleNamespace(
        out=Path("s.csv"), rows=7, run_dir=Path("s.run"), warnings=("income: odd",), plan={"draws": 5}
    )

    def synthesize_to_file(spec, *, progress=None, warned=None):
        outcome.privacy = {**state.privacy, "private": state.private}
        return state.record("synth", spec.values, outcome)

    module("evomix.experiment.spec", RunSpec=RunSpec, load_toml=lambda path: {"epsilon": 3.0, "rows": 9})
    module(
        "evomix.experiment.run",
        synthesize_to_file=synthesize_to_file,
        dry_run=lambda spec: state.record("dry_run", spec.values, state.plan | SELECTING | {"ledger": "/l.sqlite"}),
    )

    def standing_charge(spec, before):
        assert before == frozenset({"earlier"})
        if isinstance(state.charge, BaseException):
            raise state.charge
        return state.charge

    module(
        "evomix.experiment.interruption",
        charged_runs=lambda spec: frozenset({"earlier"}),
        standing_charge=standing_charge,
        keeps_texts=lambda _: False,
    )
    plan = SimpleNamespace(to_dict=lambda: state.plan)
    module("evomix.experiment.planning", plan=lambda **given: state.record("plan", given, plan))
    between = {"ceiling": 0.01, "floor": None}
    arm = {"title": "synthetic rows", "rows": 7, "scores": {"macro_f1": {"mean": 0.5, "sd": 0.1}}}
    bare = {"title": "guess", "rows": 8, "scores": {"accuracy": {"mean": None, "sd": None}}}
    measured = {
        "verdict": "On 1 of 2 figures they differ.",
        "warnings": ["few rows"],
        "fidelity": {
            "floor_name": "public rows",
            "marginals": [{"way": 2, "mean": 0.1234, **between}],
            "association": {"difference": 0.5, **between},
        },
        "downstream": {"target": "y", "test_rows": 30, "arms": [arm, bare]},
    }
    shown = {
        "synthetic table": "s.csv",
        "privacy report": "r.html",
        "evaluation": "e.html",
        "rows": 7,
        "guarantee": {**{name: PRIVACY[name] for name in ("epsilon", "delta", "adjacency", "unit")}, "n": 9},
        "mechanism": {"mechanism": "linmix", "mixing_weight": 0.777, "draws": 40},
        "quality": measured,
    }
    module("evomix.experiment.demo", run_demo=lambda out, *, progress: state.record("demo", out, shown))
    module(
        "evomix.experiment.evaluating",
        evaluate_files=lambda *files, **given: state.record("evaluate", (files, given), measured),
    )
    return state
