import numpy as np
import pytest

from evomix.diagnosis.effective_rank import anticoncentration, shares


def clouds(pairs, count, deviations, *, seed=0):
    """Normal points with these standard deviations by coordinate, about a mean that is not 0."""
    rng = np.random.default_rng(seed)
    return 7.0 + rng.standard_normal((pairs, count, len(deviations))) * deviations


def along(axis, *, pairs, dimension):
    return np.tile(np.eye(dimension)[axis], (pairs, 1))


@pytest.mark.parametrize(("deviations", "axis", "rank"), [([1] * 6, 0, 6), ([2, 1, 1], 0, 1.5), ([2, 1, 1], 1, 6)])
def test_the_rank_of_a_known_covariance(deviations, axis, rank):
    found = shares(clouds(400, 64, deviations), along(axis, pairs=400, dimension=len(deviations)))
    assert np.median(found.rank) == pytest.approx(rank, rel=0.06)
    assert found.share.mean() == pytest.approx(1 / rank, rel=0.05)


def test_isotropic_variations_have_the_same_rank_in_a_slanted_direction():
    rng = np.random.default_rng(1)
    slanted = rng.standard_normal((300, 40))
    slanted /= np.linalg.norm(slanted, axis=1, keepdims=True)
    found = shares(clouds(300, 64, [1.0] * 40), slanted)
    assert np.median(found.rank) == pytest.approx(40, rel=0.08)


def test_a_direction_without_variance_is_out_of_reach_and_one_that_has_all_of_it_has_rank_one():
    points = clouds(3, 16, [1, 1, 0]) + np.array([0, 0, 1e-9]) * np.random.default_rng(0).random((3, 16, 1))
    assert np.isposinf(shares(points, along(2, pairs=3, dimension=3)).rank).all()
    assert shares(clouds(3, 16, [1, 0]), along(0, pairs=3, dimension=2)).rank.tolist() == [1.0, 1.0, 1.0]


def test_the_jackknife_takes_the_bias_out():
    deviations = [1.0, 3.0]
    points, direction = clouds(60_000, 5, deviations), along(1, pairs=60_000, dimension=2)
    gaps = points - points.mean(axis=1, keepdims=True)
    plain = (gaps[:, :, 1] ** 2).sum(axis=1) / (gaps**2).sum(axis=(1, 2))
    assert abs(plain.mean() - 0.9) > 0.02  # the uncorrected share must fail, or this test shows nothing
    assert shares(points, direction).share.mean() == pytest.approx(0.9, abs=0.01)


def test_the_error_of_a_share_is_the_one_it_has():
    found = shares(clouds(3000, 64, [1.0] * 5), along(0, pairs=3000, dimension=5))
    assert found.error.mean() == pytest.approx(found.share.std(), rel=0.1)


def test_points_that_do_not_vary_have_no_rank():
    found = shares(np.ones((2, 8, 3)), along(0, pairs=2, dimension=3))
    assert np.isnan(found.share).all()


def test_one_variation_that_moved_is_enough():
    points = np.zeros((1, 8, 2))
    points[0, 3, 0] = 1.0
    assert shares(points, along(0, pairs=1, dimension=2)).rank.tolist() == [1.0]


def test_a_normal_law_has_its_constant():
    points = clouds(1, 60_000, [3.0, 1.0])
    found = anticoncentration(np.array([[7.0, 7.0]]), points, along(0, pairs=1, dimension=2))
    assert found[0] == pytest.approx(0.1855, abs=0.01)  # the square of its upper third, 0.4307


@pytest.mark.parametrize(
    ("steps", "constant"),
    [
        ([1, -1] * 6, 11 / 12),  # a half goes one standard deviation; the sample's variance is 12/11
        ([3] * 3 + [-1] * 9, 0.0),  # a quarter goes towards the target, which is less than a third
        ([2] * 4 + [-1] * 8, 2 * 11 / 12),  # exactly a third does
        ([5] * 6 + [4, 6] * 3, 2.0),  # all go: the definition stops at 2
        ([0] * 12, 0.0),
    ],
)
def test_the_constant_is_the_largest_that_a_third_of_the_variations_reach(steps, constant):
    points = np.array(steps, dtype=np.float64).reshape(1, 12, 1)
    assert anticoncentration(np.zeros((1, 1)), points, np.ones((1, 1)))[0] == pytest.approx(constant)
