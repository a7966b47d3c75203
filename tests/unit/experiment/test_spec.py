import tomllib
from dataclasses import replace

import numpy as np
import pytest

from evomix.core.arguments import shown
from evomix.core.errors import InputFileError, SpecError
from evomix.experiment.artifacts import to_toml
from evomix.experiment.per_round import MOST_CANDIDATES, MOST_ROUNDS
from evomix.experiment.presets import PRESETS
from evomix.experiment.spec import RunSpec, load_toml

GOOD = {"private": "p.csv", "public": "q.csv", "epsilon": 1.0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0.0},
        {"epsilon": -1.0},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"epsilon": "1"},
        {"epsilon": True},
        {"delta": 0.0},
        {"delta": 1.0},
        {"delta": -1e-9},
        {"delta": "small"},
        {"rows": 0},
        {"rows": 10.0},
        {"rows": True},
        {"rounds": 0},
        {"variations": -1},
        {"candidates": 0},
        {"draws": 0},
        {"draws": 3, "rounds": 4},
        {"seed": -1},
        {"proximity": -0.1},
        {"proximity": 1.1},
        {"proximity": float("nan")},
        {"proximity": "near"},
        {"proximity": True},
        {"mechanism": "none"},
        {"mechanism": ""},
        {"mechanism": []},
        {"mechanism": 3},
        {"mechanism": "linmix,none"},
        {"mechanism": "linmix,"},
        {"mechanism": "linmix,auto"},
        {"mechanism": ["linmix", 1]},
        {"mechanism": "linmix,gaussian", "rounds": 3},
        {"mechanism": "linmix,gaussian", "candidates": [10, 20, 30]},
        {"candidates": [10, 20], "rounds": 3},
        {"candidates": []},
        {"candidates": [10, 0]},
        {"candidates": [10, True]},
        {"candidates": "10,20"},
        {"candidates": MOST_CANDIDATES + 1},
        {"candidates": [20, 10**9]},
        {"rounds": MOST_ROUNDS + 1},
        {"candidates": [20] * (MOST_ROUNDS + 1)},
        {"mechanism": ["linmix"] * (MOST_ROUNDS + 1)},
        {"rows": 10**400},
        {"draws": 10**9},
        {"variations": 10**9},
        {"draws": 1, "mechanism": "linmix,pubmix,gaussian"},
        {"draws": 1, "candidates": [10, 20]},
        {"accounting": "trust"},
        {"accounting": "draws", "mechanism": "gaussian"},
        {"accounting": "draws", "mechanism": "linmix,laplace"},
        {"selection": "best"},
        {"schedule": "linear"},
        {"preset": "best"},
        {"threshold": -1.0, "selection": "gape"},
        {"threshold": float("nan"), "selection": "gape"},
        {"threshold": float("inf"), "selection": "gape"},
        {"threshold": "2", "selection": "gape"},
        {"threshold": True, "selection": "gape"},
        {"radius": 0.0, "selection": "gape"},
        {"radius": float("inf"), "selection": "gape"},
        {"threshold": 2.0},
        {"threshold": 2.0, "selection": "projection"},
        {"radius": 2.0, "preset": "pe"},
        {"denoising": "none", "selection": "gape"},
        {"denoising": "likelihood", "preset": "pe-theory"},
        {"modality": "sound"},
        {"modality": ["table"]},
        {"preset": ["gape"]},
        {"preset": {}},
        {"preset": np.array(["gape"])},
        {"preset": 10**5000},
        {"selection": np.array(["gape"])},
        {"selection": np.array(["gape", "rank"])},
        {"selection": ["gape"], "preset": "gape"},
        {"denoising": np.array(["none"])},
        {"schedule": np.array(["constant", "linear"]), "preset": "pe-theory"},
        {"mechanism": np.array(["linmix", "gaussian"]), "preset": "gape"},
        {"accounting": np.array(["auto"])},
        {"threshold": 10**400, "selection": "gape"},
        {"threshold": 1j, "selection": "gape"},
        {"threshold": [2.0], "selection": "gape"},
        {"radius": 10**400, "selection": "gape"},
        {"radius": "2", "selection": "gape"},
        {"proximity": 10**400},
        {"proximity": np.array(["auto", "auto"])},
        {"candidates": 10**5000},
        {"out": 5},
        {"ledger": ["a"]},
        {"target": ["a"]},
        {"unit": 3},
        {"dataset": {}},
        {"budget": {}},
        {"encoding": 5},
        {"public_encoding": [1]},
        {"resume": "yes"},
        {"overwrite": 1},
    ],
    ids=shown,
)
def test_values_out_of_range_are_refused_by_name(wrong):
    with pytest.raises(SpecError, match=next(iter(wrong))):
        RunSpec.from_mapping(GOOD | wrong)


@pytest.mark.parametrize(
    "allowed",
    [
        {"epsilon": 1},
        {"epsilon": 50.0},
        {"delta": 1e-300},
        {"rows": 1},
        {"variations": 0},
        {"candidates": 1},
        {"draws": 4, "rounds": 4},
        {"seed": 0},
        {"proximity": 0},
        {"proximity": 1.0},
        {"delta": None, "rounds": None},
        {"mechanism": "linmix,gaussian", "rounds": 2, "candidates": (10, 20)},
        {"mechanism": "linmix,gaussian,gaussian", "draws": 1},
        {"candidates": (10, 20), "accounting": "draws"},
        {"accounting": "renyi"},
        {"selection": "gape", "threshold": 0.0, "radius": 1e-9},
        {"selection": "projection", "denoising": "bayes", "schedule": "multiscale"},
    ],
    ids=str,
)
def test_values_at_the_edge_are_taken(allowed):
    spec = RunSpec.from_mapping(GOOD | allowed)
    for name, value in allowed.items():
        assert getattr(spec, name) == value


@pytest.mark.parametrize(("name", "value"), [("modality", "image")])
def test_what_comes_later_says_so(name, value):
    with pytest.raises(SpecError, match="not part of this version"):
        RunSpec.from_mapping(GOOD | {name: value})


@pytest.mark.parametrize("named", ["linmix, gaussian", ["linmix", "gaussian"], ("linmix", " gaussian ")])
def test_mechanisms_of_rounds_are_kept_in_one_form(named):
    assert RunSpec.from_mapping(GOOD | {"mechanism": named}).mechanism == "linmix,gaussian"


def test_one_number_in_a_list_counts_for_all_rounds():
    assert RunSpec.from_mapping(GOOD | {"candidates": [50], "rounds": 3}).candidates == 50
    assert RunSpec.from_mapping(GOOD | {"candidates": [50, 60]}).candidates == (50, 60)


def test_whole_numbers_of_numpy_become_pythons_own():
    counts = {"rows": 7, "rounds": 2, "draws": 9, "variations": 3, "seed": 5}
    spec = RunSpec.from_mapping(GOOD | {name: np.int32(value) for name, value in counts.items()})
    assert all(type(getattr(spec, name)) is int and getattr(spec, name) == value for name, value in counts.items())
    assert RunSpec.from_mapping(GOOD | {"candidates": [np.int64(10), 20]}).candidates == (10, 20)


def test_a_contradiction_says_what_was_given():
    with pytest.raises(SpecError, match=r"found rounds=3, mechanism for 2 rounds, candidates for 4 rounds"):
        RunSpec.from_mapping(GOOD | {"rounds": 3, "mechanism": "linmix,gaussian", "candidates": [1, 2, 3, 4]})


def test_settings_of_rounds_survive_the_run_file(tmp_path):
    given = GOOD | {"mechanism": "linmix,gaussian", "candidates": [50, 60], "accounting": "renyi"}
    spec = RunSpec.from_mapping(given)
    path = tmp_path / "run.toml"
    path.write_text(to_toml(spec.public_settings()))
    assert RunSpec.from_mapping(load_toml(path)) == spec


def test_unknown_and_missing_settings_are_named():
    with pytest.raises(SpecError, match=r"epsilom.*known:.*epsilon"):
        RunSpec.from_mapping(GOOD | {"epsilom": 1.0})
    with pytest.raises(SpecError, match=r"missing.*private, epsilon"):
        RunSpec.from_mapping({})


def test_pubmix_needs_public_rows():
    with pytest.raises(SpecError, match=r"--public.*linmix"):
        RunSpec.from_mapping({"private": "p.csv", "epsilon": 1.0, "mechanism": "pubmix"})


def test_public_settings_are_those_given_and_hold_no_table(tmp_path):
    frame = {"secret": ["canary"]}
    spec = RunSpec.from_mapping({"private": frame, "epsilon": 1, "out": str(tmp_path / "o.csv"), "resume": True})
    settings = spec.public_settings()
    assert "resume" not in settings
    assert "delta" not in settings
    assert settings["out"] == str(tmp_path / "o.csv")
    assert "canary" not in str(settings)
    assert tomllib.loads(to_toml(settings)) == settings


def test_a_run_file_is_read_and_its_faults_are_named(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text('private = "p.csv"\nepsilon = 1.5\n')
    assert load_toml(path) == {"private": "p.csv", "epsilon": 1.5}
    path.write_text("epsilon = = 1")
    with pytest.raises(InputFileError, match="not a TOML file"):
        load_toml(path)
    with pytest.raises(InputFileError, match="cannot read"):
        load_toml(tmp_path / "absent.toml")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_fills_in_what_is_left_open_and_is_then_forgotten(name):
    spec = RunSpec.from_mapping(GOOD | {"preset": name})
    assert spec == RunSpec.from_mapping(GOOD | PRESETS[name])
    assert "preset" not in spec.public_settings()
    assert all(spec.public_settings()[setting] == value for setting, value in PRESETS[name].items())


def test_what_is_given_wins_over_the_preset():
    spec = RunSpec.from_mapping(
        GOOD | {"preset": "pe-theory", "mechanism": "laplace", "schedule": "geometric", "variations": 0}
    )
    assert (spec.mechanism, spec.selection, spec.schedule, spec.variations) == ("laplace", "projection", "geometric", 0)
    assert RunSpec.from_mapping(GOOD | {"preset": "pe-theory", "mechanism": "auto"}).mechanism == "gaussian"
    other = RunSpec.from_mapping(GOOD | {"preset": "pe", "selection": "gape"})
    assert (other.mechanism, other.selection, other.denoising) == ("gaussian", "gape", "auto")
    assert RunSpec.from_mapping(GOOD | {"preset": "pe", "selection": "subsample"}).denoising == "none"
    assert replace(spec, preset="gape").selection == "projection"
    with pytest.raises(SpecError, match=r"--public.*linmix"):
        RunSpec(private="p.csv", epsilon=1.0, preset="pubmix-gape")
    assert RunSpec(private="p.csv", epsilon=1.0, preset="pubmix-gape", mechanism="linmix").selection == "gape"


def test_a_preset_in_a_run_file_is_taken(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text('private = "p.csv"\nepsilon = 1.5\npreset = "gape"\nthreshold = 3\n')
    spec = RunSpec.from_mapping(load_toml(path))
    assert (spec.mechanism, spec.selection, spec.threshold) == ("gaussian", "gape", 3.0)


@pytest.mark.parametrize("line", ['preset=["gape"]', "preset={}", 'selection=["gape"]', "out=5", "budget={}"])
def test_a_run_file_with_a_value_of_another_kind_is_an_error_of_the_user(tmp_path, line):
    (tmp_path / "run.toml").write_text(f'private="p.csv"\nepsilon=1.0\n{line}\n')
    with pytest.raises(SpecError, match=line.split("=")[0]) as refused:
        RunSpec.from_mapping(load_toml(tmp_path / "run.toml"))
    assert refused.value.exit_code == 2


def test_a_number_that_python_refuses_to_read_is_an_error_of_the_file(tmp_path):
    (tmp_path / "run.toml").write_text("rows=" + "1" * 5000)
    with pytest.raises(InputFileError, match=r"run\.toml"):
        load_toml(tmp_path / "run.toml")
