"""A run is audited from its public figures: stated claim, an easier point of its curve, and the figures themselves."""

import importlib
import json

import pytest

from evomix.core.errors import InputFileError, SpecError
from evomix.experiment.auditing import audit_mechanism, audit_run
from evomix.experiment.specimen import calibrated
from evomix.privacy.calibration import delta as mixing_delta
from evomix.privacy.calibration import mixing_weight
from evomix.privacy.gaussian_accounting import gaussian_delta, gaussian_stddev
from evomix.privacy.laplace_accounting import laplace_delta
from evomix.privacy.rounds import GaussianRound, LaplaceRound

SHARED = {"private": True, "adjacency": "replace-one", "n": 100, "epsilon": 2.0, "delta": 1e-6}
WEIGHT = mixing_weight(2.0, 1e-6, n=100, draws=40, floor=0.1)
MIXTURE = SHARED | {"mechanism": "linmix", "draws": 40, "mixing_weight": WEIGHT, "floor": 0.1, "rounds": 2}
GAUSSIAN = SHARED | {"mechanism": "gaussian", "rounds": 2, "stddev": gaussian_stddev(2.0, 1e-6, rounds=2)}


@pytest.fixture
def audited(tmp_path):
    def run(content, **options):
        (tmp_path / "privacy.json").write_text(json.dumps(content))
        return audit_run(tmp_path, **{"trials": 3000, "seed": 1} | options)

    return run


def test_a_tiny_delta_is_audited_at_an_easier_point_of_the_same_curve_too(audited):
    found = audited(MIXTURE)
    assert found["verdict"] == "consistent"
    assert found["proven_delta"] <= 1e-6
    stated, easier = found["claims"]
    assert (stated["epsilon"], stated["delta"], stated["stated"]) == (2.0, 1e-6, True)
    assert not easier["stated"]
    assert easier["delta"] in (1e-2, 1e-3, 1e-4)
    assert easier["epsilon"] < 2.0
    figures = {"mixing_weight": WEIGHT, "n": 100, "draws": 40, "floor": 0.1}
    assert mixing_delta(easier["epsilon"], **figures) <= easier["delta"]
    assert mixing_delta(easier["epsilon"] * 0.99, **figures) > easier["delta"]
    assert easier["expected"] / easier["epsilon"] > stated["expected"] / stated["epsilon"]
    assert json.loads(json.dumps(found)) == found


def test_a_delta_within_reach_needs_no_easier_point(audited):
    weight = mixing_weight(1.0, 0.01, n=100, draws=40, floor=0.1)
    found = audited(MIXTURE | {"epsilon": 1.0, "delta": 0.01, "mixing_weight": weight})
    assert [claim["delta"] for claim in found["claims"]] == [0.01]


def test_histograms_are_run_for_all_their_rounds(audited):
    found = audited(GAUSSIAN, trials=500)
    assert found["verdict"] == "consistent"
    assert found["proven_delta"] == pytest.approx(gaussian_delta(2.0, stddev=GAUSSIAN["stddev"], rounds=2))


@pytest.mark.parametrize(
    "wrong",
    [
        MIXTURE | {"mixing_weight": 0.75 * WEIGHT},
        MIXTURE | {"draws": 80},
        MIXTURE | {"floor": 0.05},
        MIXTURE | {"n": 50},
        GAUSSIAN | {"stddev": GAUSSIAN["stddev"] * 0.9},
        GAUSSIAN | {"rounds": 3},
    ],
)
def test_figures_that_do_not_give_the_stated_delta_are_a_violation(audited, wrong):
    if "mixing_weight" in wrong:
        wrong["mixing_weight"] = int(wrong["mixing_weight"] * 2**53) / 2**53
    found = audited(wrong, trials=50)
    assert not found["accounted"]
    assert found["proven_delta"] > 1e-6
    assert found["verdict"] == "VIOLATION"


def test_last_digits_accuse_nobody(audited):
    figures = {"mixing_weight": WEIGHT, "n": 100, "draws": 40, "floor": 0.1}
    proven = mixing_delta(2.0, **figures)
    assert audited(MIXTURE | {"delta": proven * (1.0 - 1e-12)}, trials=50)["accounted"]
    assert not audited(MIXTURE | {"delta": proven * (1.0 - 1e-6)}, trials=50)["accounted"]


def test_an_overstated_guarantee_is_shown_wrong_by_the_runs_themselves(audited):
    found = audited(MIXTURE | {"epsilon": 0.1, "delta": 1e-6}, trials=20_000)
    assert found["claims"][0]["refuted"]
    assert found["claims"][0]["lower_bound"] > 0.1
    assert not found["claims"][1]["refuted"]  # that point lies on the proven curve, which holds


def test_rounds_that_differ_are_audited_together(audited):
    pytest.importorskip("dp_accounting")
    releases = [
        {"mechanism": "linmix", "candidates": 10, "draws": 30, "mixing_weight": WEIGHT, "floor": 0.1},
        {"mechanism": "gaussian", "candidates": 20, "stddev": 6.0},
    ]
    mixed = SHARED | {"mechanism": "linmix,gaussian", "releases": releases, "accountant": "pld", "epsilon": 3.0}
    mixed |= {"rounds": 2}
    found = audited(mixed, trials=500)
    assert found["verdict"] == "consistent"
    assert 0.0 < found["proven_delta"] <= 1e-6
    assert found["claims"][1]["lower_bound"] <= found["claims"][1]["epsilon"]


def test_a_weight_that_cannot_be_sampled_exactly_is_refused(audited):
    with pytest.raises(InputFileError, match="no run could make"):
        audited(MIXTURE | {"mixing_weight": 1e-20})


@pytest.mark.parametrize("trials", [0, -3, 2.5, 10**9 + 1, 10**400])
def test_odd_trials_are_refused(audited, trials):
    with pytest.raises(SpecError, match="trials"):
        audited(MIXTURE, trials=trials)


def test_a_seed_repeats_a_mixture_and_another_does_not(audited):
    assert audited(MIXTURE) == audited(MIXTURE)
    assert audited(MIXTURE)["counts"] != audited(MIXTURE, seed=2)["counts"]


def test_long_trials_are_fewer_and_that_is_said(monkeypatch):
    monkeypatch.setattr(importlib.import_module("evomix.audit.audit"), "WORK", 10**6)
    found = audit_mechanism(calibrated("linmix", epsilon=1.0, n=1000, draws=500, candidates=10), seed=1)
    assert found["trials"] == 10**6 // (2 * 700)
    assert "instead of 1000000" in found["warnings"][0]
    assert audit_mechanism(calibrated("linmix", epsilon=1.0, n=9, draws=5, candidates=3), trials=50)["warnings"] == []


def test_specimens_have_the_least_noise_that_meets_the_claim():
    mixture = calibrated("linmix", epsilon=1.0, delta=0.01, n=100, draws=40, candidates=8)
    (release,) = mixture.rounds
    assert release.mixing_weight == mixing_weight(1.0, 0.01, n=100, draws=40, floor=0.125)
    (designed,) = calibrated("pubmix", epsilon=1.0, n=100, draws=40, candidates=8).rounds
    assert designed.floor == 0.0625
    assert calibrated("pubmix", epsilon=1.0, n=100, draws=40, candidates=8, floor=0.01).rounds[0].floor == 0.01
    gaussian = calibrated("gaussian", epsilon=1.0, rounds=3)
    assert gaussian.rounds == (GaussianRound(gaussian_stddev(1.0, 0.01, rounds=3)),) * 3
    given = calibrated("gaussian", stddev=4.0, delta=1e-3)
    assert gaussian_delta(given.epsilon, stddev=4.0) <= 1e-3 < gaussian_delta(given.epsilon * 0.99, stddev=4.0)
    laplace = calibrated("laplace", scale=4.0, delta=1e-3)
    assert laplace.rounds == (LaplaceRound(4.0),)
    assert laplace_delta(laplace.epsilon, scale=4.0) <= 1e-3


@pytest.mark.parametrize(
    ("mechanism", "options", "named"),
    [
        ("magic", {}, "mechanism"),
        ("linmix", {"epsilon": 1.0, "n": 10}, "draws, candidates"),
        ("linmix", {"n": 10, "draws": 5, "candidates": 3}, "epsilon"),
        ("linmix", {"epsilon": -1.0, "n": 10, "draws": 5, "candidates": 3}, "epsilon"),
        ("linmix", {"epsilon": 1.0, "n": 0, "draws": 5, "candidates": 3}, "n must"),
        ("linmix", {"epsilon": 1.0, "n": 10, "draws": -5, "candidates": 3}, "draws"),
        ("linmix", {"epsilon": 1.0, "n": 10, "draws": 5, "candidates": 0}, "candidates"),
        ("linmix", {"epsilon": 1.0, "n": 10, "draws": 5, "candidates": 3, "floor": 0.1}, "floor=0.1 has no effect"),
        ("linmix", {"epsilon": 1.0, "n": 10, "draws": 5, "candidates": 3, "rounds": 2}, "rounds=2 has no effect"),
        ("linmix", {"epsilon": 1.0, "n": 10, "draws": 5, "candidates": 3, "stddev": 2.0}, "stddev=2.0 has no effect"),
        ("pubmix", {"epsilon": 1.0, "n": 10, "draws": 5, "candidates": 3, "floor": 0.4}, "floor"),
        ("pubmix", {"epsilon": 1.0, "n": 10, "draws": 5, "candidates": 3, "floor": float("nan")}, "floor"),
        ("gaussian", {}, "either epsilon or stddev"),
        ("gaussian", {"epsilon": 1.0, "stddev": 2.0}, "either epsilon or stddev"),
        ("gaussian", {"epsilon": 1.0, "n": 10}, "n=10 has no effect"),
        ("gaussian", {"epsilon": 1.0, "scale": 2.0}, "scale=2.0 has no effect"),
        ("gaussian", {"epsilon": 1.0, "rounds": 0}, "rounds"),
        ("gaussian", {"stddev": -1.0}, "stddev"),
        ("laplace", {"epsilon": 1.0, "stddev": 2.0}, "stddev=2.0 has no effect"),
        ("laplace", {"scale": float("inf")}, "scale"),
        ("laplace", {"epsilon": 1.0, "delta": 0.0}, "delta"),
    ],
)
def test_specimens_of_odd_options_are_refused(mechanism, options, named):
    with pytest.raises(SpecError, match=named):
        calibrated(mechanism, **options)
