"""Runs that protect a row and runs that protect a person are never added up: one data set has one unit.

Proof: docs/proofs/ledger.md.
"""

import json

import pyarrow as pa
import pyarrow.csv as arrow_csv

from evomix.privacy.ledger import Budget, Ledger


def _run(house, name, *more, **changes):
    code, printed = house.victims.run(house.words(*more, out=house.folder / f"{name}.csv", rounds=2, **changes))
    privacy = house.folder / f"{name}.run" / "privacy.json"
    return code, printed, json.loads(privacy.read_text()) if privacy.exists() else None


def _show(house, *more):
    code, printed = house.victims.run(["ledger", "show", "--ledger", house.ledger, *more])
    assert code == 0
    return printed


def test_a_run_for_another_unit_is_refused_before_it_is_charged(house):
    code, _, rows = _run(house, "rows", dataset="people")
    assert code == 0
    Ledger(house.ledger).grant("people", Budget(50.0, 1e-2))
    table = arrow_csv.read_csv(house.private)
    house.private = house.folder / "private by person.csv"
    persons = [f"P{row // 3}" for row in range(table.num_rows)]
    arrow_csv.write_csv(table.append_column("person", pa.array(persons)), house.private)

    code, printed, nothing = _run(house, "refused", dataset="people", unit="person")
    assert (code, nothing) == (2, None)
    assert not (house.folder / "refused.csv").exists()
    for part in ("one row (replace-one)", "all rows with one value of 'person' (replace-one)", "evomix ledger reset"):
        assert part in printed
    assert Ledger(house.ledger).balance("people").runs == 1

    code, _, by_person = _run(house, "by person", dataset="people by person", unit="person")
    assert code == 0
    units = [(entry.dataset, entry.unit, entry.adjacency) for entry in Ledger(house.ledger).entries()]
    told = zip(("people", "people by person"), (rows, by_person), strict=True)
    assert units == [(name, privacy["unit"], privacy["adjacency"]) for name, privacy in told]

    lines = _show(house).splitlines()
    assert "unit of people: one row (replace-one)" in lines
    assert "unit of people by person: all rows with one value of 'person' (replace-one)" in lines
    shown = json.loads(_show(house, "--json"))["datasets"]
    assert [(entry["dataset"], entry["unit"], entry["adjacency"]) for entry in shown] == units

    Ledger(house.ledger).reset("people")
    assert _run(house, "after", dataset="people", unit="person")[0] == 0
