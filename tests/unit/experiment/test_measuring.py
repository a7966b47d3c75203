"""The paid measurement: charged like a run, refused like a run, and silent about everything but its one number."""

import json

import numpy as np
import pyarrow as pa
import pytest
from experiment_tables import SCHEMA, TINY, jobs, people

from evomix.core.errors import BudgetExceeded, PrivateRecordsFailure, SchemaError, SpecError
from evomix.curator.records import PrivateRecords
from evomix.experiment.measuring import measure_public
from evomix.formats.table import write_table
from evomix.privacy.ledger import Budget, Ledger

PUBLIC = jobs(90)
NEAR, FAR = jobs(300), jobs(300, values=("c",))


def _measured(private, public=PUBLIC, **settings):
    given = {"epsilon_test": 0.5, "schema": TINY, "dataset": "clinic", "candidates": 3} | settings
    return measure_public(private, public, **given)


def test_near_and_far_tables_are_told_apart_and_the_interval_holds_the_truth():
    near, far = _measured(NEAR)["measured"], _measured(FAR)["measured"]
    # Noise of scale 1/(0.5·300): beyond 0.1 once in three million.
    assert near["distance"] < 0.1
    assert abs(far["distance"] - 2 / 3) < 0.1
    for one in (near, far):
        low, high = one["interval"]
        assert 0.0 <= low <= one["distance"] <= high <= 1.0
        assert high - low <= 2 * np.log(20) / 150 + 1e-6
        assert one["proximity"] == high


def test_it_says_what_it_cost_and_what_it_rests_on():
    found = _measured(NEAR)
    told = found["measured"]
    assert (told["epsilon"], told["delta"], told["adjacency"], told["unit"]) == (0.5, 0.0, "replace-one", "one row")
    assert (told["n"], told["mechanism"], told["scale"], told["sensitivity"]) == (300, "distance", 2.0, 1)
    assert told["private"] is True
    assert told["charges"] == [{"run_id": told["run_id"], "epsilon": 0.5, "delta": 0.0}]
    assert told["judged"]["better"] in ("pubmix", "linmix")
    json.dumps(found)


def test_the_charge_is_in_the_ledger_with_its_one_release_and_closed():
    told = _measured(NEAR)["measured"]
    (entry,) = Ledger().entries("clinic")
    assert (entry.run_id, entry.budget, entry.rounds_begun) == (told["run_id"], Budget(0.5, 0.0), 1)
    with pytest.raises(Exception, match="finished"):
        Ledger().begin_round(told["run_id"], 1)


def test_measurements_and_runs_add_up_to_one_budget():
    _measured(NEAR, budget="1.2:1e-6")
    _measured(NEAR, epsilon_test=0.7)
    assert Ledger().balance("clinic").left == Budget(0.0, 1e-6)
    with pytest.raises(BudgetExceeded, match="does not cover"):
        _measured(NEAR, epsilon_test=0.01)
    assert Ledger().balance("clinic").runs == 2


def test_another_unit_is_not_added():
    rows = NEAR.append_column("person", pa.array(np.arange(300) // 3))
    _measured(rows, unit="person", budget="2:1e-6")
    with pytest.raises(SpecError, match="protects"):
        _measured(NEAR)


def test_people_are_the_units_where_they_are_named():
    rows = FAR.append_column("person", pa.array(np.arange(300) // 3))
    told = _measured(rows, unit="person")["measured"]
    assert (told["n"], told["unit"], told["unit_column"]) == (100, "all rows with one value of 'person'", "person")


def test_what_is_refused_is_refused_before_the_charge(tmp_path):
    write_table(NEAR, tmp_path / "private.csv")
    refused = [
        (SpecError, {"public": None}),
        (SpecError, {"public": NEAR}),
        (SpecError, {"public": [PUBLIC, jobs(90)]}),
        (SpecError, {"epsilon_test": 0.0}),
        (SpecError, {"epsilon_test": 1e-12}),
        (SpecError, {"candidates": 0}),
        (SpecError, {"candidates": None}),
        (SpecError, {"histogram_out": tmp_path / "shares.csv"}),
        (SpecError, {"histogram_out": tmp_path / "missing" / "shares.json"}),
        (SpecError, {"delta": 1e-6}),
        (SpecError, {"private": jobs(0)}),
        (SchemaError, {"public": people(50, seed=1)}),
        (SchemaError, {"private": people(50)}),
        (SchemaError, {"public": jobs(0)}),
        (SpecError, {"budget": "1"}),
    ]
    for error, change in refused:
        settings = {"private": NEAR} | change
        with pytest.raises(error):
            _measured(settings.pop("private"), **settings)
    assert Ledger().datasets() == ()


def test_a_distance_without_a_number_of_candidates_is_refused_with_the_reason():
    with pytest.raises(SpecError, match="a distance grows with their number"):
        _measured(NEAR, candidates=None)
    assert _measured(NEAR, candidates=None, epsilon=1.0)["measured"]["candidates"] == 3
    assert Ledger().balance("clinic").runs == 1


def test_the_public_shares_are_written_before_anything_is_charged(tmp_path, monkeypatch):
    def refusing(self, *arguments, **settings):
        raise BudgetExceeded("no")

    monkeypatch.setattr(Ledger, "open_run", refusing)
    with pytest.raises(BudgetExceeded):
        _measured(NEAR, histogram_out=tmp_path / "shares.json")
    assert json.loads((tmp_path / "shares.json").read_text()) == pytest.approx([1 / 3] * 3)


def test_a_failure_after_the_charge_stays_charged_and_tells_nothing(monkeypatch):
    def failing(self):
        raise ValueError("a cell: kanarie")

    monkeypatch.setattr(PrivateRecords, "scan", failing)
    with pytest.raises(PrivateRecordsFailure) as failure:
        _measured(NEAR)
    assert "kanarie" not in str(failure.value)
    assert failure.value.__context__ is None
    (entry,) = Ledger().entries("clinic")
    assert (entry.budget, entry.rounds_begun) == (Budget(0.5, 0.0), 1)


def test_a_later_runs_noise_is_judged_at_the_measured_distance():
    public = [people(900, seed=1), people(900, seed=2)]
    found = measure_public(people(400), public, schema=SCHEMA, epsilon_test=2.0, epsilon=1.0, candidates=50)
    told = found["measured"]["judged"]
    assert (told["n"], told["epsilon"]) == (400, 1.0)
    assert f"γ = {found['measured']['proximity']:.3g}" in told["verdict"]
    assert found["n"] == 400


def test_the_sampling_part_is_what_two_samples_of_the_public_law_show():
    told = measure_public(people(400), people(900, seed=1), schema=SCHEMA, epsilon_test=50.0, candidates=200)[
        "measured"
    ]
    near = told["sampling"]
    assert told["distance"] == pytest.approx(near, rel=0.3)  # private and public people are of one law here
    assert near > 0.1
