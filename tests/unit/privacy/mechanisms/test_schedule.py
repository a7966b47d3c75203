"""A schedule that exists is certified: no set of rounds that spends more than its (ε, δ) can be built.

Proofs: docs/proofs/mixing.md, docs/proofs/composition.md.
"""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import PrivacyError, SpecError
from evomix.privacy.calibration import GRID, mixing_weight
from evomix.privacy.composition import calibrate_rounds, composed_delta
from evomix.privacy.gaussian_accounting import gaussian_delta, gaussian_stddev
from evomix.privacy.mechanisms.gaussian import GaussianHistogram
from evomix.privacy.mechanisms.laplace import LaplaceHistogram
from evomix.privacy.mechanisms.linmix import linmix, uniform_mass
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.mechanisms.schedule import (
    Schedule,
    accounted_round,
    common_figures,
    release_of,
    schedule_of,
)
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound, RoundShape

EPSILON, DELTA, UNITS = 1.0, 1e-6, 2000
SHAPES = (
    RoundShape("mixing", draws=300, floor=uniform_mass(20)),
    RoundShape("mixing", draws=200, floor=uniform_mass(80)),
    RoundShape("gaussian"),
    RoundShape("laplace"),
)


def _mechanism(round_):
    if isinstance(round_, MixingRound):
        return Mixture("linmix", round_.mixing_weight, round_.floor, round_.draws, UNITS, EPSILON, DELTA)
    if isinstance(round_, GaussianRound):
        return GaussianHistogram(round_.stddev, 1, UNITS, EPSILON, DELTA)
    return LaplaceHistogram(round_.scale, 1, UNITS, EPSILON, DELTA)


@pytest.fixture(scope="module")
def differing():
    """Return a calibrated schedule whose rounds all differ."""
    rounds = calibrate_rounds(EPSILON, DELTA, SHAPES, units=UNITS, accountant="pld")
    return Schedule("pld", tuple(map(_mechanism, rounds)), tuple(shape.draws for shape in SHAPES), EPSILON, DELTA)


def _alike(name, rounds=4):
    """Return a calibrated schedule of one mechanism throughout."""
    if name == "draws":
        mixture = linmix(EPSILON, DELTA, units=UNITS, draws=100 * rounds, candidates=50)
        return Schedule("draws", (mixture,) * rounds, (100,) * rounds, EPSILON, DELTA)
    kind = GaussianHistogram if name == "gaussian" else LaplaceHistogram
    mechanism = kind.calibrate(EPSILON, DELTA, units=UNITS, rounds=rounds)
    return Schedule(name, (mechanism,) * rounds, (0,) * rounds, EPSILON, DELTA)


def _with(schedule, index, **changes):
    mechanisms = list(schedule.mechanisms)
    mechanisms[index] = replace(mechanisms[index], **changes)
    return replace(schedule, mechanisms=tuple(mechanisms))


def test_rounds_that_differ_meet_the_budget_together(differing):
    rounds = [accounted_round(*pair) for pair in zip(differing.mechanisms, differing.draws, strict=True)]
    assert [type(one) for one in rounds] == [MixingRound, MixingRound, GaussianRound, LaplaceRound]
    assert composed_delta(EPSILON, rounds) <= DELTA


@pytest.mark.parametrize("index", range(4))
def test_a_round_with_less_noise_than_was_accounted_for_is_refused(differing, index):
    name = ("mixing_weight", "mixing_weight", "stddev", "scale")[index]
    value = getattr(differing.mechanisms[index], name)
    less = int(value * 0.97 * GRID) / GRID if index < 2 else value * 0.97
    more = min(int(value * 1.03 * GRID), GRID) / GRID if index < 2 else value * 1.03
    with pytest.raises(PrivacyError, match="do not meet the run's budget"):
        _with(differing, index, **{name: less})
    _with(differing, index, **{name: more})


@pytest.mark.parametrize("index", [0, 1])
def test_a_round_with_a_smaller_floor_is_refused(differing, index):
    floor = differing.mechanisms[index].floor
    with pytest.raises(PrivacyError, match="do not meet"):
        _with(differing, index, floor=floor * 0.9)


def test_one_release_more_than_was_accounted_for_is_refused(differing):
    for index in range(4):
        mechanisms = (*differing.mechanisms, differing.mechanisms[index])
        with pytest.raises(PrivacyError, match="do not meet"):
            replace(differing, mechanisms=mechanisms, draws=(*differing.draws, differing.draws[index]))


@pytest.mark.parametrize("name", ["draws", "gaussian", "laplace"])
def test_one_mechanism_throughout_is_certified_by_its_exact_account(name):
    schedule = _alike(name)
    first = schedule.mechanisms[0]
    noise = {"draws": "mixing_weight", "gaussian": "stddev", "laplace": "scale"}[name]
    value = getattr(first, noise)
    less = int(value * 0.99 * GRID) / GRID if name == "draws" else value * 0.99
    with pytest.raises(PrivacyError, match="do not meet"):
        replace(schedule, mechanisms=(replace(first, **{noise: less}),) * 4)


@pytest.mark.parametrize("name", ["draws", "gaussian", "laplace"])
def test_one_round_too_many_is_refused_by_the_exact_accounts(name):
    schedule = _alike(name)
    first = schedule.mechanisms[0]
    wider = replace(first, **({"draws": 10**6} if name == "draws" else {"rounds": 10**6}))
    for mechanism, words in ((first, "accounted for"), (wider, "do not meet")):
        with pytest.raises(PrivacyError, match=words):
            replace(schedule, mechanisms=(mechanism,) * 5, draws=(*schedule.draws, schedule.draws[0]))


def test_draws_count_at_the_smallest_floor_of_all_rounds():
    weight = mixing_weight(EPSILON, DELTA, n=UNITS, draws=400, floor=uniform_mass(80))
    mixtures = [Mixture("linmix", weight, uniform_mass(d), 400, UNITS, EPSILON, DELTA) for d in (20, 80)]
    Schedule("draws", tuple(mixtures), (200, 200), EPSILON, DELTA)
    optimistic = mixing_weight(EPSILON, DELTA, n=UNITS, draws=400, floor=uniform_mass(20))
    with pytest.raises(PrivacyError, match="do not meet"):
        Schedule("draws", tuple(replace(m, mixing_weight=optimistic) for m in mixtures), (200, 200), EPSILON, DELTA)


WRONG = {
    "no round": ({"mechanisms": (), "draws": ()}, "for each round"),
    "draws of another number of rounds": ({"draws": (100, 100)}, "for each round"),
    "an unknown account": ({"accountant": "trust"}, "expected an account"),
    "another account": ({"accountant": "gaussian"}, "does not cover"),
    "more draws than the budget": ({"draws": (100, 100, 100, 101)}, "accounted for"),
    "negative draws": ({"draws": (100, 100, 100, -1)}, "draws -1 times"),
}


@pytest.mark.parametrize("case", WRONG)
def test_parts_that_do_not_belong_together_are_refused(case):
    changes, words = WRONG[case]
    with pytest.raises(PrivacyError, match=words):
        replace(_alike("draws"), **changes)


def _unlike(shares):
    """Return a calibrated schedule of Gaussian rounds with these shares of the inverse variance."""
    whole = gaussian_stddev(EPSILON, DELTA, adjacency="replace-one")
    mechanisms = [
        GaussianHistogram(whole / math.sqrt(share) * (1.0 + 1e-12), len(shares), UNITS, EPSILON, DELTA)
        for share in shares
    ]
    return Schedule("gaussian", tuple(mechanisms), (0,) * len(shares), EPSILON, DELTA)


@pytest.mark.parametrize("shares", [(1.0,), (0.1, 0.2, 0.7), (0.5, 0.5), (1e-6, 1.0 - 1e-6), (0.05,) * 20])
def test_gaussian_rounds_of_other_noise_share_one_exact_account(shares):
    schedule = _unlike(shares)
    spreads = [mechanism.stddev for mechanism in schedule.mechanisms]
    spent = gaussian_delta(EPSILON, stddev=spreads, adjacency="replace-one")
    assert 0.99 * DELTA <= spent <= DELTA
    told = json.loads(json.dumps(schedule.describe()))
    assert told["stddev"] == (spreads[0] if len(set(spreads)) == 1 else None)
    assert schedule_of(told["releases"], accountant="gaussian", units=UNITS, epsilon=EPSILON, delta=DELTA) == schedule


@pytest.mark.parametrize("index", range(3))
def test_gaussian_rounds_of_other_noise_are_refused_with_less_of_it(index):
    schedule = _unlike((0.1, 0.2, 0.7))
    stddev = schedule.mechanisms[index].stddev
    with pytest.raises(PrivacyError, match="do not meet the run's budget"):
        _with(schedule, index, stddev=stddev * 0.999)
    _with(schedule, index, stddev=stddev * 1.001)
    for number in (0.0, -stddev, math.nan):
        with pytest.raises((PrivacyError, SpecError)):
            _with(schedule, index, stddev=number)


def test_one_more_gaussian_round_is_refused_however_much_noise_it_has():
    schedule = _unlike((0.1, 0.2, 0.7))
    for rounds, words in ((3, "accounted for"), (4, "do not meet")):
        mechanisms = [replace(one, rounds=rounds) for one in schedule.mechanisms]
        extra = replace(mechanisms[0], stddev=1e3)
        with pytest.raises(PrivacyError, match=words):
            Schedule("gaussian", (*mechanisms, extra), (0,) * 4, EPSILON, DELTA)


def test_one_account_takes_one_noise_and_one_number_of_units():
    mixing, gaussian, laplace = _alike("draws"), _alike("gaussian"), _alike("laplace")
    with pytest.raises(PrivacyError, match="several"):
        _with(mixing, 3, mixing_weight=1.0)
    with pytest.raises(PrivacyError, match="several"):
        _with(laplace, 3, scale=2.0 * laplace.mechanisms[0].scale)
    for schedule in (mixing, gaussian, laplace):
        with pytest.raises(PrivacyError, match="one number of units"):
            _with(schedule, 3, units=UNITS + 1)
    with pytest.raises(PrivacyError, match="does not cover"):
        replace(mixing, mechanisms=(*mixing.mechanisms[:3], gaussian.mechanisms[0]), draws=(100, 100, 100, 0))


def test_a_histogram_cannot_draw(differing):
    with pytest.raises(PrivacyError, match="draws 1 times"):
        replace(differing, draws=(*differing.draws[:2], 1, 0))


def test_what_is_no_number_certifies_nothing():
    with pytest.raises(PrivacyError):
        replace(_alike("gaussian"), delta=float("nan"))


def test_a_figure_is_told_for_the_run_where_all_rounds_share_it(differing):
    told = _alike("draws").describe()
    assert (told["draws"], told["accountant"]) == (400, "draws")
    assert told["mixing_weight"] == _alike("draws").mechanisms[0].mixing_weight
    told = differing.describe()
    assert told["draws"] == 500
    assert {told[name] for name in ("mixing_weight", "floor", "stddev", "scale", "noise_multiplier")} == {None}
    assert told["accountant"] == "pld"
    assert [sorted(release) for release in told["releases"]] == [
        ["draws", "floor", "mechanism", "mixing_weight"],
        ["draws", "floor", "mechanism", "mixing_weight"],
        ["mechanism", "stddev"],
        ["mechanism", "scale"],
    ]
    assert common_figures([]) == {}


@pytest.mark.parametrize("name", ["draws", "gaussian", "laplace", "pld"])
def test_a_schedule_comes_back_from_what_it_tells(differing, name):
    schedule = differing if name == "pld" else _alike(name)
    told = json.loads(json.dumps(schedule.describe()))
    found = schedule_of(told["releases"], accountant=told["accountant"], units=UNITS, epsilon=EPSILON, delta=DELTA)
    assert found == schedule


@settings(max_examples=25)
@given(st.integers(0, 3), st.floats(0.5, 0.98))
def test_a_tampered_description_never_gives_less_noise(differing, index, factor):
    releases = [dict(release) for release in differing.describe()["releases"]]
    name = next(name for name in ("mixing_weight", "stddev", "scale") if name in releases[index])
    releases[index][name] = int(releases[index][name] * factor * GRID) / GRID
    with pytest.raises(PrivacyError, match="do not meet"):
        schedule_of(releases, accountant="pld", units=UNITS, epsilon=EPSILON, delta=DELTA)


def test_an_empty_table_is_accounted_as_one_unit():
    mixture = linmix(EPSILON, DELTA, units=0, draws=50, candidates=4)
    assert accounted_round(mixture, 50).units == 1
    assert Schedule("draws", (mixture,), (50,), EPSILON, DELTA).units == 0


def test_the_parameters_of_a_release_are_those_of_its_mechanism():
    assert release_of(Mixture("pubmix", 0.5, 0.125, 9, 3, 1.0, 1e-6), 7) == {
        "mechanism": "pubmix",
        "draws": 7,
        "mixing_weight": 0.5,
        "floor": 0.125,
    }
    assert accounted_round(Mixture("pubmix", 0.5, 0.125, 9, 3, 1.0, 1e-6), 7) == MixingRound(3, 0.5, 7, 0.125)
    assert accounted_round(LaplaceHistogram(2.0, 1, 3, 1.0, 1e-6), 0) == LaplaceRound(2.0)
