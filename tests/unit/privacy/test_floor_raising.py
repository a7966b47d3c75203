"""Checks what docs/proofs/noise_design.md claims."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SpecError
from evomix.privacy import donors as module
from evomix.privacy.floor_raising import (
    as_distribution,
    compare_donors,
    proportional_fill,
    raise_floor,
    water_fill,
)
from evomix.privacy.knapsack import fill

RULES = [water_fill, proportional_fill, raise_floor]
each_rule = pytest.mark.parametrize("rule", RULES)


@st.composite
def distributions(draw, max_size=12):
    """Distributions with zeros, ties and several scales."""
    counts = draw(
        st.lists(st.integers(0, 6).map(lambda k: [0, 1, 1, 3, 10, 200, 5000][k]), min_size=1, max_size=max_size)
    )
    counts[draw(st.integers(0, len(counts) - 1))] += 1
    return np.array(counts, dtype=float) / sum(counts)


def missing(p, floor):
    return np.maximum(floor - p, 0.0).sum()


@each_rule
@given(p=distributions(), part=st.floats(0.0, 1.0))
@settings(max_examples=150)
def test_floor_sum_and_least_distance(rule, p, part):
    floor = part / p.size
    raised = rule(p, floor=floor)
    assert raised.min() >= floor
    assert raised.sum() == pytest.approx(1.0, abs=3e-14)
    # No distribution with that floor is nearer: its upward moves alone are this far.
    assert np.abs(raised - p).sum() / 2 == pytest.approx(missing(p, floor), abs=3e-14)
    assert (raised[p > floor] <= p[p > floor] + 1e-15).all()


@each_rule
def test_ends(rule):
    p = np.array([0.5, 0.0, 0.2, 0.3])
    np.testing.assert_array_equal(rule(p, floor=0.0), p)
    np.testing.assert_allclose(rule(p, floor=0.25), 0.25, rtol=0, atol=1e-16)
    np.testing.assert_array_equal(rule([1.0], floor=0.5), [1.0])
    np.testing.assert_allclose(rule(np.full(7, 1 / 7), floor=1 / 7), 1 / 7, rtol=0, atol=1e-16)


def test_known_values():
    p = [0.0, 0.1, 0.3, 0.6]
    np.testing.assert_allclose(water_fill(p, floor=0.1), [0.1, 0.1, 0.25, 0.55], atol=1e-15)
    np.testing.assert_allclose(proportional_fill(p, floor=0.1), [0.1, 0.1, 0.8 / 3, 1.6 / 3], atol=1e-15)
    # 0.6 alone could give 0.1, but 0.3 suffices and weighs less.
    np.testing.assert_allclose(raise_floor(p, floor=0.1), [0.1, 0.1, 0.2, 0.6], atol=1e-15)


def test_fillings_drain_small_donors_first():
    p = [0.0, 0.0, 0.22, 0.78]
    np.testing.assert_allclose(water_fill(p, floor=0.2), [0.2, 0.2, 0.2, 0.4], atol=1e-15)
    np.testing.assert_allclose(proportional_fill(p, floor=0.2), [0.2, 0.2, 0.2, 0.4], atol=1e-15)


@given(p=distributions(), part=st.floats(0.01, 0.99))
def test_fillings_have_their_form(p, part):
    floor = part / p.size
    level, share = water_fill(p, floor=floor), proportional_fill(p, floor=floor)
    high_level, high_share = level > floor * (1 + 1e-12), share > floor * (1 + 1e-12)
    taken = (p - level)[high_level]
    ratio = (share / np.where(p > 0, p, 1.0))[high_share]
    assert np.ptp(taken) <= 1e-14 if taken.size else True
    assert np.ptp(ratio) <= 1e-13 if ratio.size else True
    # What was drained would have ended at or below the floor.
    if taken.size:
        assert (p[~high_level] - taken[0] <= floor + 1e-14).all()
    if ratio.size:
        assert (p[~high_share] * ratio[0] <= floor + 1e-14).all()


@given(p=distributions(max_size=8), part=st.floats(0.01, 0.9))
def test_donors_are_few_and_suffice(p, part):
    floor = part / p.size
    raised = raise_floor(p, floor=floor)
    donors = raised < p - 1e-15
    untouched = (p > floor) & ~donors
    np.testing.assert_array_equal(raised[untouched], p[untouched])
    capacity = np.maximum(p - floor, 0.0)
    need = missing(p, floor)
    assert capacity[donors].sum() >= need - 1e-14
    # Without any one donor the rest would not do: none is taken in vain.
    for i in np.flatnonzero(donors):
        others = donors.copy()
        others[i] = False
        assert capacity[others].sum() < need + 1e-14


def test_equal_masses_give_by_position():
    np.testing.assert_allclose(raise_floor([0.4, 0.0, 0.4, 0.2], floor=0.1)[[0, 2]], [0.4, 0.4], atol=1e-15)
    a = raise_floor([0.5, 0.0, 0.5], floor=0.2)
    np.testing.assert_array_equal(a, raise_floor([0.5, 0.0, 0.5], floor=0.2))
    assert sorted(a) == pytest.approx([0.2, 0.3, 0.5])


@each_rule
def test_permutation_equivariant(rule):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(50, 0.3))
    order = rng.permutation(50)
    np.testing.assert_allclose(rule(p[order], floor=0.01), rule(p, floor=0.01)[order], rtol=1e-13, atol=0)


@each_rule
def test_a_million_candidates(rule):
    p = 1.0 / np.arange(1, 10**6 + 1)
    p /= p.sum()
    raised = rule(p, floor=5e-7)
    assert raised.min() >= 5e-7
    assert abs(raised.sum() - 1.0) < 1e-12
    assert abs(np.abs(raised - p).sum() / 2 - missing(p, 5e-7)) < 1e-12


@each_rule
@pytest.mark.parametrize("floor", [-1e-9, 0.26, float("nan"), float("inf")])
def test_refuses_impossible_floors(rule, floor):
    with pytest.raises(SpecError, match="floor must lie in"):
        rule([0.25] * 4, floor=floor)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([], "one row"),
        ([[0.5, 0.5]], "one row"),
        ([0.5, float("nan")], "finite"),
        ([1.5, -0.5], "at least 0"),
        ([0.5, 0.4], "sum to 1"),
        ([0.5, 0.5 + 1e-7], "sum to 1"),
    ],
)
def test_refuses_what_is_no_distribution(p, message):
    with pytest.raises(SpecError, match=message):
        as_distribution(p, name="public")


def test_rounding_of_the_sum_is_scaled_away():
    p = as_distribution([0.5, 0.5 + 5e-10])
    assert p.sum() == pytest.approx(1.0, abs=1e-16)


def least_donor_mass(p, floor):
    above = np.flatnonzero(p > floor)
    need = missing(p, floor)
    sets = (list(s) for size in range(above.size + 1) for s in itertools.combinations(above, size))
    return min(p[s].sum() for s in sets if (p[s] - floor).sum() >= need - 1e-15)


def test_exact_donors_are_of_least_mass():
    rng = np.random.default_rng(1)
    worse = 0
    for _ in range(200):
        p = rng.dirichlet(np.full(int(rng.integers(2, 9)), rng.choice([0.3, 1.0, 4.0])))
        floor = rng.uniform() / p.size
        found = compare_donors(p, floor=floor)
        assert found.exact == pytest.approx(least_donor_mass(p, floor), abs=1e-12)
        assert found.excess == max(found.greedy - found.exact, 0.0)
        worse += found.differ
        raised = raise_floor(p, floor=floor, donors="exact")
        assert raised.min() >= floor
        assert raised.sum() == pytest.approx(1.0, abs=1e-14)
        assert np.abs(raised - p).sum() / 2 == pytest.approx(missing(p, floor), abs=1e-14)
        assert p[raised < p - 1e-15].sum() <= found.exact + 1e-12
    assert 5 < worse < 150  # greedy donors often do, and often do not


def test_exact_donors_known_values():
    p = np.array([0.0, 0.0, 0.0, 0.0, 0.25, 0.35, 0.4])
    found = compare_donors(p, floor=0.09)
    assert (found.greedy, found.exact, found.excess) == pytest.approx((0.65, 0.6, 0.05))
    assert found.differ
    assert raise_floor(p, floor=0.09, donors="exact")[6] == 0.4
    assert raise_floor(p, floor=0.09)[5] == 0.35
    assert not compare_donors([0.5, 0.0, 0.5], floor=0.2).differ
    untouched = compare_donors([0.5, 0.5], floor=0.2)
    assert (untouched.greedy, untouched.exact, untouched.differ) == (0.0, 0.0, False)


def test_exact_donors_of_equal_mass_give_by_position():
    raised = raise_floor([0.3, 0.0, 0.3, 0.3, 0.1], floor=0.05, donors="exact")
    np.testing.assert_allclose(raised, [0.3, 0.05, 0.3, 0.3, 0.05], atol=1e-15)
    raised = raise_floor([0.25, 0.0, 0.25, 0.25, 0.25], floor=0.1, donors="exact")
    np.testing.assert_allclose(raised, [0.15, 0.1, 0.25, 0.25, 0.25], atol=1e-15)


def test_exact_donors_that_are_not_proven_are_refused(monkeypatch):
    monkeypatch.setattr(module, "fill", lambda *args, **kwargs: replace(fill(*args, **kwargs), upper=2.0))
    with pytest.raises(SpecError, match="donors='greedy'"):
        raise_floor([0.0, 0.3, 0.7], floor=0.1, donors="exact")
    with pytest.raises(SpecError, match="donors must be"):
        raise_floor([0.0, 0.3, 0.7], floor=0.1, donors="least")
