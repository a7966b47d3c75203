"""One unit moves the distance by no more than its mass, and the noise covers that. Proof: docs/proofs/distance.md."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from evomix.core.errors import PrivacyError, SpecError
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.mechanisms import distance
from evomix.privacy.mechanisms.distance import CONFIDENCE, MOST_UNITS, NoisyDistance

PUBLIC = ([0.2, 0.3, 0.5], [0.0, 0.0, 1.0], [1 / 3] * 3, [0.5, 0.5, 0.0])


def single_votes(units, candidates=3):
    """Yield the vote vectors of all data sets of single rows, by their rows."""
    for rows in itertools.product(range(candidates), repeat=units):
        yield rows, [np.eye(candidates, dtype=np.int64)[row] * LATTICE for row in rows]


def soft_votes(units):
    """Yield data sets of people with several rows: masses that do not divide evenly."""
    third, two_thirds = LATTICE // 3, LATTICE - LATTICE // 3
    people = [
        (LATTICE, 0, 0),
        (0, LATTICE, 0),
        (third, two_thirds, 0),
        (two_thirds, third, 0),
        (third, third, LATTICE - 2 * third),
        (0, 1, LATTICE - 1),
    ]
    for choice in itertools.product(range(len(people)), repeat=units):
        yield choice, [np.array(people[k], np.int64) for k in choice]


def neighbours(data_sets):
    found = list(data_sets)
    return [
        (sum(one), sum(other))
        for (names, one), (others, other) in itertools.product(found, found)
        if sum(a != b for a, b in zip(names, others, strict=True)) == 1
    ]


@pytest.fixture
def exact(monkeypatch):
    """Return the statistic of the real code, in micro-votes: its release without the noise."""
    monkeypatch.setattr(distance, "add_laplace", lambda votes, *, scale: votes)

    def statistic(votes, shares):
        units = int(votes.sum()) // LATTICE
        mechanism = NoisyDistance.calibrate(1.0, units=units)
        released = mechanism.release(votes, mechanism.public_votes(np.array(shares)))
        return round(released.estimate * units * LATTICE)

    return statistic


@pytest.mark.parametrize("data_sets", [single_votes, soft_votes])
@pytest.mark.parametrize("shares", PUBLIC)
def test_one_unit_moves_the_statistic_by_at_most_its_mass_and_the_bound_is_met(exact, data_sets, shares):
    moves = [abs(exact(one, shares) - exact(other, shares)) for one, other in neighbours(data_sets(3))]
    assert max(moves) <= LATTICE
    if data_sets is single_votes:
        assert max(moves) >= 0.5 * LATTICE


def test_the_bound_is_attained(exact):
    one, other = np.array([1, 2, 1]) * LATTICE, np.array([1, 1, 2]) * LATTICE
    assert exact(other, [0.25, 0.5, 0.25]) - exact(one, [0.25, 0.5, 0.25]) == LATTICE


def test_it_is_the_total_variation(exact):
    rng = np.random.default_rng(0)
    for _ in range(50):
        votes = rng.multinomial(40, rng.dirichlet(np.ones(6)))
        shares = rng.dirichlet(np.ones(6))
        expected = 0.5 * np.abs(votes / 40 - shares).sum()
        assert exact(votes * LATTICE, shares) / (40 * LATTICE) == pytest.approx(expected, abs=6 / (40 * LATTICE))


def losses(first, second, scale):
    """Return the largest log-ratio of the exact output laws, over all outcomes that matter: ends and in between."""
    s = Fraction(scale) * LATTICE
    outcomes = {first, second, (first + second) // 2, min(first, second) - 7, max(first, second) + 7}
    return max(abs(abs(z - first) - abs(z - second)) / s for z in outcomes)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 3.0, 1e-9, 1e6])
def test_the_law_of_every_pair_of_neighbours_keeps_epsilon_and_wrong_ones_do_not(exact, epsilon):
    """Exact rationals. Half the noise breaks it, and so does the sum of |v − t| without its half."""
    scale = NoisyDistance.calibrate(epsilon, units=3).scale
    shares = [1 / 3] * 3
    pairs = [(exact(one, shares), exact(other, shares)) for one, other in neighbours(single_votes(3))]
    allowed = Fraction(epsilon)
    assert max(losses(one, other, scale) for one, other in pairs) <= allowed
    assert max(losses(one, other, scale / 2) for one, other in pairs) > allowed
    assert max(losses(2 * one, 2 * other, scale) for one, other in pairs) > allowed


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 0.3, 1 / 3, 0.7, 49.0, 1e6])
def test_the_scale_is_the_least_that_suffices_in_exact_arithmetic(epsilon):
    made = NoisyDistance.calibrate(epsilon, units=5)
    assert Fraction(made.scale) * Fraction(epsilon) >= 1
    assert made.scale <= math.nextafter(math.nextafter(1.0 / epsilon, math.inf), math.inf)
    assert made.delta == 0.0


def test_too_little_noise_cannot_be_made():
    with pytest.raises(PrivacyError, match=r"scale=0\.99"):
        NoisyDistance(0.99, 5, 1.0)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, 1e-10, 2e6, True, "1"])
def test_epsilons_out_of_range_are_refused(epsilon):
    with pytest.raises(SpecError, match="epsilon"):
        NoisyDistance.calibrate(epsilon, units=5)


@pytest.mark.parametrize("units", [0, -1, MOST_UNITS])
def test_without_units_or_with_too_many_there_is_no_distance(units):
    with pytest.raises(SpecError, match="units"):
        NoisyDistance.calibrate(1.0, units=units)


@pytest.mark.parametrize("votes", [[2, 1], [3, 0, 0], [2, 2, 0, 0]])
def test_votes_of_other_totals_or_lengths_are_refused(votes):
    mechanism = NoisyDistance.calibrate(1.0, units=4)
    with pytest.raises(ValueError, match="n units"):
        mechanism.release(np.array(votes) * LATTICE, mechanism.public_votes(np.array([0.5, 0.5, 0.0])))


def test_public_votes_are_whole_and_sum_to_the_units():
    shares = np.random.default_rng(1).dirichlet(np.ones(1000))
    for units in (1, 7, 10**9, MOST_UNITS - 1):
        made = NoisyDistance.calibrate(1.0, units=units).public_votes(shares)
        assert int(made.sum()) == units * LATTICE
        assert made.min() >= 0
        assert np.abs(made / (units * LATTICE) - shares).max() < 1e-6


def test_the_largest_tables_do_not_overflow(exact):
    units = MOST_UNITS - 1
    votes = np.array([units, 0]) * LATTICE
    assert exact(votes, [0.0, 1.0]) == pytest.approx(units * LATTICE)


@pytest.mark.parametrize(("noise", "estimate"), [(0, 0.5), (-(10**9), 0.0), (10**9, 1.0)])
def test_estimate_and_interval_lie_in_the_unit_interval(monkeypatch, noise, estimate):
    monkeypatch.setattr(distance, "add_laplace", lambda votes, *, scale: votes + noise)
    mechanism = NoisyDistance.calibrate(1.0, units=100)
    released = mechanism.release(np.array([100, 0]) * LATTICE, mechanism.public_votes(np.array([0.5, 0.5])))
    assert released.estimate == estimate
    assert 0.0 <= released.low <= released.estimate <= released.high <= 1.0


def test_the_interval_covers_the_discrete_law_where_the_lattice_is_coarse(monkeypatch):
    """The exact tail beyond the interval's reach, at the least noise that there is and far from it."""
    monkeypatch.setattr(distance, "add_laplace", lambda votes, *, scale: votes)
    for epsilon in (1e6, 12_345.6, 1.0):
        mechanism = NoisyDistance.calibrate(epsilon, units=100)
        released = mechanism.release(np.array([100, 0]) * LATTICE, mechanism.public_votes(np.array([0.5, 0.5])))
        reach = (released.high - released.estimate) * 100 * LATTICE
        s, beyond = mechanism.scale * LATTICE, math.floor(reach * (1 - 1e-9)) + 1
        tail = 2.0 * math.exp(-beyond / s) / (1.0 + math.exp(-1.0 / s))
        assert tail <= 1.0 - CONFIDENCE
        assert tail >= (1.0 - CONFIDENCE) * math.exp(-2.5 / s)  # and not much wider than it must be
