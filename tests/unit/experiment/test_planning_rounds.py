from dataclasses import replace

import numpy as np
import pytest

from evomix.experiment.planning import plan
from evomix.privacy.composition import composed_delta
from evomix.privacy.rounds import GaussianRound, LaplaceRound, MixingRound

BUDGET = {"n": 10_000, "epsilon": 1.0, "delta": 1e-6}


def _rounds(made):
    """Return a plan's rounds as the accounting has them."""
    kinds = {
        "gaussian": lambda one: GaussianRound(one.noise_scale),
        "laplace": lambda one: LaplaceRound(one.noise_scale),
    }
    return [
        MixingRound(made.n, one.mixing_weight, one.draws, one.floor)
        if one.mixing_weight is not None
        else kinds[one.mechanism](one)
        for one in made.per_round
    ]


@pytest.mark.parametrize(
    ("asked", "accountant"),
    [
        ({"mechanism": "linmix", "candidates": 300, "rounds": 3}, "draws"),
        ({"mechanism": "linmix,linmix", "candidates": 300}, "draws"),
        ({"mechanism": "gaussian", "candidates": [300, 600]}, "gaussian"),
        ({"mechanism": "laplace,laplace,laplace"}, "laplace"),
        ({"mechanism": "linmix", "candidates": [100, 300, 1000]}, "pld"),
        ({"mechanism": "linmix,linmix,gaussian", "candidates": 200}, "pld"),
        ({"mechanism": "linmix, laplace"}, "pld"),
        ({"mechanism": "linmix", "candidates": [100, 300], "accounting": "draws"}, "draws"),
        ({"mechanism": "linmix", "candidates": 300, "rounds": 2, "accounting": "pld"}, "pld"),
        ({"mechanism": "linmix,gaussian", "accounting": "renyi"}, "renyi"),
        ({"mechanism": "gaussian", "rounds": 2, "accounting": "renyi"}, "renyi"),
    ],
    ids=str,
)
def test_the_noise_of_every_round_meets_the_budget_together_with_the_others(asked, accountant):
    made = plan(**BUDGET, draws=6000, **asked) if "linmix" in asked["mechanism"] else plan(**BUDGET, **asked)
    assert made.accountant == accountant
    assert made.rounds == len(made.per_round)
    kept_by = {"draws": "draws", "renyi": "renyi"}.get(accountant, "auto")
    spent = composed_delta(1.0, _rounds(made), accountant="auto" if kept_by == "draws" else kept_by)
    assert spent <= 1e-6
    # And not by wasting it: a little more of ε is what a Rényi account may leave.
    assert composed_delta(0.9 if accountant != "renyi" else 0.6, _rounds(made)) > 1e-6


def test_a_plan_with_less_noise_than_planned_would_not_meet_the_budget():
    made = plan(**BUDGET, draws=6000, mechanism="linmix,gaussian", candidates=200)
    mixing, gaussian = _rounds(made)
    weaker = [
        [replace(mixing, mixing_weight=0.9 * mixing.mixing_weight), gaussian],
        [mixing, replace(gaussian, stddev=0.9 * gaussian.stddev)],
    ]
    assert all(composed_delta(1.0, rounds) > 1e-6 for rounds in weaker)


def test_what_rounds_share_stands_in_the_plan_and_what_they_do_not_is_left_open():
    made = plan(**BUDGET, draws=7, mechanism="linmix,gaussian,linmix", candidates=[50, 20, 50])
    assert made.mechanism == "linmix,gaussian,linmix"
    assert made.candidates == 50
    assert made.draws == (4, 0, 3)
    assert made.mixing_weight is made.floor is made.noise_scale is None
    assert [one.candidates for one in made.per_round] == [50, 20, 50]
    same = plan(**BUDGET, draws=8, mechanism="linmix,linmix", candidates=50)
    assert same.mechanism == "linmix"
    assert same == plan(**BUDGET, draws=8, mechanism="linmix", rounds=2, candidates=50)
    assert same.mixing_weight == same.per_round[0].mixing_weight
    coarse = plan(**BUDGET, draws=8, mechanism="linmix", candidates=[10, 50], accounting="draws")
    assert coarse.floor == same.floor
    assert coarse.mixing_weight == same.mixing_weight


def test_later_rounds_of_pubmix_keep_their_part_of_an_even_share():
    public = np.random.default_rng(0).dirichlet(np.full(100, 0.2))
    made = plan(**BUDGET, public_histogram=public, candidates=[100, 300], draws=4000)
    first, second = made.per_round
    assert first.floor * 100 == pytest.approx(second.floor * 300)
    assert second.floor <= 1 / 300
    assert composed_delta(1.0, _rounds(made)) <= 1e-6
