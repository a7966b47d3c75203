"""A plan of counts spends the whole budget over its stages, and no more."""

import json
import math

import numpy as np
import pytest
from experiment_tables import SCHEMA, people, ready
from hypothesis import given
from hypothesis import strategies as st

from evomix.core.errors import InputFileError, PrivacyError, SpecError
from evomix.experiment.accounts import account_of, restored
from evomix.experiment.design import design, make_plan
from evomix.experiment.marginal_plan import cells_at_most, plan_marginals
from evomix.experiment.spec import RunSpec
from evomix.marginals.stages import Shape, stages_of
from evomix.privacy.gaussian_accounting import gaussian_delta, gaussian_stddev
from evomix.privacy.lattice_noise import add_gaussian
from evomix.privacy.mechanisms.gaussian import spread_over


def _stages(columns, *, target=0):
    return stages_of(Shape((9,) * columns, (False,) * columns, (False,) * columns, target))


def _spec(epsilon=1.0, delta=1e-6, **more):
    return RunSpec.from_mapping({"private": people(9), "schema": SCHEMA, "epsilon": epsilon, "delta": delta, **more})


@given(st.floats(1e-3, 50.0), st.floats(1e-12, 0.1), st.integers(1, 30), st.integers(0, 10**7))
def test_the_stages_together_meet_the_budget_and_waste_none_of_it(epsilon, delta, columns, n):
    planned = plan_marginals(_spec(epsilon, delta), _stages(columns), n=n)
    spreads = [one.noise_scale for one in planned.per_round]
    spent = gaussian_delta(epsilon, stddev=spreads, adjacency="replace-one")
    assert 0.999 * delta <= spent <= delta
    account = account_of(planned)  # certified as it is built
    assert [one.stddev for one in account.mechanisms] == spreads
    assert account.draws == (0,) * len(spreads)
    assert account.units == n


def test_a_stage_has_the_noise_of_its_share():
    planned = plan_marginals(_spec(), _stages(5), n=1000)
    whole = gaussian_stddev(1.0, 1e-6, adjacency="replace-one")
    assert [one.blocks for one in planned.per_round] == [5, 4, 1, 6]
    for one, share in zip(planned.per_round, (0.1, 0.2, 0.15, 0.55), strict=True):
        assert one.noise_scale == pytest.approx(whole / math.sqrt(share), rel=1e-9)
        assert one.noise_scale * math.sqrt(share) >= whole
        assert (one.mechanism, one.draws, one.mixing_weight, one.floor) == ("gaussian", 0, None, None)
    assert (planned.method, planned.mechanism, planned.accountant) == ("marginals", "gaussian", "gaussian")
    assert (planned.rounds, planned.draws, planned.variations, planned.noise_scale) == (4, (), 0, None)
    assert planned.candidates == max(one.candidates for one in planned.per_round)
    assert json.loads(json.dumps(planned.to_dict()))["per_round"][3]["blocks"] == 6


def test_one_stage_shares_its_noise_with_the_run():
    planned = plan_marginals(_spec(), _stages(1), n=1000)
    assert planned.rounds == 1
    assert planned.noise_scale == planned.per_round[0].noise_scale


@pytest.mark.parametrize(("n", "blocks", "stddev", "cells"), [(0, 1, 1.0, 2), (100, 4, 5.0, 9), (100, 1, 1e9, 2)])
def test_cells_hold_as_many_as_their_noise(n, blocks, stddev, cells):
    assert cells_at_most(n, blocks, stddev) == cells
    assert n / cells >= spread_over(stddev, blocks) or cells == 2


def test_delta_is_chosen_by_the_number_of_units():
    plans = [plan_marginals(_spec(delta=None), _stages(3), n=n) for n in (100, 10**6)]
    assert plans[0].delta > plans[1].delta
    assert plans[1].delta < 1e-6


def test_noise_that_cannot_be_added_is_refused_before_anything_is_charged():
    stages = _stages(1500, target=None)
    planned = plan_marginals(_spec(1e-8, 1e-12), stages, n=1000)
    most = max(spread_over(one.noise_scale, one.blocks) for one in planned.per_round)
    assert 1e10 < most <= 1e12
    add_gaussian(np.zeros(1, np.int64), stddev=most)
    with pytest.raises(SpecError, match="none is enough"):
        plan_marginals(_spec(1e-10, 1e-12), stages, n=1000)
    plan_marginals(_spec(1e-10, 1e-12), _stages(5), n=1000)


def test_a_tiny_budget_is_warned_of():
    assert any("little signal" in warning for warning in plan_marginals(_spec(1e-3), _stages(6), n=50).warnings)
    assert plan_marginals(_spec(delta=None), _stages(6), n=10**6).warnings == ()
    assert any("large" in warning for warning in plan_marginals(_spec(100.0), _stages(6), n=10**6).warnings)


def test_what_would_not_fit_into_memory_is_refused_before_it_is_charged():
    spec, inputs = ready(people(60), schema=SCHEMA, rows=10**9)
    with pytest.raises(SpecError, match="rows=1000000000 of 3 columns"):
        make_plan(spec, inputs)


def test_a_design_of_counts_asks_for_no_votes():
    spec, inputs = ready(people(60), schema=SCHEMA, target="job")
    made = design(spec, inputs, np.random.default_rng(0))
    assert made.selection == "none"
    assert len(made.initial) == 0
    assert made.counted is not None
    assert made.counted.table.shape.target == 2
    assert [one.blocks for one in made.plan.per_round] == [len(stage) for stage in _panels(made)]


def _panels(made):
    return [made.counted.table.panel(stage, 10.0).blocks for stage in range(made.plan.rounds)]


@pytest.mark.parametrize("stage", [0, 1, 2])
@pytest.mark.parametrize("stddev", [1.0, 0.0, -5.0, float("nan"), None, "low"])
def test_tampered_noise_is_not_restored(stage, stddev):
    spec, inputs = ready(people(400), schema=SCHEMA, target="job")
    made = design(spec, inputs, np.random.default_rng(0))
    saved = made.account.describe()
    saved["releases"][stage] = saved["releases"][stage] | {"stddev": stddev}
    with pytest.raises((InputFileError, PrivacyError, SpecError)):
        restored(saved, made.plan)
