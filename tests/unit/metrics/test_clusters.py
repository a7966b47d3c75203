import numpy as np
import pytest

from evomix import metrics
from evomix.core.errors import SpecError

CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])


def test_by_hand():
    points = [[0.5, 0.0], [0.0, 1.0], [10.0, 0.6], [0.0, 7.0]]
    found = metrics.cluster_coverage(points, CENTRES, 1.0, masses=[2, 1, 1])
    assert found.names.tolist() == [0, 1, 2]
    assert found.covered.tolist() == [True, True, False], "the edge counts"
    assert found.share == pytest.approx(2 / 3)
    assert found.masses.tolist() == [0.5, 0.25, 0.0]
    assert found.errors.tolist() == [0.0, 0.0, -0.25]
    assert found.outside == 0.25
    assert found.mass_distance == 0.25


def test_radii_of_their_own_and_unknown_masses():
    points = [[2.0, 0.0], [8.0, 0.0]]
    found = metrics.cluster_coverage(points, CENTRES, [1.0, 2.0, 50.0])
    assert found.covered.tolist() == [False, True, True], "within 50 of the third, though no nearest"
    assert found.masses.tolist() == [0.0, 0.5, 0.0], "each point belongs to one cluster at most"
    assert np.isnan(found.errors).all()
    assert np.isnan(found.mass_distance)
    assert metrics.cluster_coverage([[0.0, 0.0]], CENTRES, 0.0).covered.tolist() == [True, False, False]


@pytest.mark.parametrize("seed", range(10))
def test_equal_to_the_definition(seed):
    rng = np.random.default_rng(seed)
    points, centres = rng.integers(0, 6, (40, 2)).astype(float), rng.integers(0, 6, (7, 2)).astype(float)
    radii = rng.integers(0, 3, 7).astype(float)
    gaps = np.sqrt(((points[:, None] - centres[None]) ** 2).sum(axis=2))
    found = metrics.cluster_coverage(points, centres, radii)
    assert found.covered.tolist() == (gaps <= radii).any(axis=0).tolist()
    owner = gaps.argmin(axis=1)
    masses = [np.mean((owner == c) & (gaps[:, c] <= radii[c])) for c in range(7)]
    assert found.masses == pytest.approx(masses)
    assert found.outside == pytest.approx(1.0 - sum(masses))


def test_moving_and_rotating_change_nothing():
    rng = np.random.default_rng(1)
    points, centres = rng.normal(size=(50, 4)), rng.normal(size=(8, 4))
    rotation, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    before = metrics.cluster_coverage(points, centres, 1.1)
    after = metrics.cluster_coverage(points @ rotation + 3.0, centres @ rotation + 3.0, 1.1)
    assert after.covered.tolist() == before.covered.tolist()
    assert 0.0 < before.share < 1.0
    assert after.masses == pytest.approx(before.masses)


def test_labels():
    real = [[0.0], [1.0], [10.0], [11.0], [20.0]]
    labels = ["b", "b", "a", "a", "c"]
    found = metrics.label_coverage(real, labels, [[0.4], [0.6], [9.0], [100.0]])
    assert found.names.tolist() == ["a", "b", "c"]
    assert found.masses.tolist() == [0.25, 0.5, 0.25]
    assert found.errors == pytest.approx([-0.15, 0.1, 0.05])
    assert found.share == 1.0
    near = metrics.label_coverage(real, labels, [[0.4], [0.6], [9.0], [100.0]], radius=1.0)
    assert near.covered.tolist() == [True, True, False]
    assert near.outside == 0.25
    assert metrics.label_coverage(real, np.array([5, 5, 2, 2, 7]), real).mass_distance == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.cluster_coverage([[0.0]], CENTRES, 1.0), "dimension 1, got dimension=2"),
        (lambda: metrics.cluster_coverage(CENTRES, CENTRES, -1.0), r"radius=-1\.0"),
        (lambda: metrics.cluster_coverage(CENTRES, CENTRES, np.nan), "radius=nan"),
        (lambda: metrics.cluster_coverage(CENTRES, CENTRES, [1.0, 2.0]), "one for each of 3"),
        (lambda: metrics.cluster_coverage(CENTRES, CENTRES, 1.0, masses=[1.0]), r"masses of shape \(3,\)"),
        (lambda: metrics.cluster_coverage(CENTRES, CENTRES, 1.0, masses=[0, 0, 0]), "sum above 0"),
        (lambda: metrics.cluster_coverage(np.zeros((0, 2)), CENTRES, 1.0), "n ≥ 1"),
        (lambda: metrics.label_coverage(CENTRES, ["a"], CENTRES), r"labels of shape \(3,\)"),
        (lambda: metrics.label_coverage(CENTRES, [["a"], ["a", "b"], []], CENTRES), "labels"),
        (lambda: metrics.label_coverage(CENTRES, ["a", None, "b"], CENTRES), "words"),
        (lambda: metrics.label_coverage(CENTRES, ["a", "b", "c"], CENTRES, radius="1"), "radius"),
        (lambda: metrics.cluster_coverage(CENTRES, CENTRES, 1j), "radius"),
        (lambda: metrics.cluster_coverage(CENTRES, CENTRES, [[1.0], [1.0, 2.0]]), "radius"),
        (lambda: metrics.label_coverage(CENTRES, [1.0, 2.0, np.nan], CENTRES), "whole numbers or words"),
        (lambda: metrics.label_coverage(CENTRES, list("abc"), CENTRES, radius=-2), "radius=-2"),
    ],
)
def test_refusals_say_what_was_found(call, message):
    with pytest.raises(SpecError, match=message):
        call()
