"""A canary in every private cell appears nowhere in what a run of counts leaves or says, whatever goes wrong."""

import json

import numpy as np
import pyarrow as pa
import pytest
from planted import WORD, call, plant, private_table
from test_canary import _assert_clean, _Quoter, house

from evomix.marginals.blocks import Panel
from evomix.modalities.tabular.grid import Grid
from evomix.privacy.mechanisms.gaussian import GaussianHistogram

__all__ = ["house"]

TARGETS = (None, "region", "income")


def _synth(house, *more, suffix="csv", out="s.csv", target="region"):
    words = {
        "--public": house / f"public.{suffix}",
        "--schema": house / "schema.json",
        "--epsilon": 1,
        "--rows": 40,
        "--method": "marginals",
        "--out": out,
    } | ({} if target is None else {"--target": target})
    options = [word for pair in words.items() for word in pair]
    return call(["synth", house / f"private.{suffix}", *options, "--debug", *more])


@pytest.mark.parametrize("target", TARGETS)
def test_no_canary_in_anything_a_run_leaves(house, target):
    plant(house)
    code, printed = _synth(house, "--json", target=target)
    assert code == 0, printed
    assert '"private": true' in printed
    assert {"s.csv", "checkpoint", "privacy.json", "report.html", "events.jsonl", "spec.toml", "ledger.sqlite"} <= {
        path.name for path in (house.parent / "outside").rglob("*")
    }
    _assert_clean(house, printed)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_no_canary_of_people_with_several_rows(house, suffix):
    plant(house, suffix=suffix, unit=True)
    code, printed = _synth(house, "--unit", "person", suffix=suffix)
    assert code == 0, printed
    assert json.loads((house.parent / "outside" / "s.run" / "privacy.json").read_text())["n"] == 30
    _assert_clean(house, printed)


@pytest.mark.parametrize("epsilon", ["1e5", "1e-3"])
def test_neither_much_budget_nor_little_brings_one_out(house, epsilon):
    plant(house)
    code, printed = _synth(house, "--epsilon", epsilon)
    assert code == 0, printed
    _assert_clean(house, printed)


def test_values_within_bounds_are_not_copied_either(house):
    """A cell is a range: what lies in it is drawn from public rows, or evenly, and is no private number."""
    plant(house)
    secrets = [123.456789, 654.321987, 99.887766]
    rows = 300
    table = pa.table({name: [private_table().column(name)[1].as_py()] * rows for name in private_table().column_names})
    table = table.set_column(1, "income", pa.array([f"{secrets[row % 3]}" for row in range(rows)]))
    pa.csv.write_csv(table.drop_columns(["person"]), house / "private.csv")
    code, printed = _synth(house, "--epsilon", "1e4")
    assert code == 0, printed
    made = pa.csv.read_csv(house.parent / "outside" / "s.csv").column("income").to_pylist()
    near = [value for value in made if value is not None and any(abs(value - secret) < 2.0 for secret in secrets)]
    assert len(near) > 20  # so the counts are right
    assert set(near).isdisjoint(secrets)


PLACES = {
    "encoding": (Grid, "codes"),
    "cells": (Panel, "cells"),
    "tallying": ("evomix.curator.curator", "tally_panel"),
    "spreading": ("evomix.curator.counting", "spread"),
    "noise": (GaussianHistogram, "privatise"),
}


@pytest.mark.parametrize("kind", [ValueError, pa.ArrowInvalid, OSError, MemoryError])
@pytest.mark.parametrize("place", PLACES)
def test_a_library_that_quotes_a_cell_is_silenced(house, monkeypatch, place, kind):
    people = place == "spreading"
    plant(house, unit=people)
    owner, name = PLACES[place]
    if place == "encoding":  # it serves public rows too, first
        real, calls = Grid.codes, []

        def codes(self, records):
            calls.append(len(records))
            return real(self, records) if len(calls) < 2 else _Quoter(kind)()

        monkeypatch.setattr(Grid, "codes", codes)
    elif isinstance(owner, str):
        monkeypatch.setattr(f"{owner}.{name}", _Quoter(kind))
    else:
        monkeypatch.setattr(owner, name, _Quoter(kind))
    code, printed = _synth(house, *(("--unit", "person") if people else ()))
    assert code == 4, printed
    _assert_clean(house, printed)
    assert not (house.parent / "outside" / "s.csv").exists()


@pytest.mark.parametrize("when", ["checkpoint", "output"])
def test_a_full_disk_leaves_the_charge_and_no_cell(house, monkeypatch, when):
    plant(house)

    def full(*_arguments, **_settings):
        raise OSError(28, f"No space left on device while writing {WORD}-cell")

    place = "evomix.experiment.counting.save_counts" if when == "checkpoint" else "evomix.experiment.run.write_table"
    monkeypatch.setattr(place, full)
    code, printed = _synth(house)
    assert code == 4
    _assert_clean(house, printed)
    assert not (house.parent / "outside" / "s.csv").exists()


def test_ctrl_c_while_counting_leaves_the_charge_and_no_cell(house, monkeypatch):
    plant(house)

    def stop(*_, **__):
        raise KeyboardInterrupt(f"{WORD}-cell")

    monkeypatch.setattr("evomix.curator.curator.tally_panel", stop)
    code, printed = _synth(house)
    assert code == 130
    _assert_clean(house, printed)
    code, printed = call(["ledger", "show", "--json"])
    assert code == 0
    assert "1.0" in printed


def test_counts_in_the_checkpoint_are_noisy_ones_only(house):
    plant(house)
    assert _synth(house, "--seed", "1")[0] == 0
    with np.load(house.parent / "outside" / "s.run" / "checkpoint" / "state.npz") as saved:
        for name in (name for name in saved.files if name.startswith("votes_")):
            assert not np.array_equal(saved[name], np.rint(saved[name]))
