"""The simulation under the GAPE figures: the loop, the generators, the selections."""

from itertools import pairwise

import numpy as np
import pytest

from evomix.reproduction.exponents import exponent
from evomix.reproduction.point_clusters import SEPARATION, centres, clustered, near
from evomix.reproduction.point_evolution import World, count_votes, evolve_points, noise_stddev, seeded
from evomix.reproduction.point_generators import CurveSteps, SubspaceSteps, ball, subspace
from evomix.reproduction.point_selections import SELECTIONS, gape, projection, rank, subsample

PLANE = np.eye(2)


def test_votes_are_those_of_brute_force():
    rng = seeded(1)
    points, records = rng.normal(size=(30, 3)), rng.normal(size=(200, 3))
    nearest = np.linalg.norm(records[:, None] - points, axis=2).argmin(axis=1)
    assert count_votes(points, records).tolist() == np.bincount(nearest, minlength=30).tolist()


def test_without_noise_a_round_keeps_what_is_nearest():
    rng = seeded(2)
    records = np.array([[1.0, 0.0]] * 5)
    start = np.array([[0.0, 0.0]])
    steps = SubspaceSteps(PLANE, (1.0, 0.5, 0.25))
    gaps = [
        np.linalg.norm(p - [1, 0], axis=1).min() for p in evolve_points(World(records, start, steps, 1, 30), rank, rng)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.1


def test_the_noise_reaches_the_selection():
    seen = []

    def spy(points, votes, **given):
        seen.append((votes, given))
        return np.array([0])

    world = World(np.zeros((400, 2)), np.ones((1, 2)), lambda points, rng: np.eye(2), 3, 2000, 7.0)
    evolve_points(world, spy, seeded(3))
    second = np.array([votes[1] for votes, _ in seen])  # the tie goes to the first, so this is noise alone
    assert second.std() == pytest.approx(7.0, rel=0.12)  # 7 standard errors; half or twice the noise is far off
    assert abs(second.mean()) < 1.1
    assert {(given["size"], given["units"], given["stddev"]) for _, given in seen} == {(3, 400, 7.0)}


def test_the_noise_is_that_of_replace_one_neighbours():
    assert noise_stddev(10) == pytest.approx(10**0.5 * noise_stddev(1), rel=1e-3)
    assert noise_stddev(1, epsilon=1.0, delta=1e-5) == pytest.approx(2**0.5 * 3.7306, rel=1e-3)


@pytest.mark.parametrize(("lam", "d"), [(1, 5), (3, 7), (6, 6)])
def test_variations_have_the_stated_trace_and_effective_rank(lam, d):
    rng = seeded(4, lam)
    basis, scale, count = subspace(lam, d, rng), 0.7, 40_000
    parents = np.zeros((count, d))
    steps = SubspaceSteps(basis, (scale,))(parents, rng)[count:]
    covariance = steps.T @ steps / count
    assert np.trace(covariance) == pytest.approx(scale**2, rel=0.05)
    toward = basis.T @ rng.normal(size=lam)
    assert np.trace(covariance) * toward @ toward / (toward @ covariance @ toward) == pytest.approx(lam, rel=0.08)


def test_parents_come_first_and_every_scale_once():
    rng = seeded(5)
    parents = rng.normal(size=(4, 2))
    candidates = SubspaceSteps(PLANE, (1.0, 1e-9))(parents, rng)
    assert candidates.shape == (12, 2)
    assert (candidates[:4] == parents).all()
    assert np.abs(candidates[4:8] - parents).max() > 0.1
    assert np.abs(candidates[8:] - parents).max() < 1e-7


def test_a_curve_is_walked_at_unit_speed_and_ends():
    curve = CurveSteps(np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 2.0]]), 100.0, 5)
    assert curve.length == 5.0
    assert curve.in_plane(np.array([[0.0], [1.0], [2.0], [3.5], [5.0]])).tolist() == [
        [0, 0],
        [0, 1],
        [0, 2],
        [1.5, 2],
        [3, 2],
    ]
    candidates = curve(np.array([[1.0], [4.0]]), seeded(6))
    assert candidates.shape == (12, 1)
    assert candidates[:2, 0].tolist() == [1.0, 4.0]
    assert set(candidates[2:, 0].tolist()) >= {0.0, 5.0}


def test_balls_are_filled_evenly():
    points = ball(20_000, subspace(3, 6, seeded(7)), 2.0, seeded(8))
    radii = np.linalg.norm(points, axis=1)
    assert radii.max() <= 2.0 + 1e-12
    assert (radii <= 1.0).mean() == pytest.approx(1 / 8, abs=0.012)
    assert np.linalg.matrix_rank(points) == 3


def test_clusters_lie_as_far_apart_as_stated():
    world = clustered((300, 200, 100), (2, 2, 1), scales=(0.1,), size=5, rounds=1, stddev=0.0, seed=0)
    parts = np.split(world.records, [300, 500])
    gaps = [np.linalg.norm(a[:, None] - b, axis=2).min() for a, b in pairwise(parts)]
    assert min(gaps) >= SEPARATION
    assert max(np.linalg.norm(a[:, None] - a, axis=2).max() for a in parts) <= 1.0
    assert near(world.start, 3).tolist() == [True] * 3
    assert near(world.start[:2], 3).tolist() == [True, False, False]
    edge = centres(3)[:1] + np.array([0.5 + SEPARATION / 8.0, 0.0])
    assert near(edge, 3)[0]
    assert not near(edge + 1e-9, 3)[0]


def test_rank_takes_the_largest_and_gape_one_of_each_cluster():
    points = np.array([[0.0, 0.0], [0.1, 0.0], [0.2, 0.0], [9.0, 0.0]])
    votes = np.array([30.0, 25.0, 20.0, 15.0])
    given = {"size": 2, "units": 90, "stddev": 0.0, "rng": seeded(9)}
    assert rank(points, votes, **given).tolist() == [0, 1]
    assert 3 in gape(points, votes, **given).tolist()


def test_draws_follow_the_votes_above_the_threshold():
    points = np.arange(4.0)[:, None]
    votes = np.array([30.0, 10.0, 1.0, -5.0])
    given = {"size": 20_000, "units": 36, "stddev": 1.0, "rng": seeded(10)}
    shares = np.bincount(subsample(points, votes, **given), minlength=4) / 20_000
    assert shares[:2] == pytest.approx([0.75, 0.25], abs=0.02)
    assert shares[2:].tolist() == [0, 0]
    for name, chosen in SELECTIONS.items():
        assert len(chosen(points, np.array([-1.0, 0.0, -3.0, 0.0]), **given)) >= 1, name


def test_the_projection_is_of_the_votes_over_the_records():
    points = np.array([[0.0], [1.0], [10.0]])
    votes = np.array([60.0, -20.0, 60.0])
    given = {"size": 20_000, "units": 100, "stddev": 1.0, "rng": seeded(11)}
    shares = np.bincount(projection(points, votes, **given), minlength=3) / 20_000
    assert shares == pytest.approx([0.4, 0.0, 0.6], abs=0.02)


def test_a_power_law_is_found_and_its_scatter_told():
    x = np.array([2.0, 4.0, 8.0, 16.0])
    assert exponent(x, 3.0 * x**-2) == pytest.approx((-2.0, 0.0), abs=1e-9)
    bent = np.log(x) * 0.5 + np.array([0.1, -0.1, -0.1, 0.1])
    gaps = np.log(x) - np.log(x).mean()
    assert exponent(x, np.exp(bent)) == pytest.approx((0.5, (0.04 / 2 / (gaps @ gaps)) ** 0.5), abs=1e-9)
