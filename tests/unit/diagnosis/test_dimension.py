import numpy as np
import pytest
from point_worlds import subspace

from evomix.diagnosis.dimension import components, correlation_dimension, participation_ratio


def cloud(generator, dimension, *, points=100, count=64, seed=1):
    rng = np.random.default_rng(seed)
    parents = np.zeros((points * count, dimension))
    return generator.vary(parents, 1.0, rng).reshape(points, count, dimension)


@pytest.mark.parametrize(("rank", "dimension"), [(1, 5), (5, 5), (4, 60), (150, 150)])
def test_the_participation_ratio_is_the_rank_of_equal_variances(rank, dimension):
    found = participation_ratio(cloud(subspace(rank, dimension), dimension))
    assert np.median(found) == pytest.approx(rank, rel=0.05)


def test_the_ratio_of_a_sample_covariance_would_be_too_small():
    points = cloud(subspace(150, 150), 150, points=10)
    gaps = points - points.mean(axis=1, keepdims=True)
    spectra = np.linalg.svd(gaps, compute_uv=False) ** 2
    naive = spectra.sum(axis=1) ** 2 / (spectra**2).sum(axis=1)
    assert np.median(naive) < 60  # what the unbiased figure must not be


def test_unequal_variances_count_less():
    points = np.random.default_rng(0).standard_normal((200, 64, 3)) * [3.0, 1.0, 1.0]
    assert np.median(participation_ratio(points)) == pytest.approx(11**2 / 83, rel=0.08)


def test_components_hold_ninety_percent():
    points = np.random.default_rng(0).standard_normal((40, 64, 4)) * np.sqrt([60.0, 25.0, 10.0, 5.0])
    assert components(points) == 3
    assert components(points, share=0.5) == 1
    assert components(points, share=1.0) == 4
    assert components(cloud(subspace(3, 300), 300, points=2)) == 3  # more coordinates than variations
    assert components(np.ones((2, 5, 3))) == 0


def test_the_means_of_the_points_are_no_component():
    points = np.random.default_rng(0).standard_normal((40, 64, 3)) * [1.0, 0.01, 0.01]
    away = points + 1000.0 * np.random.default_rng(1).standard_normal((40, 1, 3))
    assert components(away) == components(points) == 1


@pytest.mark.parametrize(("rank", "least", "most"), [(1, 0.85, 1.15), (2, 1.7, 2.2), (5, 3.8, 5.0)])
def test_the_correlation_dimension_of_a_subspace(rank, least, most):
    assert least < np.median(correlation_dimension(cloud(subspace(rank, 20), 20))) < most


def test_a_bent_curve_is_one_dimensional_though_it_fills_a_plane():
    angles = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, (100, 64))
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=2)
    assert np.median(correlation_dimension(circle)) == pytest.approx(1.0, abs=0.15)
    assert np.median(participation_ratio(circle)) == pytest.approx(2.0, abs=0.1)


def test_points_without_a_dimension():
    alike = np.ones((1, 8, 3))
    corners = np.tile(np.eye(4), (1, 3, 1))  # copies, and one distance only
    for points in (alike, corners):
        assert np.isnan(correlation_dimension(points)).all()
    assert np.isnan(participation_ratio(alike)).all()
    # Differences that are all at right angles show no end of the dimensions.
    assert np.isposinf(participation_ratio(np.eye(8)[np.newaxis])).all()
