import json
import math

import numpy as np
import pytest

from evomix import privacy
from evomix.core.errors import SpecError
from evomix.experiment import noise_choice
from evomix.experiment.planning import choose_candidates, default_delta, plan, signal_of, split_draws
from evomix.experiment.round_noise import LEAST_NOISE, MOST_NOISE
from evomix.privacy.lattice_noise import add_gaussian, add_laplace

BUDGET = {"n": 10_000, "epsilon": 1.0, "delta": 1e-6}


@pytest.mark.parametrize(("draws", "weight"), [(100, 0.0607), (1000, 0.2882), (10_000, 0.6660)])
def test_the_plan_shows_the_mixing_weight_of_the_accounting(draws, weight):
    made = plan(n=1200, epsilon=5.0, delta=1 / 1200, draws=draws, candidates=1000, mechanism="linmix", rounds=1)
    assert made.mixing_weight == pytest.approx(weight, abs=1e-4)
    assert made.floor == pytest.approx(1e-3)
    assert privacy.delta(5.0, mixing_weight=made.mixing_weight, n=1200, draws=draws, floor=made.floor) <= 1 / 1200
    # Any vote may be far from the uniform distribution: β·(1 − 1/d).
    assert made.worst_case_tv == pytest.approx(made.mixing_weight * 0.999)


@pytest.mark.parametrize(("mechanism", "calibrate"), [("gaussian", "gaussian_stddev"), ("laplace", "laplace_scale")])
def test_the_plan_shows_the_noise_of_the_accounting(mechanism, calibrate):
    made = plan(**BUDGET, mechanism=mechanism, rounds=3)
    noise = getattr(privacy, calibrate)(1.0, 1e-6, rounds=3, adjacency="replace-one")
    assert made.noise_scale == noise
    assert made.draws == ()
    assert made.mixing_weight is made.floor is made.worst_case_tv is None
    deviation = noise * (math.sqrt(2) if mechanism == "laplace" else 1)
    assert made.signal == pytest.approx(10_000**2 / (made.candidates * deviation**2))


@pytest.mark.parametrize("mechanism", ["linmix", "gaussian", "laplace"])
def test_signal_grows_with_people_and_budget_and_falls_with_candidates(mechanism):
    def signal(**changed):
        return signal_of(
            mechanism,
            **({"n": 5000, "epsilon": 1.0, "delta": 1e-6, "draws": 20_000, "rounds": 4, "candidates": 500} | changed),
        )

    assert signal(n=20_000) > signal() > signal(n=1000)
    assert signal(epsilon=3.0) > signal() > signal(epsilon=0.1)
    assert signal(delta=1e-4) > signal()
    assert signal(candidates=100) > signal() > signal(candidates=5000)
    assert signal(rounds=1) > signal() > signal(rounds=16)


@pytest.mark.parametrize("mechanism", ["linmix", "gaussian", "laplace"])
def test_more_budget_tells_more_candidates_apart(mechanism):
    sizes = [
        choose_candidates(mechanism, n=n, epsilon=epsilon, delta=1e-6, draws=min(4 * n, 100_000), rounds=4)
        for n, epsilon in [(100, 0.5), (2000, 1.0), (50_000, 1.0), (500_000, 5.0)]
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] == 30
    assert sizes[-1] >= 5000


def test_default_delta_is_far_below_one_in_n():
    for n in (2, 10, 1000, 10**5, 10**7, 10**9):
        assert 0.0 < default_delta(n) <= min(1e-6, 1 / (n * math.log(n)))
    assert default_delta(10**9) == pytest.approx(1 / (1e9 * math.log(1e9)))
    assert default_delta(0) == default_delta(1) == default_delta(1000) == 1e-6
    assert plan(n=10**8, epsilon=1.0).delta == default_delta(10**8)


def test_draws_are_spread_evenly_and_all_spent():
    assert split_draws(10, 3) == (4, 3, 3)
    assert split_draws(3, 3) == (1, 1, 1)
    assert sum(plan(**BUDGET, draws=12_345, rounds=7).draws) == 12_345


def test_no_round_is_planned_without_a_draw():
    made = plan(n=1000, epsilon=1.0, draws=3)
    assert made.draws == (1, 1, 1)
    with pytest.raises(SpecError, match="draws=3 for rounds=4"):
        plan(n=1000, epsilon=1.0, draws=3, rounds=4)


def test_rows_cost_nothing():
    few, many = plan(**BUDGET, rows=10), plan(**BUDGET, rows=10**6)
    assert few.to_dict() | {"rows": 0} == many.to_dict() | {"rows": 0}


def test_public_votes_shape_the_noise_and_lower_the_worst_case():
    public = np.random.default_rng(0).dirichlet(np.full(300, 0.2))
    blind = plan(**BUDGET, candidates=300, mechanism="linmix")
    far, near = (plan(**BUDGET, public_histogram=public, proximity=gamma) for gamma in (1.0, 0.1))
    assert near.mechanism == far.mechanism == "pubmix"
    assert near.candidates == 300
    assert near.worst_case_tv < far.worst_case_tv
    assert far.worst_case_tv <= blind.worst_case_tv * (1 + 1e-9)
    assert near.floor <= 1 / 300


def test_a_small_domain_is_voted_on_whole_in_one_round():
    made = plan(**BUDGET, domain_size=12)
    assert (made.candidates, made.rounds) == (12, 1)
    assert plan(**BUDGET, domain_size=12, rounds=3).rounds == 3
    assert plan(**BUDGET, domain_size=10**9).candidates < 10**9


def test_one_candidate_carries_no_information():
    made = plan(**BUDGET, domain_size=1, mechanism="linmix")
    assert made.candidates == 1
    assert made.worst_case_tv == 0.0
    assert made.warnings == ()


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_anyone_leaves_hardly_any_signal(n):
    made = plan(n=n, epsilon=1.0)
    assert made.mixing_weight > 0.99
    assert any("little signal" in warning for warning in made.warnings)


def test_warnings_name_what_is_weak():
    assert any("epsilon=20" in warning for warning in plan(n=1000, epsilon=20.0, delta=1e-6).warnings)
    assert any("1/n or more" in warning for warning in plan(n=1000, epsilon=1.0, delta=0.01).warnings)
    assert plan(n=100_000, epsilon=1.0, delta=1e-6).warnings == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": -1},
        {"n": 2.5},
        {"n": True},
        {"epsilon": 0.0},
        {"delta": 0.0},
        {"rounds": 0},
        {"rounds": 2.5},
        {"candidates": 0},
        {"rows": 0},
        {"draws": 0},
        {"draws": 10**8},
        {"variations": -1},
        {"proximity": 2.0},
        {"mechanism": "none"},
        {"public_histogram": np.array([0.5, 0.7])},
        {"domain_size": 0},
        {"domain_size": -3},
        {"domain_size": math.nan},
        {"domain_size": True},
        {"domain_size": "many"},
        {"n": 2**63},
        {"candidates": [20, 10**9]},
        {"rounds": 10**6},
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(SpecError):
        plan(**(BUDGET | wrong))


def test_a_plan_is_plain_values():
    shown = plan(**BUDGET, rounds=2, draws=5).to_dict()
    assert shown["draws"] == [3, 2]
    assert shown["total_draws"] == 5
    assert shown["adjacency"] == "replace-one"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"mechanism": "linmix,auto"}, "stands alone"),
        ({"mechanism": "linmix,gauss"}, "mechanism must be one of"),
        ({"mechanism": "linmix,gaussian", "rounds": 3}, "rounds=3"),
        ({"mechanism": "linmix,gaussian", "candidates": [1, 2, 3]}, "candidates for 3 rounds"),
        ({"candidates": []}, "candidates"),
        ({"candidates": [5, 0]}, "candidates"),
        ({"accounting": "exact"}, "accounting must be one of"),
        ({"accounting": "draws", "mechanism": "gaussian"}, "accounting='draws'"),
        ({"mechanism": "linmix,linmix", "draws": 1}, "needs a draw"),
        ({"mechanism": "gaussian", "draws": 5}, "draws=5 has no effect"),
        ({"objective": "estimate"}, "without public_histogram"),
        ({"objective": "best", "public_histogram": [0.5, 0.5]}, "objective must be one of"),
        ({"public_histogram": [0.5, 0.5], "candidates": 3}, "differs from the 2 entries"),
        ({"public_histogram": [[0.5, 0.5], [1.0]]}, "same candidates"),
        ({"mechanism": "gaussian", "proximity": 0.2}, "proximity=0.2 has no effect"),
        ({"proximity": 0.2}, "proximity=0.2 has no effect without public votes"),
        ({"mechanism": "pubmix", "proximity": 0.2}, "proximity=0.2 has no effect without public votes"),
        ({"objective": "draws"}, "without public_histogram"),
    ],
    ids=str,
)
def test_contradictions_are_refused(asked, said):
    with pytest.raises(SpecError, match=said):
        plan(**BUDGET, **asked)


@pytest.mark.parametrize("mechanism", ["auto", "linmix", "gaussian"])
@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 50.0])
@pytest.mark.parametrize(("n", "candidates"), [(0, 5), (1, 5), (3, 1), (3, 40), (10**7, 40)])
def test_no_size_and_no_budget_breaks_a_full_plan(n, epsilon, candidates, mechanism):
    public = np.arange(1.0, candidates + 1) / (candidates * (candidates + 1) / 2)
    made = plan(
        n=n,
        epsilon=epsilon,
        rounds=2,
        public_histogram=public,
        mechanism=mechanism,
        objective="estimate",
        trade_off=True,
    )
    shown = made.to_dict()
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert shown["recommended"] in shown["comparison"]
    assert bool(shown["trade_off"]) == (mechanism != "gaussian")
    for one in shown["trade_off"]:
        assert 0.0 <= one["mixing_weight"] <= 1.0


def test_what_was_not_asked_for_is_not_worked_out():
    shown = plan(**BUDGET).to_dict()
    assert not {"trade_off", "comparison", "recommended", "reason"} & set(shown)
    assert shown["proximity"] is None
    assert json.loads(json.dumps(shown)) == shown


def test_the_curve_goes_through_the_plan():
    public = np.random.default_rng(0).dirichlet(np.full(120, 0.2))
    for given in ({"public_histogram": public, "proximity": 0.2}, {"candidates": 120}):
        made = plan(**BUDGET, rounds=2, draws=3000, trade_off=True, **given)
        (here,) = [one for one in made.trade_off if (one.draws, one.candidates) == (3000, 120)]
        assert (here.mixing_weight, here.floor) == (made.mixing_weight, made.floor)
        assert here.worst_case_tv == pytest.approx(made.worst_case_tv)


@pytest.mark.parametrize(("candidates", "weight"), [(500, 0.02), (5000, 0.14), (20_000, 0.37)])
def test_resolution_is_what_costs(candidates, weight):
    made = plan(n=107_237, epsilon=1.0, draws=5000, candidates=candidates, mechanism="linmix", rounds=1)
    assert made.mixing_weight == pytest.approx(weight, abs=0.006)
    assert made.useful_candidates == 12_000


def test_more_candidates_than_the_budget_tells_apart_are_counted_by_the_budget():
    made = plan(**BUDGET, candidates=20_000)
    assert made.useful_candidates == plan(**BUDGET).candidates < made.candidates


def test_proximity_is_the_users_or_that_of_several_histograms():
    rows = list(np.random.default_rng(0).dirichlet(np.full(50, 0.5), size=3))
    made = plan(**BUDGET, public_histogram=rows)
    assert made.proximity == privacy.proximity(rows)
    assert made.candidates == 50
    assert plan(**BUDGET, public_histogram=rows[0]).proximity == 0.5
    given = plan(**BUDGET, public_histogram=rows, proximity=0.1)
    assert given.proximity == 0.1
    assert given.worst_case_tv < made.worst_case_tv


def test_a_histogram_beside_another_mechanism_only_compares():
    public = np.random.default_rng(0).dirichlet(np.full(50, 0.5))
    made = plan(**BUDGET, mechanism="linmix", public_histogram=public, proximity=0.1)
    bare = plan(**BUDGET, mechanism="linmix", candidates=50, informed=True)
    assert (made.mixing_weight, made.rounds, made.draws) == (bare.mixing_weight, bare.rounds, bare.draws)
    assert made.recommended is not None
    # The worst case is that within γ of the public votes.
    assert made.worst_case_tv < bare.worst_case_tv


def test_whole_numbers_of_numpy_are_taken_and_leave_plain_values():
    counts = {"n": np.int32(1000), "rounds": np.int8(3), "candidates": np.int16(50), "draws": np.int64(90)}
    made = plan(**counts, epsilon=1.0, delta=1e-6)
    assert made == plan(n=1000, epsilon=1.0, delta=1e-6, rounds=3, candidates=50, draws=90)
    assert json.loads(json.dumps(made.to_dict()))["candidates"] == 50
    assert plan(**BUDGET, domain_size=10**400) == plan(**BUDGET)


@pytest.mark.parametrize(
    ("mechanism", "epsilon"), [("laplace", 1e15), ("linmix,gaussian", 1e14), ("linmix,gaussian", 1e300)]
)
def test_noise_that_cannot_be_drawn_is_refused_in_the_plan(mechanism, epsilon):
    with pytest.raises(SpecError, match="what can be drawn"):
        plan(n=1000, epsilon=epsilon, delta=1e-6, mechanism=mechanism, candidates=30)


def test_the_range_of_noise_is_that_of_the_sampler():
    votes = np.zeros(1, np.int64)
    for add, name in ((add_gaussian, "stddev"), (add_laplace, "scale")):
        for scale in (LEAST_NOISE, MOST_NOISE):
            assert add(votes, **{name: scale}).shape == (1,)
        for scale in (LEAST_NOISE * (1 - 1e-9), MOST_NOISE * (1 + 1e-9)):
            with pytest.raises(SpecError):
                add(votes, **{name: scale})


def test_no_noise_is_searched_twice(monkeypatch):
    """A full plan at 10⁵ candidates is to take seconds at most: each d of the curve is designed once for all draws."""
    seen = {"search": 0, "raising": []}
    best, raising = noise_choice.FloorSearch.best, noise_choice.best_raising

    def searching(self):
        seen["search"] += 1
        return best(self)

    def raised(public, **settings):
        seen["raising"].append((public.size, settings["floor"]))
        return raising(public, **settings)

    monkeypatch.setattr(noise_choice.FloorSearch, "best", searching)
    monkeypatch.setattr(noise_choice, "best_raising", raised)
    public = np.random.default_rng(0).dirichlet(np.full(400, 0.3))
    made = plan(**BUDGET, mechanism="pubmix", public_histogram=public, trade_off=True)
    assert seen["search"] == 1
    sizes = {one.candidates for one in made.trade_off}
    assert len(seen["raising"]) == len(set(seen["raising"])) == (len(noise_choice._ROUGH_PARTS) + 1) * len(sizes)


def test_auto_is_linmix_unless_a_number_is_given_for_the_proximity():
    public = np.random.default_rng(0).dirichlet(np.full(50, 0.5))
    assert plan(**BUDGET).mechanism == "linmix"
    compared = plan(**BUDGET, public_histogram=public)
    assert (compared.mechanism, compared.proximity_assumed) == ("linmix", True)
    assert compared.comparison is not None
    vouched = plan(**BUDGET, public_histogram=public, proximity=0.5)
    assert (vouched.mechanism, vouched.proximity_assumed) == ("pubmix", False)
    assert vouched.comparison == compared.comparison


def test_a_round_is_worth_what_its_own_share_of_noise_leaves():
    public = np.zeros(500)
    public[:3] = (0.6, 0.3, 0.1)
    made = plan(n=1000, epsilon=0.5, delta=1e-6, rounds=2, public_histogram=public, proximity=0.0)
    even = plan(n=1000, epsilon=0.5, delta=1e-6, rounds=2, candidates=500)
    assert made.mixing_weight > even.mixing_weight
    for one in (made, even):
        assert one.signal == one.draws[-1] * (1 - one.mixing_weight) ** 2


def test_a_plan_that_is_nearly_all_noise_says_so():
    noisy = plan(n=1000, epsilon=0.1, delta=1e-6, draws=100_000, rounds=2, candidates=5000)
    assert noisy.mixing_weight >= 0.95
    assert any(warning.startswith("nearly everything that is released is noise (9") for warning in noisy.warnings)
    quiet = plan(**BUDGET, candidates=300)
    assert quiet.mixing_weight < 0.95
    assert not any("nearly everything" in warning for warning in quiet.warnings)


@pytest.mark.parametrize("extra", [{"proximity": 0.2}, {}, {"mechanism": "pubmix", "objective": "estimate"}], ids=str)
def test_the_comparison_and_the_curve_say_the_same_of_the_plan(extra):
    public = np.random.default_rng(0).dirichlet(np.full(120, 0.2))
    made = plan(**BUDGET, rounds=2, draws=3000, public_histogram=public, trade_off=True, **extra)
    (here,) = [one for one in made.trade_off if (one.draws, one.candidates) == (3000, 120)]
    (compared,) = [one for one in made.comparison if one.mechanism == made.mechanism]
    for name in ("mixing_weight", "floor", "worst_case_tv", "estimate_tv"):
        assert getattr(here, name) == getattr(compared, name)


def test_rounds_finer_than_the_histogram_are_planned_too():
    public = np.random.default_rng(0).dirichlet(np.full(50, 0.5))
    made = plan(**BUDGET, candidates=[50, 200], public_histogram=public, trade_off=True)
    assert max(one.candidates for one in made.trade_off) == 50
