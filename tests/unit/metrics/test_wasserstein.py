import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from evomix import metrics
from evomix.core.errors import SpecError


@pytest.mark.parametrize("seed", range(5))
def test_on_a_line_sorted_points_go_to_sorted_points(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=150), rng.normal(size=150) * 2.0 + 1.0
    expected = np.abs(np.sort(x) - np.sort(y)).mean()
    found = metrics.wasserstein(x[:, None], y[:, None])
    assert float(found) == pytest.approx(expected, rel=1e-10)
    assert (found.exact, found.error, found.points, found.samples) == (True, 0.0, (150, 150), 1)
    assert float(found) != pytest.approx(np.abs(x - y).mean(), rel=1e-2), "points in the order given"


def test_equal_to_the_best_assignment():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(90, 5)), rng.normal(size=(90, 5)) + 0.3
    gaps = cdist(x, y)
    rows, columns = linear_sum_assignment(gaps)
    assert float(metrics.wasserstein(x, y)) == pytest.approx(gaps[rows, columns].mean(), rel=1e-10)
    assert float(metrics.wasserstein(x, y)) < cdist(x, y).min(axis=1).mean() * 3.0
    assert float(metrics.wasserstein(x, y)) > cdist(x, y).min(axis=1).mean()


def test_weights_are_repetitions():
    x, y = np.array([[0.0], [1.0], [7.0]]), np.array([[2.0], [3.0]])
    counts = [1, 2, 3]
    found = metrics.wasserstein(x, y, x_weights=counts, y_weights=[4, 2])
    repeated = metrics.wasserstein(np.repeat(x, counts, axis=0), np.repeat(y, [4, 2], axis=0))
    assert float(found) == pytest.approx(float(repeated))
    assert float(found) != pytest.approx(float(metrics.wasserstein(x, y)))
    assert float(metrics.wasserstein([[0.0], [9.0]], [[1.0]], x_weights=[1, 0])) == pytest.approx(1.0)


def test_invariances_and_degenerate_sets():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(60, 4)), rng.normal(size=(40, 4))
    rotation, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    found = float(metrics.wasserstein(x, y))
    assert float(metrics.wasserstein(y, x)) == pytest.approx(found)
    assert float(metrics.wasserstein(x @ rotation + 5.0, y @ rotation + 5.0)) == pytest.approx(found)
    assert float(metrics.wasserstein(x[::-1] * 3.0, y * 3.0)) == pytest.approx(3.0 * found)
    assert float(metrics.wasserstein(x, x)) == pytest.approx(0.0, abs=1e-12)
    assert float(metrics.wasserstein(x, x + 2.0)) == pytest.approx(4.0)
    assert float(metrics.wasserstein([[3.0, 4.0]], [[0.0, 0.0]])) == pytest.approx(5.0)
    assert float(metrics.wasserstein(np.ones((7, 2)), np.ones((3, 2)))) == pytest.approx(0.0, abs=1e-12)


def test_beyond_the_limit_disjoint_subsamples_are_averaged_and_biased_upward():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(400, 6)), rng.normal(size=(400, 6)) + 0.2
    whole = metrics.wasserstein(x, y)
    cut = metrics.wasserstein(x, y, most=80)
    assert (cut.exact, cut.points, cut.samples) == (False, (80, 80), 5)
    # The five parts cover both sets, and W1 is convex: not chance, a theorem.
    assert cut.value > whole.value
    coarser = metrics.wasserstein(x, y, most=20)
    assert coarser.value > cut.value
    assert 0.0 < cut.error < 0.2 * cut.value
    assert metrics.wasserstein(x, y, most=80) == cut
    assert metrics.wasserstein(x, y, most=80, seed=1) != cut


def test_subsamples_are_disjoint():
    """Parts that cover a set of 2 × 40 copies each hold others: with repeats they could not add up."""
    x = np.arange(80.0)[:, None]
    zero = np.zeros((1, 1))
    found = metrics.wasserstein(x, zero, most=40)
    assert (found.points, found.samples) == ((40, 1), 2)
    assert found.value == pytest.approx(x.mean()), "each point has been moved once"


@pytest.mark.parametrize(
    ("n", "m", "points", "samples"),
    [
        (50, 50, (50, 50), 1),
        (51, 50, (25, 50), 2),
        (90, 30, (45, 30), 2),
        (100, 400, (50, 50), 2),
        (900, 30, (50, 30), 5),
    ],
)
def test_how_many_points_and_samples(n, m, points, samples):
    rng = np.random.default_rng(10)
    found = metrics.wasserstein(rng.normal(size=(n, 2)), rng.normal(size=(m, 2)), most=50)
    assert (found.points, found.samples) == (points, samples)
    assert found.exact == (samples == 1)


def test_the_standard_error_is_that_of_the_mean():
    """Means over subsamples of new data scatter as the error says, within a factor that chance allows (1e-6)."""
    rng = np.random.default_rng(11)
    found = [
        metrics.wasserstein(rng.normal(size=(150, 1)), rng.normal(size=(150, 1)) + 1.0, most=30) for _ in range(120)
    ]
    scatter = np.std([measure.value for measure in found], ddof=1)
    stated = np.sqrt(np.mean([measure.error**2 for measure in found]))
    assert 0.6 < stated / scatter < 1.6  # √5 = 2.2 without the division by the root of their number


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x_weights": [1.0]}, r"x_weights of shape \(2,\)"),
        ({"x_weights": [1.0, -1.0]}, "x_weights of at least 0"),
        ({"y_weights": [0.0, 0.0]}, r"sum=0\.0"),
        ({"y_weights": [np.nan, 1.0]}, "y_weights of at least 0"),
        ({"y_weights": [np.inf, 1.0]}, "finite sum"),
        ({"most": 0}, "most=0"),
        ({"most": 2.5}, r"most=2\.5"),
        ({"most": "9"}, "most='9'"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1.5}, r"seed=1\.5"),
        ({"seed": "a"}, "seed='a'"),
        ({"seed": 2**32}, "seed=4294967296"),
        ({"seed": None}, "seed=None"),
        ({"x_weights": ["1", "1"]}, "x_weights must be an array of real numbers"),
        ({"y_weights": [[1], [1, 2]]}, "y_weights must be an array of real numbers"),
        ({"y_weights": [np.inf, -np.inf]}, "y_weights of at least 0"),
        ({"x": [[1.0], [1.0, 2.0]]}, "x must be an array of real numbers"),
        ({"x": [[1.0, np.nan], [0.0, 0.0]]}, "finite coordinates"),
        ({"y": [[1.0], [2.0]]}, "dimension 2, got dimension=1"),
        ({"x": []}, r"shape=\(0,\)"),
    ],
)
def test_refusals_say_what_was_found(arguments, message):
    given = {"x": np.ones((2, 2)), "y": np.ones((2, 2))} | arguments
    with pytest.raises(SpecError, match=message):
        metrics.wasserstein(given.pop("x"), given.pop("y"), **given)
