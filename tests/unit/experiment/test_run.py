import json
from dataclasses import replace

import pytest
from experiment_tables import SCHEMA, people

import evomix
from evomix.core.errors import BudgetExceeded, EvomixError, SpecError
from evomix.experiment.run import dry_run, synthesize_to_file
from evomix.experiment.spec import RunSpec, load_toml
from evomix.formats.table import read_table, write_table
from evomix.privacy import Ledger


@pytest.fixture
def spec(tmp_path):
    write_table(people(300), tmp_path / "private.csv")
    write_table(people(300, seed=1), tmp_path / "public.csv")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    return RunSpec(
        private=tmp_path / "private.csv",
        public=tmp_path / "public.csv",
        schema=tmp_path / "schema.json",
        epsilon=1.0,
        out=tmp_path / "made.csv",
        rows=40,
        candidates=30,
        dataset="people",
    )


@pytest.mark.parametrize("mechanism", ["pubmix", "linmix", "gaussian", "laplace"])
def test_what_a_run_writes_down_runs_again(spec, mechanism):
    first = synthesize_to_file(replace(spec, mechanism=mechanism))
    again = RunSpec.from_mapping(load_toml(first.run_dir / "spec.toml"))
    second = synthesize_to_file(replace(again, out=spec.out.with_name("again.csv"), run_dir=None))
    assert second.plan == first.plan
    differing = ("run_id", "charges")
    assert {k: v for k, v in second.privacy.items() if k not in differing} == {
        k: v for k, v in first.privacy.items() if k not in differing
    }


def test_a_run_leaves_its_table_and_its_folder(spec, tmp_path):
    stages = []
    outcome = synthesize_to_file(spec, progress=lambda stage, done, total: stages.append((stage, done, total)))
    assert read_table(outcome.out).num_rows == 40
    assert {path.name for path in outcome.run_dir.iterdir()} == {
        "privacy.json",
        "spec.toml",
        "report.html",
        "events.jsonl",
        "checkpoint",
    }
    assert json.loads((outcome.run_dir / "privacy.json").read_text()) == outcome.privacy
    assert stages[-1] == ("writing", 1, 1)
    assert all(0 <= done <= total for _, done, total in stages)
    known = {"private.csv", "public.csv", "schema.json", "made.csv", "made.run", "ledger"}
    assert {path.name for path in tmp_path.iterdir()} == known


def test_a_report_tells_the_rounds_of_its_own_run_wherever_it_is_written(spec, tmp_path):
    other = synthesize_to_file(replace(spec, rounds=7, draws=70))
    settings = {"private": people(300), "schema": SCHEMA, "epsilon": 1.0, "rows": 9}
    in_memory = evomix.synthesize(**settings).report(other.run_dir / "mine.html").read_text(encoding="utf-8")
    assert "Releases, round by round" not in in_memory
    assert "interrupted" not in in_memory
    kept = evomix.synthesize(**settings, rounds=2, run_dir=tmp_path / "kept").report(other.run_dir / "mine.html")
    text = kept.read_text(encoding="utf-8")
    assert "Releases, round by round" in text
    assert "<td>2</td>" in text
    assert "<td>3</td>" not in text


def test_a_plan_charges_and_writes_nothing(spec, tmp_path):
    before = {path.name for path in tmp_path.iterdir()}
    shown = dry_run(replace(spec, mechanism="gaussian"))
    assert shown["n"] == 300
    shown = dry_run(replace(spec, preset="gape"))
    assert [shown[name] for name in ("selection", "denoising", "threshold", "radius")] == ["gape", "signed", 2.0, None]
    assert {path.name for path in tmp_path.iterdir()} == before
    assert Ledger().datasets() == ()


def test_the_plan_is_what_then_happens(spec):
    shown, made = dry_run(replace(spec, mechanism="linmix")), synthesize_to_file(replace(spec, mechanism="linmix"))
    same = ("n", "epsilon", "delta", "mechanism", "rounds", "candidates", "draws", "mixing_weight", "floor", "signal")
    assert {name: shown[name] for name in same} == {name: made.plan[name] for name in same}


@pytest.mark.parametrize("change", ["private", "folder", "suffix", "place"])
def test_what_cannot_be_written_is_refused_before_anything_is_charged(spec, tmp_path, change):
    (tmp_path / "file").write_text("")
    wrong = {
        "private": {"out": tmp_path / "private.csv"},
        "folder": {"run_dir": tmp_path / "file"},
        "suffix": {"out": tmp_path / "made.xlsx"},
        "place": {"out": tmp_path / "absent" / "made.csv"},
    }[change]
    with pytest.raises(EvomixError) as caught:
        synthesize_to_file(replace(spec, **wrong))
    assert caught.value.exit_code in {2, 4}
    assert Ledger().datasets() == ()
    assert (tmp_path / "private.csv").read_text().startswith("age,")


def test_a_refused_run_leaves_nothing_behind(spec, tmp_path):
    before = {path.name for path in tmp_path.iterdir()} | {"ledger"}
    with pytest.raises(BudgetExceeded):
        synthesize_to_file(replace(spec, budget="0.5:1e-3"))
    assert {path.name for path in tmp_path.iterdir()} == before


def test_an_interrupted_run_in_the_same_folder_is_told(spec):
    first = synthesize_to_file(spec)
    (first.run_dir / "privacy.json").unlink()
    with pytest.raises(SpecError, match=r"interrupted run.*--resume.*--overwrite"):
        synthesize_to_file(spec)
    anew = replace(spec, overwrite=True)
    second = synthesize_to_file(anew)
    assert any("interrupted run" in warning for warning in second.warnings)
    assert not any("interrupted run" in warning for warning in synthesize_to_file(anew).warnings)
    assert Ledger().balance("people").runs == 3


def test_what_was_paid_for_is_not_written_over_unasked(spec, tmp_path):
    made = synthesize_to_file(spec)
    table = made.out.read_bytes()
    with pytest.raises(SpecError, match=r"finished run.*--overwrite"):
        synthesize_to_file(spec)
    with pytest.raises(SpecError, match=r"there already.*--overwrite"):
        synthesize_to_file(replace(spec, run_dir=tmp_path / "another.run"))
    assert made.out.read_bytes() == table
    assert Ledger().balance("people").runs == 1
    assert synthesize_to_file(replace(spec, overwrite=True)).rows == made.rows
