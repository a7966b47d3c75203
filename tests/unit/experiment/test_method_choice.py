"""Which way rows are found: by counts of column sets or by votes, and what each refuses."""

from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest
from experiment_tables import NARROW, SCHEMA, jobs, people, points

from evomix.core.errors import SpecError
from evomix.experiment.design import make_plan, run_method
from evomix.experiment.inputs import open_inputs
from evomix.experiment.method_choice import METHODS, OF_VOTES, method_of, told_apart
from evomix.experiment.planning import plan
from evomix.experiment.spec import RunSpec
from evomix.modalities.tabular.domain import domain_size

TINY = {"columns": [{"name": "job", "type": "category", "values": ["a", "b", "c"]}]}
VOTES = {
    "mechanism": "linmix",
    "selection": "subsample",
    "denoising": "bayes",
    "schedule": "geometric",
    "rounds": 3,
    "variations": 2,
    "candidates": 100,
    "draws": 5000,
    "proximity": 0.5,
    "preset": "pe",
}


def _spec(**settings):
    return RunSpec.from_mapping({"private": people(60), "schema": SCHEMA, "epsilon": 1.0} | settings)


def _given(setting):
    """Return a value of a setting of votes that is not its default."""
    if setting in ("threshold", "radius"):
        return {"selection": "gape", setting: 1.0}
    if setting == "accounting":
        return {"mechanism": "linmix,gaussian", "accounting": "renyi"}
    return {setting: VOTES[setting]}


def _chosen(spec, **more):
    facts = {"kind": "table", "few": False} | more
    return method_of(spec, **facts)


def test_tables_are_counted():
    assert _chosen(_spec()) == "marginals"
    assert run_method(_spec(), open_inputs(_spec())) == "marginals"


@pytest.mark.parametrize("setting", [*OF_VOTES, "mechanism", "preset"])
def test_a_setting_of_votes_asks_for_votes_and_has_no_place_beside_counts(setting):
    assert _chosen(_spec(**_given(setting))) == "votes"
    assert _chosen(_spec(**_given(setting), method="votes")) == "votes"
    with pytest.raises(SpecError, match="has no effect with method='marginals'"):
        _spec(**_given(setting), method="marginals")


def test_every_setting_of_votes_is_one_of_the_run():
    assert set(OF_VOTES) <= {knob.name for knob in fields(RunSpec)}


@pytest.mark.parametrize("setting", [{"target": "job"}, {"rows": 7}, {"seed": 3}, {"delta": 1e-9}])
def test_other_settings_leave_the_choice_alone(setting):
    assert _chosen(_spec(**setting)) == "marginals"


def test_gaussian_is_what_counts_have_but_by_itself_it_asks_for_votes():
    assert _chosen(_spec(mechanism="gaussian", method="marginals")) == "marginals"
    assert _chosen(_spec(mechanism="gaussian")) == "votes"
    with pytest.raises(SpecError, match="mechanism has no effect"):
        _spec(mechanism="laplace", method="marginals")


@pytest.mark.parametrize(
    ("method", "few", "expected"),
    [
        ("auto", True, "votes"),
        ("auto", False, "marginals"),
        ("marginals", True, "marginals"),
        ("votes", False, "votes"),
    ],
)
def test_few_possible_records_are_voted_on(method, few, expected):
    assert _chosen(_spec(method=method), few=few) == expected


@pytest.mark.parametrize("possible", [2, 100, 2048, 8000])
def test_one_round_counts_all_possible_records_where_it_can(possible):
    """8,000 is what 20,000 units tell apart at ε = 1 in one round; in the 16 rounds of before it was a twentieth."""
    assert told_apart(n=20_000, epsilon=1.0, delta=None) == 8000
    planned = plan(n=20_000, epsilon=1.0, domain_size=possible)
    assert (planned.mechanism, planned.rounds, planned.candidates) == ("gaussian", 1, possible)
    more = plan(n=20_000, epsilon=1.0, domain_size=8001)
    assert (more.mechanism, more.rounds > 1) == ("linmix", True)
    named = plan(n=20_000, epsilon=1.0, domain_size=possible, mechanism="linmix", rounds=3)
    assert (named.mechanism, named.rounds) == ("linmix", 3)


def test_a_run_counts_all_possible_records_in_one_round():
    few = _spec(private=jobs(3000), schema=TINY)
    planned = make_plan(few, open_inputs(few))
    assert (planned.mechanism, planned.rounds) == ("gaussian", 1)
    assert planned.candidates == domain_size(open_inputs(few).schema)
    rounds = _spec(private=jobs(3000), schema=TINY, rounds=2)
    planned = make_plan(rounds, open_inputs(rounds))
    assert (planned.mechanism, planned.rounds) == ("linmix", 2)


def test_the_choice_depends_on_public_facts_alone():
    few = _spec(private=jobs(3000), schema=TINY)
    assert run_method(few, open_inputs(few)) == "votes"
    assert make_plan(few, open_inputs(few)).method == "votes"
    plans = []
    for x, y in ((0, 0), (9, 3)):
        spec = _spec(private=points(50, x, y), schema=NARROW, method="marginals")
        plans.append(make_plan(spec, open_inputs(spec)))
    assert plans[0] == plans[1]


def test_texts_are_voted_on():
    assert _chosen(_spec(), kind="text") == "votes"
    assert _chosen(_spec(method="votes"), kind="text") == "votes"
    with pytest.raises(SpecError, match="counts columns of tables; for a text"):
        _chosen(_spec(method="marginals"), kind="text")


@pytest.mark.parametrize("method", ["counts", "", None, 1, ["votes"], np.zeros(2), pa.table({"x": [1]})])
def test_other_methods_are_refused(method):
    with pytest.raises(SpecError, match=f"method must be one of {', '.join(METHODS)}"):
        _spec(method=method)
