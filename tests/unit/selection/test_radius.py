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


@pytest.mark.parametrize(("points", "size"), [(np.empty((0, 2)), 1), (np.ones((3, 2)), 0), (np.ones(3), 1)])
def test_bad_arguments_are_refused(points, size):
    with pytest.raises(SpecError, match="expected points"):
        cluster_radius(points, size, np.random.default_rng(0))
