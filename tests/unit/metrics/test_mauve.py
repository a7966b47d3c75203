import importlib

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import beta

from evomix import metrics
from evomix.core.errors import SpecError
from evomix.metrics.mauve import frontier_area

module = importlib.import_module("evomix.metrics.mauve")  # the package has a function of this name


def area_by_quadrature(p, q):
    """∫ up d(across) over mixtures, plus what lies left of the curve's upper end at height 1."""

    def ends(share):
        mixed = share * p + (1 - share) * q
        return np.exp(-5 * (q * np.log(q / mixed)).sum()), np.exp(-5 * (p * np.log(p / mixed)).sum())

    def slope(share):
        mixed = share * p + (1 - share) * q
        return -5 * ends(share)[0] * (q * (q - p) / mixed).sum()

    return ends(1.0)[0] + quad(lambda share: -ends(share)[1] * slope(share), 0.0, 1.0, epsabs=1e-10)[0]


@pytest.mark.parametrize("seed", range(8))
def test_the_area_is_the_integral(seed):
    rng = np.random.default_rng(seed)
    p, q = (share / share.sum() for share in rng.gamma(0.3 + seed % 3, size=(2, 12)) + 1e-4)
    found = frontier_area(p, q)
    assert found == pytest.approx(area_by_quadrature(p, q), abs=2e-4)
    assert frontier_area(q, p) == pytest.approx(found, abs=1e-9)


def test_the_area_of_distributions_without_overlap():
    """There ``across`` is (1 − λ)^c and ``up`` is λ^c; with the divergences exchanged it would be another curve."""
    e = 1e-12
    found = frontier_area(np.array([1 - e, e]), np.array([e, 1 - e]))
    assert found == pytest.approx(5.0 * beta(6, 5), rel=1e-3)
    assert frontier_area(np.array([0.3, 0.7]), np.array([0.3, 0.7])) == pytest.approx(1.0)


def test_near_sets_score_more_than_far_ones():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(600, 3))
    scores = [metrics.mauve(x, rng.normal(size=(600, 3)) + shift) for shift in (0.0, 0.5, 1.0, 5.0)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0.9
    assert 0.0 < scores[-1] < 0.02


def test_a_lost_cluster_costs_and_its_return_repays():
    rng = np.random.default_rng(2)
    centres = np.repeat([[0.0, 0.0], [50.0, 0.0]], [350, 150], axis=0)
    x = centres + rng.normal(size=(500, 2))
    whole = centres + rng.normal(size=(500, 2))
    lost = rng.normal(size=(500, 2))
    assert metrics.mauve(x, lost, clusters=20) < 0.7 < metrics.mauve(x, whole, clusters=20)


def test_two_cells_by_hand():
    """Cells are certain here: counts (6, 2) and (1, 7), ½ added to each."""
    x = np.repeat([[0.0], [100.0]], [6, 2], axis=0)
    y = np.repeat([[0.0], [100.0]], [1, 7], axis=0)
    smoothed = frontier_area(np.array([6.5, 2.5]) / 9, np.array([1.5, 7.5]) / 9)
    raw = frontier_area(np.array([0.75, 0.25]), np.array([0.125, 0.875]))
    assert metrics.mauve(x, y, clusters=2) == pytest.approx(smoothed, rel=1e-12)
    assert abs(smoothed - raw) > 0.05
    x, y = x + np.linspace(0, 1e-3, 8)[:, None], y + np.linspace(0, 1e-3, 8)[:, None]
    assert metrics.mauve(x, y, clusters=2) == pytest.approx(smoothed, rel=1e-12), "the same by k-means"


def test_many_dimensions_are_reduced_to_those_with_most_variance():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(300, 100)), rng.normal(size=(300, 100))
    assert metrics.mauve(x, y, clusters=5) > 0.9
    x[:, 0] *= 50.0
    y[:, 0] = y[:, 0] * 50.0 + 500.0
    assert metrics.mauve(x, y, clusters=5) < 0.02


def test_cells_are_learned_from_samples_of_large_sets(monkeypatch):
    monkeypatch.setattr(module, "_LEARN_FROM", 50)
    rng = np.random.default_rng(3)
    large, small = rng.normal(size=(5000, 2)), rng.normal([0.0, 4.0], size=(50, 2))
    assert metrics.mauve(large, small, clusters=4) < 0.2
    assert metrics.mauve(large, rng.normal(size=(5000, 2)), clusters=20) > 0.98, "all points are counted"
    with pytest.raises(SpecError, match="2 to the 100 points"):
        metrics.mauve(large, small, clusters=101)


def test_equal_sets_duplicates_and_single_points():
    x = np.random.default_rng(4).normal(size=(200, 5))
    assert metrics.mauve(x, x) == pytest.approx(1.0)
    assert metrics.mauve(x, x[::-1], seed=3) == pytest.approx(1.0)
    assert metrics.mauve(np.ones((30, 2)), np.ones((9, 2)), clusters=5) == pytest.approx(1.0), "one distinct point"
    assert 0.0 < metrics.mauve([[0.0]], [[1.0]]) < 1.0


def test_reproducible_and_unmoved_by_translation_rotation_and_dimension():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(300, 100)), rng.normal(size=(300, 100))
    x[:, :3] *= 20.0
    y[:, :3] = y[:, :3] * 20.0 + 10.0
    found = metrics.mauve(x, y)
    assert metrics.mauve(x, y) == found
    rotation, _ = np.linalg.qr(rng.normal(size=(100, 100)))
    assert metrics.mauve(x @ rotation + 2.0, y @ rotation + 2.0) == pytest.approx(found, abs=0.1)
    assert metrics.mauve(x, y, clusters=10) == pytest.approx(
        metrics.mauve(np.pad(x, ((0, 0), (0, 50))), np.pad(y, ((0, 0), (0, 50))), clusters=10), abs=0.05
    )


@pytest.mark.parametrize("clusters", [1, 7, 2.5, True])
def test_refusals_say_what_was_found(clusters):
    with pytest.raises(SpecError, match=f"clusters={clusters}"):
        metrics.mauve(np.ones((3, 2)), np.ones((3, 2)), clusters=clusters)
    with pytest.raises(SpecError, match="finite"):
        metrics.mauve(np.full((3, 2), np.nan), np.ones((3, 2)))


@pytest.mark.parametrize("seed", [-1, 1.5, "a", 2**40, None, True])
def test_wrong_seeds_are_refused(seed):
    with pytest.raises(SpecError, match="seed"):
        metrics.mauve(np.ones((3, 2)), np.ones((3, 2)), seed=seed)


def test_the_scale_is_of_no_account_and_what_k_means_confuses_raises_no_warning():
    rng = np.random.default_rng(6)
    x, y = np.round(64.0 * rng.normal(size=(300, 3))), np.round(64.0 * rng.normal(size=(300, 3)) + 64.0)
    expected = metrics.mauve(x, y)
    for power in (-1074, -600, 0, 400):
        assert metrics.mauve(np.ldexp(x, power), np.ldexp(y, power)) == pytest.approx(expected, rel=1e-9), power
    x[:5] *= 1e12
    assert 0.0 < metrics.mauve(x, y, clusters=100) < 1.0
