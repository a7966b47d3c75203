from dataclasses import replace

import pytest
from experiment_tables import file_spec, people

from evomix.core.errors import EnvironmentFailure, SpecError
from evomix.experiment.run import dry_run, synthesize_to_file
from evomix.formats.table import write_table
from evomix.privacy import Ledger
from evomix.privacy.budget import Budget


@pytest.fixture
def spec(tmp_path):
    return file_spec(tmp_path, epsilon=2.0, rounds=1)


def _refusals(spec):
    return [warning for warning in dry_run(spec)["warnings"] if "would refuse" in warning]


def test_what_the_ledger_would_refuse_is_a_warning_and_then_refused(spec):
    name = str(spec.private.resolve())
    Ledger().grant(name, Budget(3.0, 1e-5))
    assert _refusals(spec) == []
    Ledger().open_run("r1", name, Budget(2.0, 1e-6), fingerprint=None, spec_digest="d")
    (warning,) = _refusals(spec)
    assert "asked epsilon=2.0 delta=1e-06, spent epsilon=2.0 delta=1e-06, granted epsilon=3.0" in warning
    assert "left epsilon=1.0 delta=9e-06" in warning
    with pytest.raises(Exception) as refused:
        synthesize_to_file(spec)
    assert warning == f"the ledger would refuse this run: {refused.value}"
    assert Ledger().balance(name).runs == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"budget": "9:1e-5"}, "already has (epsilon=3.0"),
        ({"unit": "age"}, "protects what the charges"),
        ({"dataset": "other", "budget": "1:1e-5"}, "'other' does not cover this run"),
    ],
)
def test_another_budget_another_unit_and_a_first_budget_too_small_are_foreseen(spec, change, said):
    name = str(spec.private.resolve())
    Ledger().open_run("r1", name, Budget(0.5, 1e-6), fingerprint=None, spec_digest="d", grant=Budget(3.0, 1e-5))
    (warning,) = _refusals(replace(spec, **change))
    assert said in warning
    assert Ledger().balance("other").granted is None


@pytest.mark.parametrize("change", [{"resume": True}, {"private": people(60), "out": None}])
def test_nothing_is_foreseen_of_a_run_that_is_charged_or_whose_name_rests_on_its_cells(spec, tmp_path, change):
    Ledger().grant(str(spec.private.resolve()), Budget(1.0, 1e-5))
    assert len(_refusals(spec)) == 1
    before = {path.name for path in tmp_path.iterdir()}
    assert _refusals(replace(spec, **change)) == []
    assert {path.name for path in tmp_path.iterdir()} == before


def test_a_large_total_of_several_runs_is_foreseen_and_told(spec):
    name = str(spec.private.resolve())

    def totals(warnings):
        return [warning for warning in warnings if "data set's total is epsilon=" in warning]

    Ledger().open_run("r1", name, Budget(6.0, 1e-6), fingerprint=None, spec_digest="d")
    assert totals(dry_run(spec)["warnings"]) == []
    Ledger().open_run("r2", name, Budget(2.1234567, 1e-6), fingerprint=None, spec_digest="d")
    (foreseen,) = totals(dry_run(spec)["warnings"])
    assert "total is epsilon=10.13:" in foreseen  # rounded up
    assert "--budget" in foreseen
    made = synthesize_to_file(spec)
    assert totals(made.warnings) == [foreseen]
    assert "10.13" not in (made.run_dir / "report.html").read_text()
    Ledger().grant(name, Budget(30.0, 1e-4))
    (limited,) = totals(dry_run(spec)["warnings"])
    assert "--budget" not in limited


def test_a_run_of_nearly_nothing_but_noise_is_told_before_it_is_charged(tmp_path):
    noisy = file_spec(tmp_path, epsilon=0.1, draws=100_000)
    told = []

    def warned(sentence):
        told.append(sentence)
        assert Ledger().datasets() == ()

    made = synthesize_to_file(noisy, warned=warned)
    (said,) = [one for one in told if one.startswith("nearly everything that is released is noise")]
    assert said in made.warnings
    assert said in dry_run(replace(noisy, overwrite=True))["warnings"]
    assert "early everything that is released is noise" in (made.run_dir / "report.html").read_text()


def test_a_dry_run_of_pubmix_knows_the_noise_that_the_public_votes_need(tmp_path):
    write_table(people(200, seed=4), tmp_path / "public.csv")
    spec = file_spec(tmp_path, public=tmp_path / "public.csv", mechanism="pubmix", proximity=0.1, seed=1, draws=300)
    foreseen, made = dry_run(spec), synthesize_to_file(spec).plan
    for name in ("mixing_weight", "floor", "signal", "per_round"):
        assert foreseen[name] == made[name]
    assert made["signal"] == made["draws"][-1] * (1 - made["mixing_weight"]) ** 2


def test_shrinkage_with_nothing_to_lean_on_is_refused(spec):
    with pytest.raises(SpecError, match="denoising='shrunk' has no effect without public rows"):
        dry_run(replace(spec, denoising="shrunk", mechanism="gaussian"))
    dry_run(replace(spec, denoising="shrunk"))  # draws lean on the noise distribution


def test_a_ledger_that_cannot_be_read_stops_a_dry_run_as_it_stops_a_run(spec, tmp_path):
    (tmp_path / "broken").write_bytes(b"no ledger at all" * 100)
    with pytest.raises(EnvironmentFailure):
        dry_run(replace(spec, ledger=tmp_path / "broken"))


@pytest.mark.parametrize("change", ["suffix", "place", "folder", "file", "private"])
def test_places_are_refused_as_by_a_run_and_nothing_is_made(spec, tmp_path, change):
    (tmp_path / "file").write_text("")
    wrong = {
        "suffix": {"out": tmp_path / "made.xlsx"},
        "place": {"out": tmp_path / "absent" / "made.csv"},
        "folder": {"run_dir": tmp_path / "absent" / "run"},
        "file": {"run_dir": tmp_path / "file"},
        "private": {"out": spec.private},
    }[change]
    with pytest.raises(SpecError) as foreseen:
        dry_run(replace(spec, **wrong))
    with pytest.raises(SpecError) as refused:
        synthesize_to_file(replace(spec, **wrong))
    assert str(foreseen.value) == str(refused.value)


def test_a_dry_run_touches_no_folder(spec, tmp_path):
    made = tmp_path / "made.run"
    made.mkdir()
    times = [folder.stat().st_mtime_ns for folder in (tmp_path, made)]
    dry_run(spec)
    assert [folder.stat().st_mtime_ns for folder in (tmp_path, made)] == times
