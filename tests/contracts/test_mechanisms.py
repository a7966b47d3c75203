"""Every mechanism with every selection does the main job, end to end, on a small table."""

import itertools

import numpy as np
import pandas as pd
import pytest

import evomix
from evomix.core.errors import BudgetExceeded
from evomix.core.release import Draws, NoisyVotes
from evomix.experiment.engine import run
from evomix.experiment.spec import MECHANISMS, RunSpec
from evomix.privacy import Ledger
from evomix.selection import SELECTIONS

PAIRS = list(itertools.product([name for name in MECHANISMS if name != "auto"], SELECTIONS))
SCHEMA = {
    "columns": [
        {"name": "age", "type": "integer", "min": 0, "max": 99},
        {"name": "income", "type": "number", "min": 0, "max": 100, "missing": True},
        {"name": "job", "type": "category", "values": ["baker", "nurse", "miner"]},
    ]
}


def _people(rows, *, nurses, seed):
    """Nurses are old and well paid here, all others young and poor."""
    rng = np.random.default_rng(seed)
    nurse = rng.random(rows) < nurses
    return pd.DataFrame(
        {
            "age": np.where(nurse, rng.integers(70, 90, rows), rng.integers(10, 30, rows)),
            "income": np.where(rng.random(rows) < 0.1, np.nan, np.where(nurse, 80, 10) + rng.uniform(-9, 9, rows)),
            "job": np.where(nurse, "nurse", np.where(rng.random(rows) < 0.5, "baker", "miner")),
        }
    )


def _settings(mechanism, selection, **more):
    return {
        "private": _people(1500, nurses=0.8, seed=0),
        "public": _people(300, nurses=0.3, seed=1),
        "schema": SCHEMA,
        "epsilon": 8.0,
        "mechanism": mechanism,
        "selection": selection,
        "candidates": 60,
        "rounds": 2,
        "seed": 5,
        **more,
    }


@pytest.mark.parametrize(("mechanism", "selection"), PAIRS)
def test_the_main_job(mechanism, selection):
    result = evomix.synthesize(**_settings(mechanism, selection, rows=400, dataset="people", delta=1e-5))
    table = result.table
    assert list(table.columns) == ["age", "income", "job"]
    assert len(table) == 400
    assert table["age"].between(0, 99).all()
    assert table["income"].dropna().between(0, 100).all()
    assert set(table["job"]) <= {"baker", "nurse", "miner"}
    # Learned from the private table alone: what the public one says is 0.3.
    assert 0.6 < (table["job"] == "nurse").mean() < 0.95
    # Mixed votes of PubMix vary most: 459 runs have a mean of 0.946 and a standard deviation of 0.031.
    assert (table.loc[table["job"] == "nurse", "age"] > 50).mean() > 0.77
    assert (table.loc[table["job"] != "nurse", "age"] > 50).mean() < 0.15  # by chance 0.74; found 0.05 at most
    said = {name: result.privacy[name] for name in ("private", "epsilon", "delta", "adjacency", "n", "mechanism")}
    assert said == {
        "private": True,
        "epsilon": 8.0,
        "delta": 1e-5,
        "adjacency": "replace-one",
        "n": 1500,
        "mechanism": mechanism,
    }
    assert result.privacy["selection"] == selection
    assert result.privacy["begun_rounds"] == [0, 1]


@pytest.mark.parametrize(("mechanism", "selection"), PAIRS)
def test_the_budget_is_charged_once_and_held(mechanism, selection):
    settings = _settings(mechanism, selection, dataset="people", delta=1e-5, epsilon=1.0, budget="1.5:1e-3")
    evomix.synthesize(**settings)
    with pytest.raises(BudgetExceeded):
        evomix.synthesize(**settings)
    spent = Ledger().balance("people").spent
    assert (spent.epsilon, spent.delta) == (1.0, 1e-5)


@pytest.mark.parametrize(("mechanism", "selection"), PAIRS)
@pytest.mark.parametrize("rows", [0, 1])
def test_hardly_anyone_is_no_reason_to_fail(mechanism, selection, rows):
    settings = _settings(mechanism, selection, rows=30) | {"private": _people(1500, nurses=0.8, seed=0)[:rows]}
    result = evomix.synthesize(**settings)
    assert len(result.table) == 30
    assert result.privacy["n"] == rows


@pytest.mark.parametrize(("mechanism", "selection"), PAIRS)
def test_only_a_release_leaves_and_its_kind_is_the_mechanisms(mechanism, selection):
    finished = run(RunSpec.from_mapping(_settings(mechanism, selection)), folder=None)
    release = finished.state.release
    assert type(release) is (Draws if mechanism in ("pubmix", "linmix") else NoisyVotes)
    assert release.units == 1500
    assert release.estimate().shape == (len(finished.state.candidates),)
    assert len(finished.state.candidates) <= 60
    if isinstance(release, Draws):
        assert release.draws == finished.design.plan.draws[-1]
        assert release.noise_distribution.min() >= finished.design.account.mechanisms[-1].floor


@pytest.mark.parametrize(("mechanism", "selection"), PAIRS)
def test_units_of_many_rows_count_once(mechanism, selection):
    frame = _people(1500, nurses=0.8, seed=0)
    frame["person"] = np.where(frame["job"] == "nurse", 0, np.arange(len(frame)))  # one person holds all nurse rows
    result = evomix.synthesize(**_settings(mechanism, selection, unit="person", rows=400) | {"private": frame})
    assert result.privacy["unit_column"] == "person"
    assert result.privacy["n"] == frame["person"].nunique()
    assert (result.table["job"] == "nurse").mean() < 0.25
