import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from experiment_tables import CONSTANT, NARROW, SCHEMA, TINY, jobs, people, points, ready

from evomix.core.errors import PrivacyError, SpecError
from evomix.evolution.step import propose
from evomix.experiment.design import design, evolution_of, noise_weights, public_shares, restore
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
        chosen = noise_weights(made, len(candidates), public_shares(inputs, candidates, rng))
        if isinstance(made.mechanism, Mixture):
            made.mechanism.check_weights(chosen)
            least = Fraction(int(chosen.min()), int(chosen.sum()))
            assert len(candidates) == 1 or least >= Fraction(made.mechanism.floor)
        else:
            assert chosen is None
        # As many parents as ever, all different: the worst case for the number of candidates.
        parents = inputs.modality.generator.vary(inputs.modality.generator.random(made.evolution.size, rng), 1.0, rng)
        candidates = propose(
            parents,
            generator=inputs.modality.generator,
            scale=made.evolution.scale(index),
            variations=made.evolution.variations,
            rng=rng,
        )
        assert len(candidates) <= made.plan.candidates


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_parameters_meet_the_budget(mechanism):
    made, _ = _designed(people(400), mechanism=mechanism, public=people(900, seed=1), delta=1e-5)
    mechanism = made.mechanism
    assert (mechanism.epsilon, mechanism.delta, mechanism.units) == (1.0, 1e-5, 400)
    if isinstance(mechanism, Mixture):
        needed = mixing_weight(1.0, 1e-5, n=400, draws=mechanism.draws, floor=mechanism.floor)
        assert mechanism.mixing_weight >= needed
        assert sum(made.plan.draws) == mechanism.draws
        assert (made.plan.mixing_weight, made.plan.floor) == (mechanism.mixing_weight, mechanism.floor)
    else:
        assert mechanism.rounds == made.plan.rounds


def test_a_design_reads_public_data_only():
    public = people(500, seed=1)
    first, _ = _designed(people(400, seed=5), public=public)
    second, _ = _designed(people(400, seed=6), public=public)
    assert first.mechanism == second.mechanism
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
    near, _ = _designed(private, public=people(4000, seed=1), candidates=30, mechanism="pubmix")
    far, _ = _designed(private, public=people(60, seed=1), candidates=30, mechanism="pubmix")
    given, _ = _designed(private, public=people(60, seed=1), proximity=0.25)
    assert 0.0 < near.proximity < far.proximity <= 1.0
    assert given.proximity == 0.25


def test_defaults_follow_from_the_public_data():
    informed, _ = _designed(people(400), public=people(500, seed=1))
    blind, _ = _designed(people(400), schema=SCHEMA)
    assert (informed.plan.mechanism, informed.selection) == ("linmix", "rank")
    vouched, _ = _designed(people(400), public=people(500, seed=1), proximity=0.2)
    assert vouched.plan.mechanism == "pubmix"
    assert (blind.plan.mechanism, blind.selection) == ("linmix", "subsample")
    assert blind.plan.rounds > informed.plan.rounds
    noisy, _ = _designed(people(400), schema=SCHEMA, mechanism="gaussian")
    chosen, _ = _designed(people(400), schema=SCHEMA, mechanism="gaussian", selection="rank")
    assert (noisy.selection, chosen.selection) == ("subsample", "rank")


def test_an_empty_public_table_is_a_schema_and_no_more():
    settings = {"public": people(0), "schema": SCHEMA}
    made, _ = _designed(people(400), **settings)
    assert made.plan.mechanism == "linmix"
    with pytest.raises(SpecError, match="public table has none"):
        _designed(people(400), mechanism="pubmix", **settings)


@pytest.mark.parametrize(("candidates", "variations"), [(1, 3), (2, 3), (3, 0), (7, 3), (100, 3), (5, 99)])
def test_parents_and_variations_fill_the_candidates_and_no_more(candidates, variations):
    made = evolution_of(plan(n=500, epsilon=1.0, candidates=candidates, variations=variations))
    most = made.size * (made.variations + 1)
    assert 1 <= most <= candidates
    assert candidates - most <= made.variations


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_an_interrupted_run_gets_its_mechanism_back(mechanism):
    made, _ = _designed(people(400), mechanism=mechanism, public=people(900, seed=1))
    assert restore(made.mechanism.describe(), made.plan) == made.mechanism


@pytest.mark.parametrize("change", [{"mixing_weight": 2**-10}, {"floor": 1e-9}, {"draws": 100_000}], ids=str)
def test_a_tampered_mechanism_is_not_restored(change):
    made, _ = _designed(people(400), public=people(900, seed=1))
    with pytest.raises(PrivacyError, match="does not meet the run's budget"):
        restore(made.mechanism.describe() | change, made.plan)
