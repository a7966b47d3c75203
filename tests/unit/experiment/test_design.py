import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from experiment_tables import CONSTANT, NARROW, SCHEMA, TINY, jobs, people, points, ready

from evomix.core.errors import InputFileError, PrivacyError, SpecError
from evomix.evolution.step import propose
from evomix.experiment.accounts import account_of, mechanism_of, noise_weights, restored
from evomix.experiment.design import design, evolution_of, public_shares
from evomix.experiment.planning import plan
from evomix.privacy import mixing_weight
from evomix.privacy.mechanisms.mixture import Mixture

MECHANISMS = ("pubmix", "linmix", "gaussian", "laplace")


def _designed(private, **settings):
    spec, inputs = ready(private, **settings)
    return design(spec, inputs, np.random.default_rng(3)), inputs


def _tables(kind):
    """Return (private, settings) of a kind of task."""
    return {
        "schema": (people(400), {"schema": SCHEMA}),
        "public": (people(400), {"public": people(3000, seed=1)}),
        "few public rows": (people(400), {"public": people(9, seed=1), "schema": SCHEMA}),
        "one public row": (people(400), {"public": people(1, seed=1), "schema": SCHEMA}),
        "public rows all alike": (people(400), {"public": pa.concat_tables([people(1)] * 500), "schema": SCHEMA}),
        "narrow domain": (points(400, 9, 9), {"public": points(30, 0, 0), "schema": NARROW, "candidates": 95}),
        "tiny domain": (jobs(400), {"public": jobs(50), "schema": TINY}),
        "constant": (jobs(400, values=("a",)), {"public": jobs(5, values=("a",)), "schema": CONSTANT}),
        "one person": (people(1), {"public": people(300, seed=1), "schema": SCHEMA}),
        "nobody": (people(0), {"public": people(300, seed=1), "schema": SCHEMA}),
    }[kind]


KINDS = (
    "schema",
    "public",
    "few public rows",
    "one public row",
    "public rows all alike",
    "narrow domain",
    "tiny domain",
    "constant",
    "one person",
    "nobody",
)


@pytest.mark.parametrize("options", [{}, {"proximity": 1.0}, {"rounds": 3, "candidates": 50, "variations": 9}], ids=str)
@pytest.mark.parametrize(
    ("kind", "mechanism"),
    [pair for pair in itertools.product(KINDS, MECHANISMS) if pair != ("schema", "pubmix")],
)
def test_no_round_can_have_more_candidates_than_the_floor_allows(kind, mechanism, options):
    if "proximity" in options and mechanism != "pubmix":
        options = {"draws": 200} if mechanism == "linmix" else {"rounds": 2}  # a proximity would be refused
    private, settings = _tables(kind)
    made, inputs = _designed(private, mechanism=mechanism, **(settings | options))
    assert 1 <= len(made.initial) <= made.plan.candidates
    rng = np.random.default_rng(1)
    candidates = made.initial
    for index in range(made.evolution.rounds):
        _check_weights(made, index, candidates, public_shares(inputs, candidates, rng))
        # As many parents as ever, all different: the worst case for the number of candidates.
        candidates = _most_candidates(made, inputs, min(index + 1, made.evolution.rounds - 1), rng)
        assert len(candidates) <= made.plan.candidates


def _check_weights(made, index, candidates, public):
    size = len(candidates)
    mechanism = mechanism_of(made.account, made.plan, index, candidates=size, public=public, proximity=made.proximity)
    chosen = noise_weights(mechanism, size, public=public, proximity=made.proximity)
    if isinstance(mechanism, Mixture):
        mechanism.check_weights(chosen)
        least = Fraction(int(chosen.min()), int(chosen.sum()))
        assert size == 1 or least >= Fraction(mechanism.floor)
    else:
        assert chosen is None
    assert made.account.mechanism_of(index, mechanism) == mechanism
    made.account.spend(index, mechanism)


def _most_candidates(made, inputs, index, rng):
    parents = inputs.modality.generator.vary(
        inputs.modality.generator.random(made.evolution.parents(index), rng), 1.0, rng
    )
    return propose(
        parents,
        generator=inputs.modality.generator,
        scales=made.evolution.scales(index),
        rng=rng,
        keep=made.evolution.keeps_parents(index),
    )


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": "linmix,pubmix,gaussian", "candidates": (20, 60, 120)},
        {"mechanism": "pubmix", "candidates": (120, 20, 60)},
        {"mechanism": "pubmix,linmix", "candidates": (30, 90), "accounting": "draws"},
        {"mechanism": "pubmix", "candidates": (1, 40)},
        {"mechanism": "pubmix,laplace,linmix", "candidates": (20, 60, 120), "accounting": "renyi"},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["public", "few public rows", "one public row", "tiny domain", "nobody"])
def test_every_round_keeps_within_its_own_floor(kind, options):
    private, settings = _tables(kind)
    made, inputs = _designed(private, **(settings | options))
    rng = np.random.default_rng(1)
    candidates = made.initial
    for index, planned in enumerate(made.plan.per_round):
        assert len(candidates) <= planned.candidates
        _check_weights(made, index, candidates, public_shares(inputs, candidates, rng))
        candidates = _most_candidates(made, inputs, min(index + 1, made.evolution.rounds - 1), rng)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_parameters_meet_the_budget(mechanism):
    made, _ = _designed(people(400), mechanism=mechanism, public=people(900, seed=1), delta=1e-5)
    mechanism, rounds = made.account.mechanisms[0], made.plan.rounds
    assert made.account.mechanisms == (mechanism,) * rounds
    assert (made.account.epsilon, made.account.delta, made.account.units) == (1.0, 1e-5, 400)
    if isinstance(mechanism, Mixture):
        assert made.account.accountant == "draws"
        needed = mixing_weight(1.0, 1e-5, n=400, draws=mechanism.draws, floor=mechanism.floor)
        assert mechanism.mixing_weight == needed
        assert sum(made.plan.draws) == mechanism.draws
        assert (made.plan.mixing_weight, made.plan.floor) == (mechanism.mixing_weight, mechanism.floor)
    else:
        assert (made.account.accountant, mechanism.rounds) == (mechanism.name, rounds)


def test_calibrated_figures_go_back_into_the_plan():
    made, _ = _designed(
        people(400), mechanism="pubmix,gaussian", public=people(900, seed=1), candidates=(20, 60), proximity=0.2
    )
    mixture, histogram = made.account.mechanisms
    first, second = made.plan.per_round
    assert (first.mixing_weight, first.floor, first.noise_scale) == (mixture.mixing_weight, mixture.floor, None)
    assert (second.mixing_weight, second.floor, second.noise_scale) == (None, None, histogram.stddev)
    assert (made.plan.mixing_weight, made.plan.floor, made.plan.noise_scale) == (None, None, None)


def test_a_design_reads_public_data_only():
    public = people(500, seed=1)
    first, _ = _designed(people(400, seed=5), public=public)
    second, _ = _designed(people(400, seed=6), public=public)
    assert first.account == second.account
    assert first.proximity == second.proximity
    np.testing.assert_array_equal(first.initial, second.initial)


def test_first_candidates_are_public_rows_each_once():
    public = pa.concat_tables([people(900, seed=1)] * 2)
    made, inputs = _designed(people(400), public=public, candidates=300)
    assert len(made.initial) == 300
    assert len(np.unique(np.nan_to_num(made.initial, nan=-1), axis=0)) == 300
    rows = {tuple(np.nan_to_num(row, nan=-1)) for row in inputs.modality.public}
    assert all(tuple(np.nan_to_num(row, nan=-1)) in rows for row in made.initial)


def test_too_few_public_rows_are_topped_up_by_variations():
    made, _ = _designed(people(400), public=people(9, seed=1), schema=SCHEMA, candidates=200)
    assert len(made.initial) == 200


def test_the_closer_the_public_rows_the_smaller_gamma():
    private = people(400)
    settings = {"candidates": 30, "mechanism": "pubmix"}
    near, _ = _designed(private, public=people(4000, seed=1), denoising="shrunk", **settings)
    far, _ = _designed(private, public=people(60, seed=1), denoising="shrunk", **settings)
    given, _ = _designed(private, public=people(60, seed=1), proximity=0.25)
    pooled, _ = _designed(private, public=people(60, seed=1), **settings)
    alone, _ = _designed(private, public=people(60, seed=1), rounds=1, **settings)
    assert 0.0 < near.proximity < far.proximity <= 1.0
    assert (given.proximity, pooled.proximity) == (0.25, 0.9)
    assert 0.0 < alone.proximity < 0.9  # one round is not pooled


def test_defaults_follow_from_the_public_data():
    informed, _ = _designed(people(400), public=people(500, seed=1), method="votes")
    blind, _ = _designed(people(400), schema=SCHEMA, method="votes")
    shrunk, _ = _designed(people(400), public=people(500, seed=1), denoising="shrunk")
    assert (informed.plan.mechanism, informed.selection, informed.plan.variations) == ("linmix", "subsample", 1)
    assert (shrunk.plan.mechanism, shrunk.selection, shrunk.plan.variations) == ("linmix", "rank", 3)
    vouched, _ = _designed(people(400), public=people(500, seed=1), proximity=0.2, denoising="shrunk")
    assert vouched.plan.mechanism == "pubmix"
    assert (blind.plan.mechanism, blind.selection) == ("linmix", "subsample")
    assert blind.plan.rounds == informed.plan.rounds == 16 > shrunk.plan.rounds
    assert blind.evolution.pooled
    assert not shrunk.evolution.pooled
    noisy, _ = _designed(people(400), schema=SCHEMA, mechanism="gaussian")
    chosen, _ = _designed(people(400), schema=SCHEMA, mechanism="gaussian", selection="rank")
    assert (noisy.selection, chosen.selection) == ("subsample", "rank")


def test_an_empty_public_table_is_a_schema_and_no_more():
    settings = {"public": people(0), "schema": SCHEMA}
    made, _ = _designed(people(400), method="votes", **settings)
    assert made.plan.mechanism == "linmix"
    counted, _ = _designed(people(400), **settings)
    assert counted.counted.table.public is None
    with pytest.raises(SpecError, match="public table has none"):
        _designed(people(400), mechanism="pubmix", **settings)


@pytest.mark.parametrize(("candidates", "variations"), [(1, 3), (2, 3), (3, 0), (7, 3), (100, 3), (5, 99)])
def test_parents_and_variations_fill_the_candidates_and_no_more(candidates, variations):
    made = evolution_of(plan(n=500, epsilon=1.0, candidates=candidates, variations=variations))
    most = made.parents(0) * (made.variations(0) + 1)
    assert 1 <= most <= candidates
    assert candidates - most <= made.variations(0)


ACCOUNTED = [
    {"method": "marginals"},
    *({"mechanism": name} for name in MECHANISMS),
    {"mechanism": "linmix,gaussian,laplace"},
    {"mechanism": "pubmix", "candidates": (20, 60)},
    {"mechanism": "linmix", "candidates": (20, 60), "accounting": "draws"},
]


@pytest.mark.parametrize("options", ACCOUNTED, ids=str)
def test_an_interrupted_run_gets_its_mechanisms_back(options):
    made, _ = _designed(people(400), public=people(900, seed=1), **options)
    assert restored(made.account.describe(), made.plan) == made.account


def test_an_interrupted_adaptive_run_gets_its_shares_back_less_those_begun():
    made, _ = _designed(people(400), mechanism="linmix,gaussian", accounting="renyi", schema=SCHEMA)
    back = restored(made.account.describe(), made.plan, begun={0})
    assert back.describe() == made.account.describe()
    assert back._filter.spent == pytest.approx(back._filter.budget / 2)
    assert made.account._filter.spent == 0.0


def _tampered(saved, change):
    """Return saved parameters with the first release changed, or the whole."""
    if "releases" in saved and not set(change) & {"releases", "accountant"}:
        return saved | {"releases": [release | change for release in saved["releases"]]}
    return saved | change


@pytest.mark.parametrize("change", [{"mixing_weight": 2**-10}, {"floor": 1e-9}], ids=str)
def test_a_tampered_mechanism_is_not_restored(change):
    made, _ = _designed(people(400), public=people(900, seed=1), method="votes")
    with pytest.raises(PrivacyError, match="do not meet the run's budget"):
        restored(_tampered(made.account.describe(), change), made.plan)


@pytest.mark.parametrize(
    "change", [{"draws": 100_000}, {"draws": 1}, {"mixing_weight": None}, {"floor": "low"}, {"releases": []}], ids=str
)
def test_a_damaged_mechanism_is_not_restored(change):
    made, _ = _designed(people(400), public=people(900, seed=1), method="votes")
    with pytest.raises((InputFileError, PrivacyError)):
        restored(_tampered(made.account.describe(), change), made.plan)


@pytest.mark.parametrize("change", [{"stddev": 0.1}, {"mechanism": "laplace", "scale": 0.1}], ids=str)
def test_a_round_of_a_mixed_run_cannot_be_restored_with_less_noise(change):
    made, _ = _designed(people(400), mechanism="linmix,gaussian", schema=SCHEMA, candidates=30)
    saved = made.account.describe()
    saved["releases"][1] |= change
    with pytest.raises(PrivacyError, match="do not meet"):
        restored(saved, made.plan)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"shares": [0.9, 0.9]}, PrivacyError),
        ({"shares": [0.5]}, PrivacyError),
        ({"shares": None}, InputFileError),
        ({"order": 1.0}, InputFileError),
        ({"order": "high"}, InputFileError),
        ({"order": float("nan")}, InputFileError),
    ],
    ids=str,
)
def test_tampered_shares_are_not_restored(change, error):
    made, _ = _designed(people(400), mechanism="linmix,gaussian", accounting="renyi", schema=SCHEMA)
    with pytest.raises(error):
        restored(made.account.describe() | change, made.plan)


def test_a_calibration_that_is_too_bold_is_refused_before_anything_is_charged():
    """Whatever calibrates the rounds, the schedule is certified by itself."""
    made, _ = _designed(people(400), mechanism="linmix,gaussian", schema=SCHEMA, candidates=30)
    first, second = made.plan.per_round
    bold = replace(made.plan, per_round=(first, replace(second, noise_scale=second.noise_scale * 0.9)))
    account_of(made.plan)
    with pytest.raises(PrivacyError, match="do not meet"):
        account_of(bold)
