"""Checks the knapsack that docs/proofs/noise_design.md reduces worst-case and donor sets to."""

import itertools

import numpy as np
import pytest

from evomix.privacy import knapsack, knapsack_core
from evomix.privacy.knapsack import fill


def random_sack(rng):
    """Return kinds with ties, equal ratios, zero gains and several scales, and a room."""
    kinds = int(rng.integers(1, 6))
    count = rng.integers(1, 4, size=kinds)
    size = rng.exponential(size=kinds) * 10.0 ** rng.integers(-3, 1, size=kinds)
    gain = size * rng.uniform(0, 1, size=kinds)
    style = rng.integers(4)
    if style == 0:
        gain = size * 0.5
    elif style == 1:
        size = np.round(size, 1) + 0.1
        gain = np.minimum(np.round(gain, 1), size)
    scale = float(size @ count) * rng.uniform(1, 3)
    size, gain = size / scale, gain / scale
    return gain, size, count, float(rng.uniform(0, 1.1) * (size @ count))


def worth(counts, gain, size, room, price):
    excess = float(counts @ size) - room
    return float(counts @ gain) - (price * excess if excess > 1e-14 else 0.0)


def best_by_enumeration(gain, size, count, room, price):
    every = (np.array(c) for c in itertools.product(*(range(c + 1) for c in count)))
    return max(worth(c, gain, size, room, price) for c in every if (c != count).any())


@pytest.mark.parametrize("price", [1.0, np.inf])
def test_agrees_with_enumeration(price):
    rng = np.random.default_rng(0)
    for _ in range(400):
        gain, size, count, room = random_sack(rng)
        best = best_by_enumeration(gain, size, count, room, price)
        found = fill(gain, size, count, room=room, price=price)
        assert found.value == pytest.approx(best, abs=1e-13)
        assert found.upper == pytest.approx(best, abs=1e-13)
        assert worth(found.counts, gain, size, room, price) == pytest.approx(best, abs=1e-13)
        assert (found.counts != count).any()


@pytest.mark.parametrize("price", [1.0, np.inf])
def test_every_stage_brackets_the_best(price, monkeypatch):
    monkeypatch.setattr(knapsack, "_FEW_STATES", 2)
    monkeypatch.setattr(knapsack, "_HALVES", 3)
    rng = np.random.default_rng(1)
    loose = 0
    for most_states, work in itertools.product((1, 2, 4, 64), (0, 64)):
        monkeypatch.setattr(knapsack_core, "_WORK", work)
        for _ in range(40):
            gain, size, count, room = random_sack(rng)
            best = best_by_enumeration(gain, size, count, room, price)
            found = fill(gain, size, count, room=room, price=price, most_states=most_states)
            assert found.value - 1e-13 <= best <= found.upper + 1e-13
            assert worth(found.counts, gain, size, room, price) == pytest.approx(found.value, abs=1e-13)
            loose += found.upper > best + 1e-9
    assert loose > 20


def test_tolerance_is_kept_and_used():
    rng = np.random.default_rng(2)
    used = 0
    for _ in range(200):
        gain, size, count, room = random_sack(rng)
        best = best_by_enumeration(gain, size, count, room, 1.0)
        found = fill(gain, size, count, room=room, tolerance=0.01)
        assert found.value - 1e-13 <= best <= found.upper + 1e-13
        assert found.upper - found.value <= 0.01 + 1e-13
        used += found.value < best - 1e-9
    assert used > 0


def test_hundreds_of_items_of_one_ratio_are_tight():
    size = np.random.default_rng(3).dirichlet(np.full(300, 0.3))
    found = fill(0.5 * size, size, np.ones(300, dtype=np.int64), room=0.37)
    assert found.upper <= 0.185 + 1e-15
    assert found.upper - found.value <= 1e-8
