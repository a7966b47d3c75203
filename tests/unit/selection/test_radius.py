import math

import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.selection.radius import FACTOR, cluster_radius


def two_clusters(rng):
    return np.concatenate([rng.normal(size=(300, 4)), 100.0 + rng.normal(size=(100, 4))])


def test_radius_is_set_by_the_spread_within_clusters_not_between_them():
    rng = np.random.default_rng(0)
    radius = cluster_radius(two_clusters(rng), 20, rng)
    assert FACTOR * 0.5 < radius < FACTOR * 10.0
    assert cluster_radius(two_clusters(rng), 1, rng) > FACTOR * 50.0


def test_radius_scales_with_the_points_and_ignores_their_place():
    points = two_clusters(np.random.default_rng(0))
    here = cluster_radius(points, 20, np.random.default_rng(1))
    there = cluster_radius(4.0 * points + 64.0, 20, np.random.default_rng(1))
    assert there == pytest.approx(4.0 * here, rel=1e-6)


def test_every_point_its_own_centre_truncates_nothing():
    points = np.repeat(np.eye(3), 5, axis=0)
    assert cluster_radius(points, 3, np.random.default_rng(0)) == math.inf
    assert cluster_radius(points[:1], 7, np.random.default_rng(0)) == math.inf
    assert cluster_radius(points, 2, np.random.default_rng(0)) < math.inf


def test_many_points_take_random_centres_and_stay_near_the_fitted_ones(monkeypatch):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2000, 8))
    fitted = cluster_radius(points, 200, np.random.default_rng(2))
    monkeypatch.setattr("evomix.selection.radius._MOST_PRODUCTS", 0.0)
    plain = cluster_radius(points, 200, np.random.default_rng(2))
    assert fitted <= 1.2 * plain
    assert plain <= 2.0 * fitted


def test_lists_are_taken_and_the_scale_is_the_points_own():
    assert cluster_radius([[0.0], [2.0], [9.0]], 1, np.random.default_rng(0)) == pytest.approx(160.0 / 3.0)
    points = np.round(16.0 * two_clusters(np.random.default_rng(0)))
    here = cluster_radius(points, 20, np.random.default_rng(1))
    for power in (-1074, -700, -140, 0, 60, 400):
        there = cluster_radius(np.ldexp(points, power), 20, np.random.default_rng(1))
        assert there == pytest.approx(math.ldexp(here, power), rel=0.02), power  # the smallest floats are coarse
    for power in (-149, -100, 60, 110):
        single = np.ldexp(points.astype(np.float32), power)
        there = cluster_radius(single, 20, np.random.default_rng(1))
        assert there == pytest.approx(math.ldexp(here, power), rel=0.02), power


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("far", [1e6, 1e12, 1e30])
def test_points_that_k_means_cannot_tell_apart_raise_no_warning(kind, far):
    points = np.random.default_rng(0).normal(size=(400, 8))
    points[:5] *= far
    assert 0.0 < cluster_radius(points.astype(kind), 40, np.random.default_rng(0)) < math.inf


@pytest.mark.parametrize(("points", "size"), [(np.empty((0, 2)), 1), (np.ones((3, 2)), 0), (np.ones(3), 1)])
def test_bad_arguments_are_refused(points, size):
    with pytest.raises(SpecError, match="expected points" if size else "size"):
        cluster_radius(points, size, np.random.default_rng(0))
