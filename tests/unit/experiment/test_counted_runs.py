"""A run of counts says what it released, is audited as that, and works for any table and any budget."""

import json
import tomllib
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from experiment_tables import SCHEMA, counted_spec, people

from evomix.core.errors import SchemaError, SpecError
from evomix.experiment.auditing import audit_run
from evomix.experiment.design import make_plan
from evomix.experiment.inputs import open_inputs
from evomix.experiment.run import synthesize_to_file
from evomix.experiment.spec import RunSpec
from evomix.formats.table import read_table, write_table
from evomix.privacy import Ledger
from evomix.privacy.gaussian_accounting import gaussian_delta
from evomix.privacy.mechanisms.gaussian import spread_over


def test_an_undisturbed_run_says_what_it_released(tmp_path):
    spec = counted_spec(tmp_path)
    made = synthesize_to_file(spec)
    assert read_table(spec.out).num_rows == made.rows == 5
    privacy = made.privacy
    assert (privacy["method"], privacy["mechanism"], privacy["accountant"]) == ("marginals", "gaussian", "gaussian")
    assert (privacy["n"], privacy["rounds"], privacy["begun_rounds"]) == (60, 4, [0, 1, 2, 3])
    assert privacy.get("selection", "none") == "none"
    spreads = [release["stddev"] for release in privacy["releases"]]
    assert 0.999e-6 < gaussian_delta(1.0, stddev=spreads, adjacency="replace-one") <= 1e-6
    blocks = [3 + 1, 2, 1, 1]  # income is counted twice
    events = [json.loads(line) for line in (made.run_dir / "events.jsonl").read_text().splitlines()]
    assert [event["column_sets"] for event in events] == blocks
    assert [event["stddev"] for event in events] == [spread_over(*pair) for pair in zip(spreads, blocks, strict=True)]
    assert [release["column_sets"] for release in privacy["releases"]] == blocks


def test_a_run_is_repeated_from_its_settings(tmp_path):
    made = synthesize_to_file(counted_spec(tmp_path))
    settings = tomllib.loads((made.run_dir / "spec.toml").read_text())
    again = RunSpec.from_mapping(settings | {"out": tmp_path / "again.csv", "run_dir": tmp_path / "again.run"})
    assert again.method == "marginals"
    assert make_plan(again, open_inputs(again)) == make_plan(
        counted_spec(tmp_path), open_inputs(counted_spec(tmp_path))
    )
    assert synthesize_to_file(again).privacy["method"] == "marginals"


def test_a_run_is_audited_as_what_it_released(tmp_path):
    made = synthesize_to_file(counted_spec(tmp_path))
    found = audit_run(made.run_dir, trials=2000, seed=1)
    assert (found["verdict"], found["accounted"], found["faults"]) == ("consistent", True, [])
    assert 0.999e-6 < found["proven_delta"] <= 1e-6
    assert found["accountant"] == "gaussian"


def _less_noise(content):
    content["releases"][2]["stddev"] *= 0.9


def _one_stage_more(content):
    content["releases"].append(dict(content["releases"][0]))


def _other_units(content):
    content["releases"][1]["mechanism"] = "laplace"
    content["releases"][1]["scale"] = content["releases"][1].pop("stddev")


@pytest.mark.parametrize("tamper", [_less_noise, _one_stage_more, _other_units])
def test_a_record_that_claims_too_much_is_a_violation(tmp_path, tamper):
    made = synthesize_to_file(counted_spec(tmp_path))
    path = made.run_dir / "privacy.json"
    content = json.loads(path.read_text())
    tamper(content)
    path.write_text(json.dumps(content))
    found = audit_run(made.run_dir, trials=100, seed=1)
    assert found["verdict"] == "VIOLATION"
    assert not found["accounted"]


def test_people_with_several_rows_are_counted_as_one(tmp_path):
    spec = counted_spec(tmp_path, epsilon=1e4, unit="person", rows=4000)
    # Of one person all rows but one say "a", and there are so many of them that rows would outweigh people.
    jobs = ["a"] * 570 + ["b"] * 30
    persons = ["P0"] * 570 + [f"P{number}" for number in range(1, 31)]
    table = people(600).set_column(2, "job", pa.array(jobs)).append_column("person", pa.array(persons))
    write_table(table, spec.private)
    made = synthesize_to_file(spec)
    assert made.privacy["n"] == 31
    assert made.privacy["unit"] == "all rows with one value of 'person'"
    shares = np.unique(np.array(read_table(spec.out).column("job").to_pylist()), return_counts=True)
    held = dict(zip(shares[0].tolist(), (shares[1] / 4000).tolist(), strict=True))
    assert held["a"] == pytest.approx(1 / 31, abs=0.02)
    assert held["b"] == pytest.approx(30 / 31, abs=0.02)


def test_a_large_budget_gives_the_table_back(tmp_path):
    spec = counted_spec(tmp_path, epsilon=1e6, rows=3000, target=None)
    rows = people(3000)
    write_table(rows, spec.private)
    synthesize_to_file(spec)
    made = arrow_csv.read_csv(spec.out)
    for name in ("age", "job"):
        one, other = (np.array(table.column(name).to_pylist()) for table in (rows, made))
        values = sorted(set(one.tolist()) | set(other.tolist()))
        apart = [abs((one == value).mean() - (other == value).mean()) for value in values]
        assert sum(apart) / 2.0 < 0.02
    ages, incomes = (np.array(made.column(name).to_pylist(), float) for name in ("age", "income"))
    present = ~np.isnan(incomes)
    known = np.array(rows.column("income").to_pylist(), float)
    expected = np.corrcoef(np.array(rows.column("age"))[~np.isnan(known)], known[~np.isnan(known)])[0, 1]
    assert np.corrcoef(ages[present], incomes[present])[0, 1] == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("public", [None, 0, 3])
def test_tables_of_hardly_anybody(tmp_path, size, public):
    spec = counted_spec(tmp_path, delta=1e-6)
    write_table(people(size), spec.private)
    if public is not None:
        other = people(public, seed=5)
        # Two tables without rows are one table, unless their columns stand in another order.
        write_table(other.select(["job", "age", "income"]), tmp_path / "public.csv")
        spec = replace(spec, public=tmp_path / "public.csv")
    made = synthesize_to_file(spec)
    assert made.privacy["n"] == size
    assert read_table(spec.out).num_rows == 5


@pytest.mark.parametrize("epsilon", [1e-7, 1e-3, 700.0, 1e300])
@pytest.mark.parametrize("delta", [1e-320, 1e-310, 0.999])
def test_no_budget_fails_a_run(tmp_path, epsilon, delta):
    made = synthesize_to_file(counted_spec(tmp_path, epsilon=epsilon, delta=delta))
    assert (made.privacy["epsilon"], made.privacy["delta"]) == (epsilon, delta)
    assert read_table(made.out).num_rows == 5


def test_a_delta_that_no_gaussian_noise_meets_is_refused_before_it_is_charged(tmp_path):
    for method in ("marginals", "auto"):
        with pytest.raises(SpecError, match=r"none is enough for delta=5e-324.*method='votes'"):
            synthesize_to_file(counted_spec(tmp_path, delta=5e-324, method=method))
    with pytest.raises(SpecError, match="none is enough for delta=1e-323"):
        synthesize_to_file(counted_spec(tmp_path, epsilon=1e-9, delta=1e-323))
    assert Ledger().entries() == ()
    assert synthesize_to_file(counted_spec(tmp_path, delta=5e-324, method="votes")).privacy["delta"] == 5e-324


def test_a_column_that_is_not_modelled_is_no_target(tmp_path):
    spec = counted_spec(tmp_path, target="key")
    schema = {"columns": [*SCHEMA["columns"], {"name": "key", "type": "id"}]}
    spec.schema.write_text(json.dumps(schema))
    arrow_csv.write_csv(people(60).append_column("key", pa.array([str(row) for row in range(60)])), spec.private)
    with pytest.raises(SchemaError, match="target"):
        synthesize_to_file(spec)
    assert Ledger().entries() == ()


def test_rules_hold_in_counted_rows(tmp_path):
    schema = SCHEMA | {"rules": [{"ordered": ["age", "income"]}]}
    spec = counted_spec(tmp_path, rows=500)
    spec.schema.write_text(json.dumps(schema))
    made = synthesize_to_file(spec)
    ages, incomes = (arrow_csv.read_csv(made.out).column(name).to_pylist() for name in ("age", "income"))
    assert all(income is None or age <= income for age, income in zip(ages, incomes, strict=True))
