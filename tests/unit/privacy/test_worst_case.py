"""Checks what docs/proofs/noise_design.md claims."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minimax_oracle import least_worst_case, worst_by_enumeration

from evomix.core.errors import SpecError
from evomix.privacy import knapsack, worst_case
from evomix.privacy.floor_raising import proportional_fill, raise_floor, water_fill
from evomix.privacy.minimax_bounds import minimax_lower
from evomix.privacy.worst_case import psi_upper, worst_case_tv, worst_counts, worst_set

RULES = [water_fill, proportional_fill, raise_floor]


def random_case(rng, d):
    public = rng.dirichlet(np.full(d, rng.choice([0.1, 0.5, 2.0])))
    kind = rng.integers(5)
    noise = rng.dirichlet(np.ones(d)) if kind == 3 else RULES[kind % 3](public, floor=rng.uniform() / d)
    noise = public if kind == 4 else noise
    return noise, public, rng.choice([rng.uniform(), 0.0, 1.0], p=[0.9, 0.05, 0.05])


def test_agrees_with_all_subsets():
    rng = np.random.default_rng(1)
    for _ in range(300):
        noise, public, gamma = random_case(rng, int(rng.integers(2, 11)))
        expected = worst_by_enumeration(noise, public, gamma)
        assert worst_case_tv(noise, public=public, proximity=gamma) == pytest.approx(expected, abs=1e-12)
        assert psi_upper(noise, public=public, proximity=gamma) == pytest.approx(expected, abs=1e-12)


def test_the_worst_set_attains_it_and_is_proper():
    rng = np.random.default_rng(11)
    for _ in range(200):
        noise, public, gamma = random_case(rng, int(rng.integers(2, 10)))
        chosen = worst_set(noise, public=public, proximity=gamma)
        assert 1 <= np.count_nonzero(chosen) < noise.size
        attained = min(public[chosen].sum() + gamma, 1.0) - noise[chosen].sum()
        assert attained == pytest.approx(worst_by_enumeration(noise, public, gamma), abs=1e-12)
    assert not worst_set([1.0], public=[1.0], proximity=0.3).any()


def test_classes_of_equals_agree_with_all_subsets():
    rng = np.random.default_rng(12)
    for _ in range(200):
        count = rng.integers(1, 4, size=int(rng.integers(1, 4)))
        noise, mass = (rng.dirichlet(np.ones(count.size)) / count for _ in range(2))
        gamma = rng.uniform()
        case = worst_counts(noise, mass, count, proximity=gamma)
        if count.sum() == 1:
            assert case.upper == 0.0
            continue
        expected = worst_by_enumeration(np.repeat(noise, count), np.repeat(mass, count), gamma)
        attained = float(case.counts @ noise) - max(float(case.counts @ mass) - gamma, 0.0)
        assert case.value == pytest.approx(attained, abs=1e-12)
        assert case.value == pytest.approx(expected, abs=1e-12)
        assert case.upper == pytest.approx(expected, abs=2e-9)
        assert case.counts.min() >= 0
        assert (case.counts <= count).all()
        assert 1 <= case.counts.sum() < count.sum()


def test_bounds_hold_when_the_search_is_cut_short(monkeypatch):
    # With few states and a small core, ten candidates take the ways that otherwise need hundreds.
    monkeypatch.setattr(worst_case, "_SMALL", 4)
    monkeypatch.setattr(knapsack, "_HALVES", 4)
    monkeypatch.setattr(knapsack, "_FEW_STATES", 2)
    rng = np.random.default_rng(2)
    undecided = 0
    for _ in range(150):
        noise, public, gamma = random_case(rng, int(rng.integers(7, 11)))
        expected = worst_by_enumeration(noise, public, gamma)
        upper = psi_upper(noise, public=public, proximity=gamma)
        ones = np.ones(noise.size, dtype=np.int64)
        short = worst_counts(noise, public, ones, proximity=gamma, most_states=3)
        assert short.value - 1e-12 <= expected <= short.upper + 1e-12
        assert expected - 1e-12 <= worst_case_tv(noise, public=public, proximity=gamma) <= expected + 2e-9
        assert expected - 1e-12 <= upper <= expected + public.max() / 2 + 1e-12
        undecided += upper > expected + 1e-5
    assert undecided > 10


def test_hundreds_of_candidates_are_bracketed():
    rng = np.random.default_rng(5)
    for rule in RULES:
        public = rng.dirichlet(np.full(300, 0.3))
        noise = rule(public, floor=0.4 / 300)
        upper = psi_upper(noise, public=public, proximity=0.35)
        exact = worst_case_tv(noise, public=public, proximity=0.35)
        assert exact - 1e-12 <= upper <= exact + public.max() / 2
        # No random private distribution in the ball is farther.
        for _ in range(50):
            other = rng.dirichlet(np.full(300, 0.05))
            step = min(1.0, 0.35 / (np.abs(other - public).sum() / 2))
            private = public + step * (other - public)
            assert np.abs(private - noise).sum() / 2 <= exact + 1e-12


def test_uniform_noise_is_exact_at_any_size():
    # R takes the smallest masses: 7,000 zeros, then 1/1000 each until γ is used, of 1/8000 noise each.
    public = np.append(np.zeros(7000), np.full(1000, 1e-3))
    noise = np.full(8000, 1 / 8000)
    assert worst_case_tv(noise, public=public, proximity=0.25) == pytest.approx((7000 + 250) / 8000, abs=1e-12)


def test_closed_cases():
    p = np.array([0.1, 0.2, 0.3, 0.4])
    assert worst_case_tv(p, public=p, proximity=0.35) == pytest.approx(0.35)
    assert worst_case_tv(p, public=p, proximity=0.95) == pytest.approx(0.9)
    assert worst_case_tv(p, public=p, proximity=0.0) == 0.0
    assert worst_case_tv([0.25] * 4, public=p, proximity=1.0) == pytest.approx(0.75)
    assert worst_case_tv([0.25] * 4, public=p, proximity=0.1) == pytest.approx(0.2 + 0.1)
    assert worst_case_tv([1.0], public=[1.0], proximity=0.5) == 0.0
    # Everything but candidate 1, which belongs to the decided ones.
    assert worst_case_tv([0.3, 0.7], public=[0.2, 0.8], proximity=0.7) == pytest.approx(0.6)


@given(seed=st.integers(0, 10**6), gamma=st.floats(0.01, 1.0), part=st.floats(0.0, 1.0))
@settings(max_examples=60, deadline=None)
def test_lower_bound_is_below_the_linear_program(seed, gamma, part):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 7))
    public = rng.dirichlet(np.full(d, rng.choice([0.2, 1.0, 20.0])))
    floor = part / d
    least = least_worst_case(public, floor, gamma)
    solved = 1e-6  # the solver meets its constraints up to 1e-7 each
    assert minimax_lower(public, floor=floor, proximity=gamma) <= least + solved
    for rule in RULES:
        assert worst_case_tv(rule(public, floor=floor), public=public, proximity=gamma) >= least - solved


def test_lower_bound_uniform_ends():
    uniform = np.full(4, 0.25)
    assert minimax_lower(uniform, floor=0.25, proximity=1.0) == pytest.approx(0.75)
    assert minimax_lower([0.7, 0.3], floor=0.0, proximity=1.0) == pytest.approx(0.5)
    assert minimax_lower([1.0], floor=0.5, proximity=0.5) == 0.0


def test_proportional_filling_meets_the_lower_bound_when_masses_are_small():
    rng = np.random.default_rng(6)
    public = rng.permutation(np.where(rng.random(5000) < 0.3, rng.exponential(size=5000), 0.0))
    public /= public.sum()
    slack = np.square(public).sum()
    for gamma in (0.05, 0.35, 0.7):
        for part in (0.02, 0.1, 0.5, 0.9):
            floor = part / 5000
            worst = {rule: psi_upper(rule(public, floor=floor), public=public, proximity=gamma) for rule in RULES}
            least = minimax_lower(public, floor=floor, proximity=gamma)
            assert least <= worst[proportional_fill] <= least + slack
            assert worst[proportional_fill] <= min(worst.values()) + 1e-12
    # and there the others are far from it
    assert worst[water_fill] > worst[proportional_fill] + 0.02
    assert worst[raise_floor] > worst[proportional_fill] + 0.05


@pytest.mark.parametrize("gamma", [-0.1, 1.1, float("nan")])
def test_refuses_proximity_outside_0_1(gamma):
    for call in (
        lambda: worst_case_tv([0.5, 0.5], public=[0.5, 0.5], proximity=gamma),
        lambda: minimax_lower([0.5, 0.5], floor=0.1, proximity=gamma),
    ):
        with pytest.raises(SpecError, match="proximity must lie"):
            call()


def test_refuses_unequal_lengths():
    with pytest.raises(SpecError, match="one length"):
        worst_case_tv([0.5, 0.5], public=[1.0], proximity=0.1)
