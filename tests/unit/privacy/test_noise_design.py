"""Checks what docs/proofs/noise_design.md claims."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minimax_oracle import least_worst_case

from evomix.core.errors import SpecError
from evomix.privacy import noise_design as module
from evomix.privacy.calibration import GRID, delta, mixing_weight
from evomix.privacy.floor_raising import raise_floor, water_fill
from evomix.privacy.floor_search import RULES
from evomix.privacy.minimax_bounds import minimax_lower
from evomix.privacy.noise_design import conform, design_noise, proximity, proximity_of_folds, to_weights
from evomix.privacy.worst_case import psi_upper, worst_case_tv

BUDGET = {"epsilon": 5.0, "delta": 1e-2, "n": 100, "draws": 80}


def weight_at(floor):
    return mixing_weight(5.0, 1e-2, n=100, draws=80, floor=floor)


@pytest.mark.parametrize("gamma", [0.1, 0.35])
@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_near_the_optimum_and_never_below(d, gamma):
    rng = np.random.default_rng(d)
    floors = np.geomspace(1e-3 / d, 1.0 / d * (1 - 1e-12), 20)
    weights = [weight_at(floor) for floor in floors]
    for concentration in (0.3, 1.0, 5.0):
        public = rng.dirichlet(np.full(d, concentration))
        design = design_noise(public, proximity=gamma, **BUDGET)
        least = [least_worst_case(public, floor, gamma) for floor in floors]
        optimum = min(w * f for w, f in zip(weights, least, strict=True))
        assert design.objective <= 1.01 * optimum
        assert 0.7 * optimum < design.lower_bound <= optimum + 1e-9
        assert design.gap == design.objective - design.lower_bound
        at_its_floor = least_worst_case(public, design.floor, gamma)
        assert design.objective >= design.mixing_weight * at_its_floor - 1e-9


@pytest.mark.parametrize("d", [2, 3, 7, 40, 1000])
@pytest.mark.parametrize("gamma", [0.0, 0.02, 0.3, 0.8, 1.0])
def test_a_design_is_what_it_says(d, gamma):
    public = np.random.default_rng(d).dirichlet(np.full(d, 0.3))
    design = design_noise(public, proximity=gamma, epsilon=1.0, delta=1e-6, n=2000, draws=500)
    assert design.distribution.sum() == pytest.approx(1.0, abs=1e-12)
    assert design.distribution.min() >= design.floor
    assert (design.floor * GRID).is_integer()
    assert design.mixing_weight == mixing_weight(1.0, 1e-6, n=2000, draws=500, floor=design.floor)
    assert delta(1.0, mixing_weight=design.mixing_weight, n=2000, draws=500, floor=design.floor) <= 1e-6
    worst = design.mixing_weight * worst_case_tv(design.distribution, public=public, proximity=gamma)
    assert worst - 1e-9 <= design.objective <= worst + design.mixing_weight * public.max() / 2
    assert 0.0 <= design.lower_bound <= design.objective
    # Never worse than LinMix.
    uniform = np.full(d, 1.0 / d)
    linmix = mixing_weight(1.0, 1e-6, n=2000, draws=500, floor=(GRID // d) / GRID)
    assert design.objective <= linmix * psi_upper(uniform, public=public, proximity=gamma) + 1e-12
    weights = to_weights(design.distribution, floor=design.floor)
    assert weights.sum() == GRID
    assert int(weights.min()) >= Fraction(design.floor) * GRID


def test_no_public_knowledge_gives_linmix():
    design = design_noise([0.7, 0.1, 0.1, 0.1], proximity=1.0, **BUDGET)
    assert design.rule == "uniform"
    np.testing.assert_array_equal(design.distribution, 0.25)
    assert design.objective == pytest.approx(0.75 * weight_at(0.25))
    assert design.lower_bound == pytest.approx(design.objective)


def test_near_public_data_beat_linmix_by_far():
    public = 1.0 / np.arange(1, 1001)
    public /= public.sum()
    arguments = {"epsilon": 1.0, "delta": 1e-6, "n": 20_000, "draws": 5000}
    near = design_noise(public, proximity=0.05, **arguments)
    far = design_noise(public, proximity=1.0, **arguments)
    assert near.objective < 0.5 * far.objective
    assert near.floor < far.floor
    assert near.lower_bound > 0.8 * near.objective


def test_one_candidate():
    design = design_noise([1.0], proximity=0.3, **BUDGET)
    assert design.distribution.tolist() == [1.0]
    assert (design.floor, design.objective, design.lower_bound) == (0.5, 0.0, 0.0)
    assert conform([1.0], floor=0.5, proximity=0.3).tolist() == [1.0]


def test_position_does_not_matter():
    rng = np.random.default_rng(0)
    public = rng.dirichlet(np.full(30, 0.5))
    order = rng.permutation(30)
    one = design_noise(public, proximity=0.2, **BUDGET)
    two = design_noise(public[order], proximity=0.2, **BUDGET)
    assert one.floor == two.floor
    np.testing.assert_allclose(two.distribution, one.distribution[order], rtol=1e-12)


def test_given_floors_are_the_only_choice(monkeypatch):
    asked = []

    def counted(*args, **kwargs):
        asked.append(kwargs["floor"])
        return mixing_weight(*args, **kwargs)

    monkeypatch.setattr(module, "mixing_weight", counted)
    public = np.array([0.5, 0.3, 0.15, 0.05])
    design = design_noise(public, proximity=0.2, floors=[0.01, 0.1, 0.25], **BUDGET)
    assert asked == pytest.approx([0.01, 0.1, 0.25], abs=1e-15)
    objectives = []
    for floor in asked:
        least = min(psi_upper(rule(public, floor=floor), public=public, proximity=0.2) for rule in RULES.values())
        objectives.append(weight_at(floor) * least)
    assert design.objective == pytest.approx(min(objectives), abs=1e-12)
    lower = min(weight_at(f) * minimax_lower(public, floor=f, proximity=0.2) for f in asked)
    optimum = min(weight_at(f) * least_worst_case(public, f, 0.2) for f in asked)
    assert lower * (1 - 1e-7) <= design.lower_bound <= optimum
    asked.clear()
    design_noise(public, proximity=0.2, **BUDGET)
    assert len(asked) == len(set(asked)) <= 23 + 24


def test_refusals():
    p = [0.5, 0.5]
    with pytest.raises(SpecError, match="closed_form"):
        design_noise(p, proximity=0.1, method="best", **BUDGET)
    for floors in ([], [0.0], [0.6], [float("nan")]):
        with pytest.raises(SpecError, match="floors must lie"):
            design_noise(p, proximity=0.1, floors=floors, **BUDGET)
    for gamma in (-0.1, 1.5, float("nan")):
        with pytest.raises(SpecError, match="proximity"):
            design_noise(p, proximity=gamma, **BUDGET)
    with pytest.raises(SpecError, match="sum to 1"):
        design_noise([0.5, 0.6], proximity=0.1, **BUDGET)
    with pytest.raises(SpecError, match="epsilon"):
        design_noise(p, proximity=0.1, epsilon=0.0, delta=1e-6, n=10, draws=10)


@given(seed=st.integers(0, 10**6), gamma=st.floats(0.0, 1.0), part=st.floats(0.0, 1.0))
@settings(max_examples=60, deadline=None)
def test_conform_takes_the_better_rule(seed, gamma, part):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 30))
    public = rng.dirichlet(np.full(d, 0.4))
    noise = conform(public, floor=part / d, proximity=gamma)
    assert noise.min() >= part / d
    assert noise.sum() == pytest.approx(1.0, abs=1e-13)
    worst = psi_upper(noise, public=public, proximity=gamma)
    for rule in (water_fill, raise_floor):
        assert worst <= psi_upper(rule(public, floor=part / d), public=public, proximity=gamma) + 2e-12


@given(
    seed=st.integers(0, 10**6),
    part=st.floats(0.0, 1.0),
    total=st.one_of(st.just(GRID), st.integers(1, 2**62), st.sampled_from([1, 2, 2**62])),
)
@settings(max_examples=200, deadline=None)
def test_weights_are_exact(seed, part, total):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 40))
    public = rng.dirichlet(np.full(d, rng.choice([0.02, 0.5, 50.0])))
    floor = part / d
    noise = conform(public, floor=floor, proximity=0.3)
    least = math.ceil(Fraction(floor) * total)
    if d * least > total:
        with pytest.raises(SpecError, match="within total"):
            to_weights(noise, floor=floor, total=total)
        return
    weights = to_weights(noise, floor=floor, total=total)
    assert weights.dtype == np.int64
    assert sum(map(int, weights)) == total
    assert int(weights.min()) >= Fraction(floor) * total
    # Rounding the floor up for each candidate moves at most d units, sharing at most one more for each.
    assert np.abs(weights - noise * total).max() <= d + 2 + total * 2.0**-45


def test_weights_known():
    assert to_weights([0.5, 0.3, 0.2], floor=0.0, total=10).tolist() == [5, 3, 2]
    assert to_weights([1 / 3] * 3, floor=0.0, total=10).tolist() == [4, 3, 3]
    assert to_weights([0.6, 0.4, 0.0], floor=0.0, total=7).tolist() == [4, 3, 0]
    assert to_weights([0.45, 0.45, 0.1], floor=0.1, total=16).tolist() == [7, 7, 2]
    assert to_weights([0.5, 0.5], floor=0.5, total=GRID).tolist() == [GRID // 2] * 2


def test_weights_refuse():
    with pytest.raises(SpecError, match="within total"):
        to_weights([1 / 3] * 3, floor=1 / 3)
    with pytest.raises(SpecError, match="below floor"):
        to_weights([0.9, 0.1], floor=0.2)
    for total, floor in ((0, 0.1), (2**62 + 1, 0.1), (10, -0.1), (10, float("nan"))):
        with pytest.raises(SpecError, match="total must lie"):
            to_weights([0.5, 0.5], floor=floor, total=total)


def test_weights_of_many_candidates():
    d = 200_003
    weights = to_weights(np.full(d, 1.0 / d), floor=(GRID // d) / GRID)
    assert sum(map(int, weights)) == GRID
    assert int(np.ptp(weights)) <= 1
    assert int(weights.min()) == GRID // d


def test_proximity_is_the_mean_over_pairs():
    rng = np.random.default_rng(0)
    for k in (2, 3, 6):
        rows = rng.dirichlet(np.full(20, 0.5), size=k)
        pairs = [np.abs(a - b).sum() / 2 for a, b in itertools.combinations(rows, 2)]
        assert proximity(rows) == pytest.approx(np.mean(pairs), abs=1e-14)
    assert proximity([[0.2, 0.8], [0.2, 0.8]]) == 0.0
    assert proximity([[1.0, 0.0], [0.0, 1.0]]) == 1.0


def test_proximity_refuses():
    for rows in ([], [[1.0]], [[0.5, 0.5], [1.0]]):
        with pytest.raises(SpecError, match="two or more"):
            proximity(rows)
    with pytest.raises(SpecError, match=r"distributions\[1\] must sum"):
        proximity([[0.5, 0.5], [0.5, 0.4]])


def test_folds_are_random_equal_and_repeatable():
    votes = np.repeat(np.arange(4), 5000)  # sorted: folds of neighbours would be far apart
    one = proximity_of_folds(votes, 4, rng=np.random.default_rng(1))
    assert one == proximity_of_folds(votes, 4, rng=np.random.default_rng(1))
    assert one != proximity_of_folds(votes, 4, rng=np.random.default_rng(2))
    assert 0.0 < one < 0.03
    # Five records in five folds: every fold is one record.
    assert proximity_of_folds(np.arange(5), 9, rng=np.random.default_rng(0)) == pytest.approx(1.0)
    assert proximity_of_folds(np.zeros(7, np.int64), 3, folds=2, rng=np.random.default_rng(0)) == 0.0


def test_folds_refuse():
    rng = np.random.default_rng(0)
    with pytest.raises(SpecError, match="folds"):
        proximity_of_folds(np.arange(4), 4, rng=rng)
    with pytest.raises(SpecError, match="folds"):
        proximity_of_folds(np.arange(4), 4, folds=1, rng=rng)
    for votes, candidates in ((np.arange(6), 5), (np.arange(6) - 1, 6)):
        with pytest.raises(SpecError, match="assignments"):
            proximity_of_folds(votes, candidates, rng=rng)


@pytest.mark.parametrize("wrong", [math.nan, -0.1, 1.1, None, "auto", True])
def test_a_proximity_that_is_none_is_refused(wrong):
    with pytest.raises(SpecError, match="proximity"):
        design_noise([0.0, 0.5, 0.5], proximity=wrong, epsilon=1.0, delta=1e-6, n=100, draws=10)
