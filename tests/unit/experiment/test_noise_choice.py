import numpy as np
import pytest

from evomix import privacy
from evomix.core.errors import SpecError
from evomix.experiment.forecast import forecast
from evomix.experiment.noise_choice import (
    WORTH,
    MixtureBudget,
    RoughNoise,
    check_objective,
    choose_noise,
    designed_choice,
    estimating_choice,
    simulations,
    uniform_choice,
)
from evomix.experiment.stand_ins import StandIn, public_votes
from evomix.privacy.noise_design import conform

BUDGET = MixtureBudget(5000, 1.0, 1e-6, 4000, 2)
PUBLIC = public_votes(list(np.random.default_rng(0).dirichlet(np.full(200, 0.3), size=3)), "auto")
ALONE = StandIn(PUBLIC.pooled, PUBLIC.pooled)


@pytest.mark.parametrize(
    "choose", [designed_choice, estimating_choice, lambda budget, public: uniform_choice(200, budget, public)]
)
def test_every_choice_meets_the_budget_at_its_floor_and_states_its_worst_case(choose):
    chosen = choose(BUDGET, PUBLIC)
    noise = chosen.noise(ALONE)
    assert noise.min() >= chosen.floor * (1 - 1e-9)
    assert noise.sum() == pytest.approx(1.0)
    spent = privacy.delta(1.0, mixing_weight=chosen.mixing_weight, n=5000, draws=4000, floor=chosen.floor)
    assert 0.99e-6 < spent <= 1e-6
    psi = privacy.worst_case_tv(noise, public=PUBLIC.pooled, proximity=PUBLIC.proximity)
    assert chosen.worst_case_tv == pytest.approx(chosen.mixing_weight * psi, rel=1e-3)
    assert chosen.release(BUDGET).draws == 2000


def test_the_design_is_that_of_the_mechanism():
    chosen = designed_choice(BUDGET, PUBLIC)
    design = privacy.design_noise(
        PUBLIC.pooled, proximity=PUBLIC.proximity, epsilon=1.0, delta=1e-6, n=5000, draws=4000
    )
    assert (chosen.floor, chosen.mixing_weight, chosen.worst_case_tv) == (
        design.floor,
        design.mixing_weight,
        design.objective,
    )


def test_uniform_noise_is_judged_among_the_votes_near_the_public_ones():
    near, far = (uniform_choice(200, BUDGET, public_votes(PUBLIC.pooled, gamma)) for gamma in (0.1, 1.0))
    blind = uniform_choice(200, BUDGET, None)
    assert near.mixing_weight == far.mixing_weight == blind.mixing_weight
    assert near.worst_case_tv < far.worst_case_tv
    assert far.worst_case_tv == pytest.approx(blind.worst_case_tv) == pytest.approx(blind.mixing_weight * 199 / 200)


def test_the_noise_for_the_estimate_is_forecast_no_worse_than_the_other_two():
    stand_ins = PUBLIC.stand_ins(np.random.default_rng(0))
    missed = {
        name: forecast(one.release(BUDGET), stand_ins).estimate_tv
        for name, one in (
            ("uniform", uniform_choice(200, BUDGET, PUBLIC)),
            ("designed", designed_choice(BUDGET, PUBLIC)),
            ("estimating", estimating_choice(BUDGET, PUBLIC)),
        )
    }
    assert missed["estimating"] <= (1.0 + WORTH) * missed["uniform"]
    assert missed["estimating"] < missed["designed"]


def test_noise_for_the_estimate_leaves_the_uniform_one_only_where_that_pays():
    for n, draws in ((300, 30), (2000, 2000), (5000, 5000)):
        budget = MixtureBudget(n, 1.0, 1e-6, draws, 1)
        assert estimating_choice(budget, PUBLIC).floor == uniform_choice(200, budget, PUBLIC).floor


@pytest.mark.parametrize("choose", [designed_choice, estimating_choice])
def test_one_candidate_needs_no_design(choose):
    chosen = choose(BUDGET, public_votes([1.0], "auto"))
    assert (chosen.floor, chosen.worst_case_tv) == (0.5, 0.0)


@pytest.mark.parametrize("objective", ["draws", "estimate"])
def test_rough_noise_meets_every_budget_and_is_little_worse_than_what_is_searched(objective):
    stand_ins = PUBLIC.stand_ins(np.random.default_rng(0), most=2)
    rough = RoughNoise(PUBLIC, objective, stand_ins)
    for draws in (40, 400, 4000, 40_000):
        budget = MixtureBudget(5000, 1.0, 1e-6, draws, 2)
        chosen, best = rough.at(budget), choose_noise(budget, PUBLIC, objective)
        assert chosen.mixing_weight == budget.weight(chosen.floor)
        assert min(chosen.noise(one).min() for one in stand_ins) >= chosen.floor * (1 - 1e-9)
        if objective == "draws":
            assert best.worst_case_tv <= chosen.worst_case_tv <= 1.05 * best.worst_case_tv


def test_noise_beside_other_public_votes_is_made_anew():
    chosen = designed_choice(BUDGET, PUBLIC)
    first, second = (StandIn(row, row) for row in PUBLIC.histograms[:2])
    expected = [conform(one.public, floor=chosen.floor, proximity=PUBLIC.proximity) for one in (first, second)]
    for one, noise in ((first, expected[0]), (second, expected[1]), (first, expected[0])):
        np.testing.assert_array_equal(chosen.noise(one), noise)


def test_a_single_histograms_noise_is_the_design_itself():
    public = public_votes(PUBLIC.pooled, 0.3)
    chosen = designed_choice(BUDGET, public)
    (stand_in,) = public.stand_ins(np.random.default_rng(0), most=1)
    conformed = conform(public.pooled, floor=chosen.floor, proximity=0.3)
    np.testing.assert_array_equal(chosen.noise(stand_in), conformed)


def test_forecasts_simulate_less_where_there_are_many_candidates():
    counts = [simulations(size) for size in (1, 10_000, 20_000, 100_000, 10**6)]
    assert counts == [16, 16, 8, 2, 2]


def test_objectives_are_two():
    check_objective("draws")
    check_objective("estimate")
    with pytest.raises(SpecError, match="found objective='votes'"):
        check_objective("votes")
