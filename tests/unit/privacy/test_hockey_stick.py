"""δ of a mixture against slower ways to compute it (docs/proofs/mixing.md)."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from exact_divergence import divergence, exact_delta, multinomials
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.privacy.calibration import delta, max_draws, mixing_weight
from evomix.privacy.hockey_stick import mixing_delta


@settings(max_examples=60, deadline=None)
@given(
    epsilon=st.floats(1e-6, 12.0),
    beta=st.floats(1e-4, 1.0 - 1e-4),
    n=st.integers(1, 2000),
    draws=st.integers(1, 24),
    floors=st.tuples(st.floats(1e-4, 0.5), st.floats(1e-4, 0.5)).map(sorted).map(tuple),
)
def test_delta_is_a_tight_upper_bound(epsilon, beta, n, draws, floors):
    found = mixing_delta(epsilon, mixing_weight=beta, n=n, draws=draws, floors=floors)
    exact = exact_delta(epsilon, beta, n, draws, floors)
    assert found >= exact
    assert found <= exact * (1 + mpmath.mpf(10) ** -9) + mpmath.mpf(10) ** -305


def test_tiny_delta_keeps_its_digits():
    exact = exact_delta(11.0, 0.9, 50, 60, (0.01, 0.01))
    assert 0 < exact < 1e-90
    found = mixing_delta(11.0, mixing_weight=0.9, n=50, draws=60, floors=(0.01, 0.01))
    assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -9)


def test_published_figures():
    found = delta(2.0, mixing_weight=0.3, n=1200, draws=5000, floor=1e-3)
    assert 0.5127548 <= found < 0.51276
    for draws, figure in ((100, 0.0607), (1000, 0.2882), (10_000, 0.6660)):
        assert mixing_weight(5, 1 / 1200, n=1200, draws=draws, floor=1e-3) == pytest.approx(figure, abs=5e-5)


@pytest.mark.parametrize("candidates", [2, 3])
@pytest.mark.parametrize("draws", [1, 2, 4])
def test_no_pair_of_neighbours_beats_the_bound(candidates, draws):
    """Every data set of 3 records over a few candidates, every neighbour: the whole release, all outcomes."""
    n, beta, epsilon = 3, 0.4, 0.5
    noise = np.array([0.15, 0.85]) if candidates == 2 else np.array([0.2, 0.3, 0.5])
    bound = delta(epsilon, mixing_weight=beta, n=n, draws=draws, floor=noise[0], second_floor=noise[1])
    worst = 0.0
    for records in itertools.combinations_with_replacement(range(candidates), n):
        votes = np.bincount(records, minlength=candidates) / n
        for left, entered in itertools.product(set(records), range(candidates)):
            other = votes.copy()
            other[left] -= 1 / n
            other[entered] += 1 / n
            p = (1 - beta) * votes + beta * noise
            q = (1 - beta) * other + beta * noise
            worst = max(worst, divergence(p, q, draws, epsilon))
    assert worst <= bound
    # With a third candidate for the other records to sit on, the pair is attained.
    assert candidates == 2 or worst >= (1 - 1e-9) * bound


def random_search(floor_used, *, trials, user_level, seed):
    """Return the largest excess of a random neighbouring pair's δ over the bound at the stated floor."""
    rng = np.random.default_rng(seed)
    excess = -math.inf
    for _ in range(trials):
        d = int(rng.integers(2, 4))
        n, draws = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        beta, epsilon = rng.uniform(0.05, 0.95), rng.uniform(0.05, 2.0)
        stated = rng.uniform(0.02, 1 / d)
        noise = np.full(d, stated * floor_used)
        noise[rng.integers(d)] += 1 - noise.sum()
        if user_level:
            units = rng.dirichlet(np.full(d, 0.3), n)
            changed = units.copy()
            changed[0] = rng.dirichlet(np.full(d, 0.3))
        else:
            units = np.eye(d)[rng.integers(d, size=n)]
            changed = units.copy()
            changed[0] = np.eye(d)[rng.integers(d)]
        p = (1 - beta) * units.mean(0) + beta * noise
        q = (1 - beta) * changed.mean(0) + beta * noise
        bound = delta(epsilon, mixing_weight=beta, n=n, draws=draws, floor=stated)
        excess = max(excess, divergence(p, q, draws, epsilon) - bound)
    return excess


@pytest.mark.slow
@pytest.mark.parametrize("user_level", [False, True])
def test_ten_thousand_random_neighbours_stay_below(user_level):
    assert random_search(1.0, trials=10_000, user_level=user_level, seed=1) <= 1e-12


@pytest.mark.parametrize("user_level", [False, True])
def test_random_neighbours_stay_below(user_level):
    assert random_search(1.0, trials=600, user_level=user_level, seed=2) <= 1e-12


@pytest.mark.parametrize("user_level", [False, True])
def test_a_halved_floor_is_found_out(user_level):
    assert random_search(0.5, trials=600, user_level=user_level, seed=3) > 1e-4


def test_rounds_compose_to_their_total_of_draws():
    """Two rounds of different size are the product pair: no more, no less than all draws at once."""
    beta, n, floor, epsilon = 0.3, 4, 0.25, 0.8
    gap = (1 - beta) / n
    p = np.array([beta * floor + gap, beta * floor, 1 - 2 * beta * floor - gap])
    q = p[[1, 0, 2]]
    first, second = 2, 3
    joint_p = [a * b for a in multinomials(p, first) for b in multinomials(p, second)]
    joint_q = [a * b for a in multinomials(q, first) for b in multinomials(q, second)]
    composed = sum(max(a - math.exp(epsilon) * b, 0.0) for a, b in zip(joint_p, joint_q, strict=True))
    assert delta(epsilon, mixing_weight=beta, n=n, draws=5, floor=floor) == pytest.approx(composed, rel=1e-12)


def test_edges():
    assert delta(1.0, mixing_weight=1.0, n=5, draws=100, floor=0.1) == 0.0
    assert delta(1.0, mixing_weight=0.5, n=5, draws=0, floor=0.1) == 0.0
    assert delta(1.0, mixing_weight=0.0, n=10, draws=3, floor=0.1) == pytest.approx(1 - 0.9**3)
    assert delta(1.0, mixing_weight=0.5, n=10, draws=3, floor=0.0) == pytest.approx(1 - 0.95**3)
    assert delta(1.0, mixing_weight=0.5, n=1, draws=1, floor=0.5) == pytest.approx(0.75 - math.e * 0.25)
    assert delta(0.0, mixing_weight=0.5, n=1, draws=1, floor=0.5) == pytest.approx(0.5)
    assert delta(math.inf, mixing_weight=0.5, n=1, draws=9, floor=0.5) == 0.0
    assert delta(1e9, mixing_weight=0.5, n=1, draws=9, floor=0.5) == 0.0


@pytest.mark.parametrize(
    ("epsilon", "parameters", "exact"),
    [
        (1.0, {"mixing_weight": 0.5, "n": 10, "draws": 5, "floor": 1e-310}, 0.22621906),
        (1.0, {"mixing_weight": 1e-150, "n": 1, "draws": 4, "floor": 0.25}, 1.0 - 1e-12),
        (1.0, {"mixing_weight": 1e-100, "n": 1, "draws": 100, "floor": 0.25}, 1.0 - 1e-12),
        (1e-9, {"mixing_weight": 9.3e-235, "n": 2, "draws": 4, "floor": 2.78e-8, "second_floor": 0.5}, 0.9375),
        (2581.13, {"mixing_weight": 8.4e-12, "n": 84, "draws": 17, "floor": 1.7e-227}, 1.313e-6),
        (1046.3, {"mixing_weight": 2**-40, "n": 1, "draws": 9, "floor": 9.4e-154}, 1.0 - 1e-11),
    ],
)
def test_masses_beyond_the_range_of_floats_are_still_bounded(epsilon, parameters, exact):
    assert delta(epsilon, **parameters) >= exact


def test_random_corners_stay_above_the_truth():
    rng = np.random.default_rng(11)
    for _ in range(150):
        epsilon, beta = 10 ** rng.uniform(-9, 3.5), 10 ** rng.uniform(-250, 0)
        n, draws = int(10 ** rng.uniform(0, 9)), int(rng.integers(1, 10))
        floors = tuple(sorted(0.5 * 10 ** rng.uniform(-250, 0, 2)))
        found = mixing_delta(epsilon, mixing_weight=beta, n=n, draws=draws, floors=floors)
        assert found >= exact_delta(epsilon, beta, n, draws, floors) * (1 - mpmath.mpf(10) ** -15)


def test_monotone_in_every_parameter():
    base = {"mixing_weight": 0.3, "n": 500, "draws": 2000, "floor": 2e-3}
    value = delta(1.0, **base)
    assert delta(1.1, **base) < value
    for name, larger, sign in (("mixing_weight", 0.31, -1), ("n", 501, -1), ("draws", 2001, 1), ("floor", 2.1e-3, -1)):
        assert sign * (delta(1.0, **{**base, name: larger}) - value) > 0


@settings(max_examples=40, deadline=None)
@given(
    epsilon=st.floats(1e-3, 20.0),
    log_delta=st.floats(-40.0, -1.0),
    n=st.integers(1, 10**7),
    draws=st.integers(1, 20_000),
    candidates=st.integers(2, 50_000),
)
def test_mixing_weight_inverts_delta(epsilon, log_delta, n, draws, candidates):
    target = math.exp(log_delta)
    arguments = {"n": n, "draws": draws, "floor": 1 / candidates}
    beta = mixing_weight(epsilon, target, **arguments)
    assert beta * 2**53 == int(beta * 2**53)
    assert delta(epsilon, mixing_weight=beta, **arguments) <= target
    lower = beta * (1 - 1e-6) - 2.0**-52
    if lower > 0:
        assert delta(epsilon, mixing_weight=lower, **arguments) > target


def test_max_draws_inverts_mixing_weight():
    beta = mixing_weight(1.0, 1e-6, n=20_000, draws=5000, floor=1 / 4000)
    assert max_draws(1.0, 1e-6, n=20_000, mixing_weight=beta, floor=1 / 4000) == 5000


def test_agrees_with_numerical_composition():
    from dp_accounting.pld import privacy_loss_distribution as pld

    beta, n, draws, floor, epsilon = 0.3, 1200, 200, 1e-2, 1.0
    gap = (1 - beta) / n
    p = {0: beta * floor + gap, 1: beta * floor, 2: 1 - 2 * beta * floor - gap}
    q = {0: p[1], 1: p[0], 2: p[2]}
    logs = [{k: math.log(v) for k, v in side.items()} for side in (p, q)]
    pair = pld.from_two_probability_mass_functions(logs[0], logs[1], value_discretization_interval=1e-4)
    composed = pair.self_compose(draws).get_delta_for_epsilon(epsilon)
    found = delta(epsilon, mixing_weight=beta, n=n, draws=draws, floor=floor)
    assert found <= composed * (1 + 1e-9)
    assert found == pytest.approx(composed, rel=5e-3)


@pytest.mark.parametrize("epsilon", [0, -1.0, math.inf, math.nan])
def test_bad_budgets_are_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        mixing_weight(epsilon, 1e-6, n=10, draws=10, floor=0.1)


@pytest.mark.parametrize(
    "bad",
    [
        {"n": 0},
        {"n": math.nan},
        {"n": 1.5},
        {"n": True},
        {"n": 10**400},
        {"draws": -1},
        {"draws": 2.5},
        {"draws": 10**8},
        {"floor": 0.6},
        {"floor": -0.1},
        {"floor": math.nan},
        {"mixing_weight": 1.5},
        {"mixing_weight": math.nan},
    ],
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad)).replace("floor", "floors")):
        delta(1.0, **({"mixing_weight": 0.5, "n": 10, "draws": 10, "floor": 0.1} | bad))
