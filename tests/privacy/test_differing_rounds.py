"""Runs whose rounds differ: killed and resumed, tampered with, and asked for more than they were charged for.

Proof: docs/proofs/composition.md.
"""

import importlib
import json
import shutil
from dataclasses import replace

import pytest
from house import KILLED, ROUNDS, House

import evomix
from evomix.core.errors import BudgetExceeded, PrivacyError
from evomix.evolution.state import load_state
from evomix.privacy.composition import composed_delta
from evomix.privacy.mechanisms.allowance import Allowance
from evomix.privacy.mechanisms.schedule import Schedule
from evomix.privacy.renyi import renyi_budget, renyi_divergence
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound

EPSILON, UNITS = 0.6, 300
MIXED = {"mechanism": "linmix,gaussian,pubmix,laplace,linmix,linmix", "candidates": "20,20,40,30,12,30"}
KINDS = {
    "pld": MIXED,
    "renyi": MIXED | {"accounting": "renyi"},
    "draws": {"mechanism": "linmix,pubmix,pubmix,linmix,linmix,linmix", "candidates": "20,20,40,30,12,30"}
    | {"accounting": "draws"},
}
POINTS = {
    "first round begun": ("evomix.privacy.ledger:Ledger.begin_round", "after", 1),
    "fourth round released": ("evomix.curator.curator:Curator.release", "after", 4),
    "third round saved": ("evomix.evolution.loop:save_state", "after", 3),
}


@pytest.fixture(scope="module")
def interrupted_kinds(tmp_path_factory, victims):
    """Return the folders of two runs that were killed after two rounds."""
    folders = {}
    for kind in ("pld", "renyi"):
        house = House(tmp_path_factory.mktemp(kind), victims)
        house.interrupt(**KINDS[kind])
        folders[kind] = house.folder
    return folders


@pytest.fixture
def interrupted_run(tmp_path, victims, interrupted_kinds):
    """Return a function that gives a house of its own with such a run."""

    def make(kind):
        shutil.copytree(interrupted_kinds[kind], tmp_path / kind)
        return House(tmp_path / kind, victims)

    return make


def _round(release):
    """Return a release of privacy.json as it is accounted."""
    if release["mechanism"] == "gaussian":
        return GaussianRound(release["stddev"])
    if release["mechanism"] == "laplace":
        return LaplaceRound(release["scale"])
    return MixingRound(UNITS, release["mixing_weight"], release["draws"], release["floor"])


def _check_account(privacy):
    """What privacy.json says was released meets the (ε, δ) that it states, by the account that it names."""
    rounds = [_round(release) for release in privacy["releases"]]
    if privacy["accountant"] == "renyi":
        order = privacy["order"]
        budget = renyi_budget(EPSILON, privacy["delta"], order)
        for release, one in zip(privacy["releases"], rounds, strict=True):
            assert renyi_divergence(one, order) <= release["share"] * budget
        lost = ROUNDS - len(rounds)
        assert sum(renyi_divergence(one, order) for one in rounds) + lost * budget / ROUNDS <= budget * (1 + 1e-12)
    else:
        assert len(rounds) == ROUNDS
        assert composed_delta(EPSILON, rounds) <= privacy["delta"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_told_of_a_run_meets_what_it_states(house, kind):
    code, printed = house.victims.run(house.words(**KINDS[kind]))
    assert code == 0, printed
    privacy = json.loads((house.run_dir / "privacy.json").read_text())
    assert (privacy["accountant"], privacy["mechanism"]) == (kind, KINDS[kind]["mechanism"])
    assert [release["mechanism"] for release in privacy["releases"]] == KINDS[kind]["mechanism"].split(",")
    most = [int(size) for size in KINDS[kind]["candidates"].split(",")]
    assert all(release["candidates"] <= size for release, size in zip(privacy["releases"], most, strict=True))
    _check_account(privacy)
    assert f"({kind})" in printed or kind == "draws"
    report = (house.run_dir / "report.html").read_text(encoding="utf-8")
    assert "Round 1: LinMix" in report


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("kind", ["pld", "renyi"])
def test_killed_and_resumed_it_is_never_free_and_never_more_than_was_charged(house, kind, point):
    code, printed = house.victims.run(house.words(**KINDS[kind]), crash=POINTS[point])
    assert code == KILLED, printed
    house.check()
    lost = set(range(house.saved_round() + 1, house.rounds_begun()))
    privacy = house.finish(**KINDS[kind])
    assert len(lost) in {0, 1}
    assert not lost & set(house.events())
    if kind == "renyi":
        assert {release["round"] for release in privacy["releases"]} == set(range(ROUNDS)) - lost
    _check_account(privacy)


def test_an_adaptive_run_keeps_what_its_rounds_released_with_its_state(interrupted_run):
    house = interrupted_run("renyi")
    told = load_state(house.run_dir / "checkpoint").told
    assert [one["round"] for one in told] == [0, 1]
    assert [one["mechanism"] for one in told] == ["linmix", "gaussian"]
    privacy = house.finish(**KINDS["renyi"])
    assert privacy["releases"][1]["stddev"] == told[1]["stddev"]


def _releases(**changes):
    def edit(content):
        for release in content["releases"]:
            release.update({name: value for name, value in changes.items() if name in release})

    return edit


TAMPERED = {
    "less noise on votes": ("pld", _releases(stddev=0.01, scale=0.01)),
    "less noise in draws": ("pld", _releases(mixing_weight=0.0)),
    "a larger floor": ("pld", _releases(floor=0.5)),
    "fewer draws": ("pld", _releases(draws=1)),
    "a round less": ("pld", lambda content: content["releases"].pop()),
    "an exact account": ("pld", lambda content: content.update(accountant="draws")),
    "larger shares": ("renyi", lambda content: content.update(shares=[0.9] * ROUNDS)),
    "another order": ("renyi", lambda content: content.update(order=2.0 * content["order"])),
    "no account": ("renyi", lambda content: content.clear()),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_a_tampered_checkpoint_never_lowers_the_noise(interrupted_run, case):
    kind, edit = TAMPERED[case]
    house = interrupted_run(kind)
    path = house.run_dir / "checkpoint" / "run.json"
    content = json.loads(path.read_text())
    edit(content["mechanism"])
    path.write_text(json.dumps(content))
    code, printed = house.victims.run(house.words("--resume", **KINDS[kind]))
    assert code == 2, printed
    assert "specification" in printed
    assert house.rounds_begun() == 2
    assert house.spent() == EPSILON
    assert not house.out.exists()


@pytest.mark.parametrize(
    "changes", [{"mechanism": "linmix"}, {"candidates": "20,20,40,30,12,31"}, {"accounting": "pld"}]
)
def test_a_run_is_resumed_with_the_rounds_it_began_with(interrupted_run, changes):
    house = interrupted_run("renyi")
    code, printed = house.victims.run(house.words("--resume", **(KINDS["renyi"] | changes)))
    assert code == 2
    assert f"different now: {next(iter(changes))}" in printed
    assert house.rounds_begun() == 2


def _bolder(rounds):
    return tuple(one if one.noise_scale is None else replace(one, noise_scale=one.noise_scale / 2) for one in rounds)


def _sharper(mechanism):
    changes = {"mixing_weight": 0.0} if mechanism.name in ("linmix", "pubmix") else {"stddev": 0.01}
    return replace(mechanism, **changes)


BOLD = {
    "pld": ("evomix.experiment.accounts.plan_rounds", _bolder, PrivacyError),
    "renyi": ("evomix.experiment.engine.mechanism_of", _sharper, BudgetExceeded),
}


@pytest.mark.parametrize("kind", BOLD)
def test_a_schedule_with_less_noise_than_accounted_is_refused_before_a_record_votes(house, monkeypatch, kind):
    place, spoil, error = BOLD[kind]
    module, _, name = place.rpartition(".")
    real = getattr(importlib.import_module(module), name)
    monkeypatch.setattr(place, lambda *given, **settings: spoil(real(*given, **settings)))
    read = []
    monkeypatch.setattr("evomix.curator.records.PrivateRecords.read", lambda *_: read.append("records"))
    monkeypatch.setattr("evomix.curator.records.PrivateRecords.scan", lambda *_: read.append("records"))
    settings = KINDS[kind] | {"candidates": [int(size) for size in KINDS[kind]["candidates"].split(",")]}
    with pytest.raises(error):
        evomix.synthesize(house.private, public=house.public, epsilon=EPSILON, ledger=house.ledger, seed=7, **settings)
    assert read == []
    assert house.rounds_begun() == 0


def test_accounts_that_exist_are_certified_or_capped():
    """Neither can be made with more than the whole budget; what a curator is given is one of the two."""
    with pytest.raises(PrivacyError):
        Schedule("pld", (), (), EPSILON, 1e-6)
    with pytest.raises(PrivacyError):
        Allowance(EPSILON, 1e-6, units=UNITS, draws=(1, 1), shares=(0.6, 0.6), order=8.0)
