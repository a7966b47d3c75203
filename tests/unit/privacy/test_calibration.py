"""β_min and draws with two masses, rounds against one round, and LinMix as PubMix without public data.

Proofs: docs/proofs/mixing.md (sections 1 and 3), docs/proofs/linmix.md.
"""

import itertools

import numpy as np
import pytest
from exact_divergence import divergence, exact_delta, one_order, product_divergence, vote_pair
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from evomix.core.errors import SpecError
from evomix.privacy.calibration import GRID, delta, max_draws, mixing_weight
from evomix.privacy.mechanisms.linmix import linmix
from evomix.privacy.noise_design import design_noise

# (ε, target δ, n, draws, noise): in the first the record that leaves makes the worse case when it sits on the least
# candidate, in the second when the record that enters does.
LEAST_LEAVES = (1.0, 0.05, 3, 2, (0.1, 0.3, 0.6))
LEAST_ENTERS = (1.0, 0.15, 1, 3, (0.4, 0.6))


def laws(beta, n, noise, left, entered):
    """The laws of one draw on two neighbours: all other records on the last candidate."""
    d = len(noise)
    votes = np.bincount([d - 1] * (n - 1), minlength=d).astype(float)
    rows = [(votes + np.eye(d)[record]) / n for record in (left, entered)]
    return [(1 - beta) * row + beta * np.asarray(noise) for row in rows]


def worst_over_neighbours(epsilon, beta, n, draws, noise):
    """δ by enumeration over all outcomes, the worst pair of neighbours in both directions."""
    pairs = itertools.permutations(range(len(noise)), 2)
    return max(divergence(*laws(beta, n, noise, *pair), draws, epsilon) for pair in pairs)


@pytest.mark.parametrize("case", [LEAST_LEAVES, LEAST_ENTERS])
def test_two_masses_give_the_weight_that_brute_force_finds(case):
    epsilon, target, n, draws, noise = case
    found = mixing_weight(epsilon, target, n=n, draws=draws, floor=noise[0], second_floor=noise[1])
    root = brentq(
        lambda beta: worst_over_neighbours(epsilon, beta, n, draws, noise) - target, 1e-9, 1 - 1e-9, xtol=1e-13
    )
    assert root - 1e-11 <= found <= root + 1e-9
    assert found < mixing_weight(epsilon, target, n=n, draws=draws, floor=noise[0])


@pytest.mark.parametrize(("case", "worse"), [(LEAST_LEAVES, 0), (LEAST_ENTERS, 1)])
def test_one_order_alone_would_be_caught(case, worse):
    """A variant that takes (t1, t2) only, or (t2, t1) only, has too small a β for one of the two cases."""
    epsilon, target, n, draws, noise = case

    def spent(beta, order):
        gap, bases = vote_pair(beta, n, noise[:2])
        return float(one_order(epsilon, draws, gap, *bases[::order]))

    found = mixing_weight(epsilon, target, n=n, draws=draws, floor=noise[0], second_floor=noise[1])
    roots = [brentq(lambda beta, o=o: spent(beta, o) - target, 1e-9, 1 - 1e-9) for o in (1, -1)]
    assert roots[worse] == pytest.approx(found, abs=1e-9)
    assert roots[1 - worse] < 0.97 * found
    assert worst_over_neighbours(epsilon, roots[1 - worse], n, draws, noise) > 1.05 * target


@settings(max_examples=40, deadline=None)
@given(
    epsilon=st.floats(0.01, 8.0),
    target=st.floats(1e-9, 0.5),
    n=st.integers(1, 500),
    draws=st.integers(1, 10),
    floors=st.tuples(st.floats(1e-3, 0.5), st.floats(1e-3, 0.5)).map(sorted),
)
def test_two_masses_meet_the_budget_and_hardly_less_would_not(epsilon, target, n, draws, floors):
    low, high = floors
    beta = mixing_weight(epsilon, target, n=n, draws=draws, floor=low, second_floor=high)
    assert (beta * GRID).is_integer()
    assert exact_delta(epsilon, beta, n, draws, floors) <= target
    less = beta * (1 - 1e-9) - 1e-11
    assert less <= 0 or exact_delta(epsilon, less, n, draws, floors) > target
    assert beta <= mixing_weight(epsilon, target, n=n, draws=draws, floor=low) * (1 + 1e-12)


def test_rounds_in_different_orders_can_lose_more_than_two_masses_say():
    """Why ``second_floor`` is for one round: the least candidate may change sides from round to round."""
    epsilon, beta = 1.0, 0.75
    rounds = [laws(beta, 1, noise, 0, 1) for noise in ((0.125, 0.875), (0.875, 0.125))]
    mixed = product_divergence(rounds, epsilon)
    pure = delta(epsilon, mixing_weight=beta, n=1, draws=2, floor=0.125, second_floor=0.875)
    assert mixed == pytest.approx(0.144285, abs=1e-6)
    assert pure == pytest.approx(0.094273, abs=1e-6)
    assert mixed <= delta(epsilon, mixing_weight=beta, n=1, draws=2, floor=0.125)


def test_draws_invert_delta_with_two_masses():
    known = {"n": 5000, "mixing_weight": 0.3, "floor": 1e-3}
    one = max_draws(1.0, 1e-6, **known)
    two = max_draws(1.0, 1e-6, **known, second_floor=2e-3)
    assert one < two
    for draws, second in ((one, None), (two, 2e-3)):
        assert delta(1.0, draws=draws, **known, second_floor=second) <= 1e-6
        assert delta(1.0, draws=draws + 1, **known, second_floor=second) > 1e-6


def test_without_any_floor_the_weight_is_that_of_a_betrayed_record():
    beta = mixing_weight(1.0, 1e-3, n=100, draws=20, floor=0.0)
    assert beta == pytest.approx(1 - 100 * (1 - (1 - 1e-3) ** (1 / 20)), rel=1e-9)
    assert delta(1.0, mixing_weight=beta, n=100, draws=20, floor=0.0) <= 1e-3


@pytest.mark.parametrize("bad", [{"floor": 0.3, "second_floor": 0.2}, {"floor": 0.4, "second_floor": 0.7}])
def test_floors_that_no_distribution_has_are_refused(bad):
    with pytest.raises(SpecError, match=f"second_floor={bad['second_floor']}"):
        max_draws(1.0, 1e-6, n=10, mixing_weight=0.5, **bad)


def test_one_candidate_is_told_to_count_as_two():
    with pytest.raises(SpecError, match="a single candidate counts as two"):
        mixing_weight(1.0, 1e-6, n=10, draws=5, floor=1.0)


@pytest.mark.parametrize("candidates", [2, 3, 10, 1000])
@pytest.mark.parametrize(("epsilon", "n", "draws"), [(0.5, 300, 40), (5.0, 1200, 1000)])
def test_linmix_is_pubmix_that_knows_nothing(candidates, epsilon, n, draws):
    """Corollary 4.6: γ = 1 leads to uniform noise, and to β(1 − 1/d) as the least worst-case distance."""
    public = np.arange(1.0, candidates + 1)
    design = design_noise(public / public.sum(), proximity=1.0, epsilon=epsilon, delta=1 / n, n=n, draws=draws)
    uniform = linmix(epsilon, 1 / n, units=n, draws=draws, candidates=candidates)
    np.testing.assert_allclose(design.distribution, 1 / candidates, rtol=1e-12)
    assert design.mixing_weight == pytest.approx(uniform.mixing_weight, rel=1e-11)
    assert design.objective == pytest.approx((1 - 1 / candidates) * uniform.mixing_weight, rel=1e-9)
    assert design.lower_bound <= design.objective * (1 + 1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 5), st.data())
def test_no_other_noise_is_better_against_all_votes(candidates, data):
    """The other half of Corollary 4.6: noise accounted at its least mass is as far from the worst votes, or farther."""
    parts = np.array(data.draw(st.lists(st.floats(0.01, 1.0), min_size=candidates, max_size=candidates)))
    noise = parts / parts.sum()
    known = {"n": 50, "draws": 30}
    floor = float(min(noise.min(), 1 / candidates))
    worst = mixing_weight(2.0, 0.01, floor=floor, **known) * (1 - noise.min())
    best = mixing_weight(2.0, 0.01, floor=1 / candidates, **known) * (1 - 1 / candidates)
    assert worst >= best * (1 - 1e-12)
