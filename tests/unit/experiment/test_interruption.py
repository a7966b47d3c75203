from dataclasses import replace

import pytest
from experiment_tables import file_spec

from evomix.experiment import engine
from evomix.experiment.interruption import Standing, charged_runs, standing_charge
from evomix.experiment.run import synthesize_to_file
from evomix.privacy.budget import Budget

CHARGED = Budget(1.0, 1e-6)


@pytest.fixture
def spec(tmp_path):
    return file_spec(tmp_path, seed=1)


def _stop(*_arguments, **_settings):
    raise KeyboardInterrupt


def _stopped(spec, monkeypatch, stage):
    """Return what stays charged when the operator stops a run as it enters a stage."""
    before = charged_runs(spec)
    with monkeypatch.context() as patched:
        patched.setattr(engine, stage, _stop)
        with pytest.raises(KeyboardInterrupt):
            synthesize_to_file(spec)
    return standing_charge(spec, before)


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize(
    ("stage", "left"),
    [
        ("open_inputs", None),
        ("_charge", None),
        ("_begin_folder", Standing(CHARGED, resumable=False)),
        ("_evolve", Standing(CHARGED, resumable=True)),
        ("privacy_record", Standing(CHARGED, resumable=True)),
    ],
)
def test_what_stays_charged_depends_on_how_far_it_came_and_not_on_earlier_runs(spec, monkeypatch, earlier, stage, left):
    if earlier:
        synthesize_to_file(spec)
    assert _stopped(replace(spec, overwrite=earlier), monkeypatch, stage) == left


def test_a_run_that_is_resumed_keeps_its_charge_under_any_name_and_can_go_on(spec, monkeypatch):
    _stopped(spec, monkeypatch, "_evolve")
    again = replace(spec, resume=True, dataset="renamed")
    assert _stopped(again, monkeypatch, "_evolve") == Standing(CHARGED, resumable=True)
    made = synthesize_to_file(again)
    assert made.rows == 5
    # What is told names the account that was charged, not the new name.
    assert made.privacy["dataset"] == str(spec.private.resolve())


def test_a_run_whose_only_round_was_interrupted_has_nothing_to_go_on_from(spec, monkeypatch):
    before = charged_runs(spec)
    with monkeypatch.context() as patched:
        patched.setattr("evomix.curator.curator.draw_voters", _stop)
        with pytest.raises(KeyboardInterrupt):
            synthesize_to_file(replace(spec, rounds=1))
    assert standing_charge(replace(spec, rounds=1), before) == Standing(CHARGED, resumable=False)


def test_without_anything_to_resume_nothing_was_charged(spec):
    assert standing_charge(replace(spec, resume=True), charged_runs(spec)) is None


def test_a_damaged_folder_offers_no_resuming(spec, monkeypatch):
    before = charged_runs(spec)
    _stopped(spec, monkeypatch, "_evolve")
    (spec.out.with_suffix(".run") / "checkpoint" / "run.json").write_text("{")
    assert standing_charge(spec, before) == Standing(CHARGED, resumable=False)
