import numpy as np
import pytest
from scipy.linalg import sqrtm

from evomix import metrics
from evomix.core.errors import SpecError


def with_moments(n, mean, covariance, seed):
    """Points with exactly this mean and covariance; ``covariance`` may be singular."""
    rng = np.random.default_rng(seed)
    white = rng.normal(size=(n, len(mean)))
    white -= white.mean(axis=0)
    white = np.linalg.qr(white)[0] * np.sqrt(n - 1)
    values, vectors = np.linalg.eigh(covariance)
    return white @ (vectors * np.sqrt(np.maximum(values, 0.0))).T + mean


def random_covariance(k, seed):
    root = np.random.default_rng(seed).normal(size=(k, k))
    return root @ root.T / k


def test_closed_form_of_diagonal_gaussians():
    a, b = np.array([1.0, 4.0, 0.25]), np.array([9.0, 1.0, 0.0])
    means = np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 0.0])
    x, y = with_moments(40, means[0], np.diag(a), 1), with_moments(25, means[1], np.diag(b), 2)
    expected = ((means[0] - means[1]) ** 2).sum() + ((np.sqrt(a) - np.sqrt(b)) ** 2).sum()
    assert metrics.frechet(x, y) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_the_root_of_the_product(seed):
    a, b = random_covariance(6, seed), random_covariance(6, seed + 100)
    x, y = with_moments(50, np.zeros(6), a, seed), with_moments(60, np.ones(6), b, seed + 1)
    expected = 6.0 + np.trace(a + b - 2.0 * np.real(sqrtm(a @ b)))
    assert metrics.frechet(x, y) == pytest.approx(expected, rel=1e-8)
    # The roots one by one agree with it only where covariances commute.
    wrong = 6.0 + np.trace(a + b - 2.0 * np.real(sqrtm(a) @ sqrtm(b)))
    assert metrics.frechet(x, y) != pytest.approx(wrong, rel=1e-3)


def test_one_dimension_and_the_divisor():
    x, y = np.array([[0.0], [2.0]]), np.array([[5.0], [9.0]])
    assert metrics.frechet(x, y) == pytest.approx(36.0 + (np.sqrt(2.0) - np.sqrt(8.0)) ** 2)


def test_fewer_points_than_dimensions():
    """Two planes at right angles share nothing; one plane twice shares everything."""
    rng = np.random.default_rng(3)
    x, y = np.zeros((20, 300)), np.zeros((30, 300))
    x[:, :2], y[:, 2:4] = rng.normal(size=(20, 2)), rng.normal(size=(30, 2))
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    traces = x.var(axis=0, ddof=1).sum() + y.var(axis=0, ddof=1).sum()
    assert metrics.frechet(x, y) == pytest.approx(traces, rel=1e-10)
    assert metrics.frechet(x, x + 1.0) == pytest.approx(300.0, rel=1e-10)
    wide = rng.normal(size=(12, 400))
    assert metrics.frechet(wide, wide * 2.0) == pytest.approx(
        (wide.mean(axis=0) ** 2).sum() + wide.var(axis=0, ddof=1).sum(), rel=1e-9
    )


def test_never_negative_and_nothing_for_equal_sets():
    rng = np.random.default_rng(4)
    for n, k in ((5, 40), (40, 5), (2, 1), (30, 30)):
        x = rng.normal(size=(n, k)) * 10.0 ** rng.uniform(-8, 4, k)
        found = metrics.frechet(x, x[rng.permutation(n)])
        assert 0.0 <= found <= 1e-10 * x.var(axis=0).sum()
    assert metrics.frechet(np.ones((3, 2)), np.ones((5, 2))) == 0.0


def test_invariances():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(50, 4)), rng.normal(size=(70, 4)) * [1, 2, 3, 4]
    rotation, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    found = metrics.frechet(x, y)
    assert metrics.frechet(y, x) == pytest.approx(found)
    assert metrics.frechet(x @ rotation + 3.0, y @ rotation + 3.0) == pytest.approx(found)
    assert metrics.frechet(x[::-1] * 10.0, y * 10.0) == pytest.approx(100.0 * found), "a squared distance"


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.ones((1, 2)), np.ones((3, 2)), "two points in x"),
        (np.ones((3, 2)), np.ones((1, 2)), "two points in y"),
        (np.ones((3, 2)), np.ones((3, 1)), "dimension 2, got dimension=1"),
        (np.ones((3, 2)), np.full((3, 2), np.nan), "finite coordinates in y|finite coordinates of"),
    ],
)
def test_refusals_say_what_was_found(x, y, message):
    with pytest.raises(SpecError, match=message):
        metrics.frechet(x, y)
