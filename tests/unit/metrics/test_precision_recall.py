import numpy as np
import pytest

from evomix import metrics
from evomix.core.errors import SpecError
from evomix.metrics.balls import holds_a_point, lies_in_a_ball, squared_radii

ALL = (metrics.precision, metrics.recall, metrics.synthetic_recall)


def squares(x, y):
    return ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)


def radii_by_definition(points, k):
    gaps = squares(points, points)
    np.fill_diagonal(gaps, np.inf)
    return np.sort(gaps, axis=1)[:, k - 1]


def by_definition(measure, real, made, k):
    if measure is metrics.synthetic_recall:
        return (squares(real, made) <= radii_by_definition(made, k)[None, :]).any(axis=1).mean()
    inside = squares(real, made) <= radii_by_definition(real, k)[:, None]
    return inside.any(axis=0 if measure is metrics.precision else 1).mean()


def random_sets(seed):
    """Small sets, every other one on a grid: then there are duplicates, radii of 0 and points on edges."""
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(5, 40), rng.integers(5, 40), rng.integers(1, 5)
    if seed % 2:
        return rng.integers(0, 4, (n, d)).astype(float), rng.integers(0, 5, (m, d)).astype(float)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)) + 0.5


def test_by_hand():
    real = [[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]]  # radii with k = 1: 3, 4, 3
    made = [[0.0, 3.0], [3.0, 8.0], [100.0, 0.0], [-3.0, -0.1]]
    assert metrics.precision(real, made, k=1) == 0.5, "on two edges, and just beyond one"
    assert metrics.recall(real, made, k=1) == pytest.approx(2 / 3), "(3, 0) has no synthetic point within 3"
    assert metrics.synthetic_recall(real, [[0.0, 0.0], [0.0, 1.0]], k=1) == pytest.approx(1 / 3)


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("seed", range(30))
def test_equal_to_the_definition(measure, seed):
    real, made = random_sets(seed)
    for k in (1, 3, 4):
        assert measure(real, made, k=k) == by_definition(measure, real, made, k)


def test_a_ball_that_counts_its_centre_as_a_neighbour_would_be_noticed():
    rng = np.random.default_rng(2)
    real, made = rng.normal(size=(100, 4)), rng.normal(size=(100, 4)) + 0.3
    wrong = squares(real, made) <= np.sort(squares(real, real), axis=1)[:, 2, None]  # k = 3 with the point itself
    assert metrics.recall(real, made, k=3) != wrong.any(axis=1).mean()
    assert metrics.precision(real, made, k=3) != wrong.any(axis=0).mean()


def test_the_nearest_centre_alone_does_not_tell_whether_a_point_is_in_a_ball():
    real = np.array([[0.0], [0.1], [5.0], [12.0]])
    made = np.array([[0.8]])  # nearest to 0.1 with radius 0.1; 5 reaches 4.9 far
    assert metrics.precision(real, made, k=1) == 1.0


def test_two_far_points_game_the_usual_recall_and_not_this_one():
    real = np.random.default_rng(1).normal(size=(300, 5))
    far = np.array([[1e4] * 5, [-1e4] * 5])
    assert metrics.synthetic_recall(real, far, k=1) == 1.0
    assert metrics.recall(real, far) == 0.0
    assert metrics.precision(real, far) == 0.0


@pytest.mark.parametrize("measure", ALL)
def test_rotating_moving_scaling_and_reordering_change_nothing(measure):
    rng = np.random.default_rng(3)
    real, made = rng.normal(size=(120, 6)), rng.normal(size=(90, 6)) + 0.4
    rotation, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    found = measure(real, made)
    assert 0.0 < found < 1.0
    assert measure(real @ rotation, made @ rotation) == found
    assert measure(real + 17.0, made + 17.0) == found
    assert measure(real * 1e-9, made * 1e-9) == found
    assert measure(real[rng.permutation(120)], made[rng.permutation(90)]) == found


@pytest.mark.parametrize("measure", ALL)
def test_edges_hold_after_a_rotation(measure):
    """On a grid many points lie on edges, where rounding must not decide."""
    grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3)
    rotation, _ = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))
    outside = grid + np.array([4.0, 0.0, 0.0])
    found = measure(grid, outside, k=3)
    assert 0.0 < found < 1.0
    assert measure(grid @ rotation, outside @ rotation, k=3) == found


@pytest.mark.parametrize("measure", ALL)
def test_equal_sets_score_one(measure):
    same = np.random.default_rng(5).normal(size=(50, 3))
    assert measure(same, same) == 1.0
    assert measure(np.ones((9, 2)), np.ones((7, 2))) == 1.0, "all points are one, balls of radius 0 hold it"
    assert measure(np.ones((9, 2)), np.ones((7, 2)) + 1e-7) == 0.0


def test_one_synthetic_point_is_enough_where_real_points_draw_the_balls():
    real = np.arange(5.0)[:, None]
    assert metrics.precision(real, [[2.0]]) == 1.0
    assert metrics.recall(real, [[2.0]]) == 1.0
    assert metrics.recall(real, [[2.0]], k=1) == 0.6
    with pytest.raises(SpecError, match="synthetic points"):
        metrics.synthetic_recall(real, [[2.0]], k=1)


@pytest.mark.parametrize("seed", range(5))
def test_balls_of_very_different_sizes(seed):
    rng = np.random.default_rng(seed)
    centres, points = rng.normal(size=(200, 4)), rng.normal(size=(150, 4))
    points[:60] = centres[rng.integers(0, 200, 60)] + rng.normal(size=(60, 4)) * 10.0 ** rng.uniform(-9, 0, (60, 1))
    squared = np.where(rng.random(200) < 0.2, 0.0, 10.0 ** rng.uniform(-16, -1, 200))
    squared[0], centres[0] = 1e8, 1e4 + 10.0
    inside = squares(centres, points) <= squared[:, None]
    assert np.array_equal(lies_in_a_ball(points, centres, squared), inside.any(axis=0))
    assert np.array_equal(holds_a_point(centres, squared, points), inside.any(axis=1))
    assert 0.0 < inside.any(axis=0).mean() < 1.0


def test_copies_beside_one_enormous_ball_are_found():
    """Radii of 0 beside one of 10⁸: the lifted coordinates round by more than the small balls are wide."""
    rng = np.random.default_rng(6)
    centres = np.vstack([rng.normal(size=(400, 8)), np.full((1, 8), 1e9)])
    squared = np.append(np.zeros(400), 1e16)
    points = np.vstack([centres[:200], centres[:200] + 1e-6])
    assert lies_in_a_ball(points, centres, squared).tolist() == [True] * 200 + [False] * 200


def test_radii_of_many_duplicates():
    points = np.repeat(np.arange(3.0), [6, 2, 1])[:, None]
    assert squared_radii("real", points, 5).tolist() == [0.0] * 6 + [1.0] * 2 + [4.0]


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize(
    ("real", "made", "k", "message"),
    [
        (np.ones((4, 2)), np.ones((4, 2)), 4, "k below the number of .* points, 4"),
        (np.ones((4, 2)), np.ones((4, 2)), 0, "k=0"),
        (np.ones((4, 2)), np.ones((4, 2)), 1.5, r"k=1\.5"),
        (np.ones((4, 2)), np.ones((4, 2)), True, "k=True"),
        (np.ones((4, 2)), np.ones((4, 3)), 1, "dimension 2, got dimension=3"),
        (np.ones((4, 2)), np.array([[1.0, np.nan]] * 4), 1, "finite coordinates"),
        (np.array([[np.inf, 1.0]] * 4), np.ones((4, 2)), 1, "finite coordinates"),
        (np.ones((0, 2)), np.ones((4, 2)), 1, r"shape=\(0, 2\)"),
        (np.ones((4, 2)), np.ones(4), 1, r"shape=\(4,\)"),
        (np.ones((4, 0)), np.ones((4, 0)), 1, r"shape=\(4, 0\)"),
        (np.array([["a"]] * 4), np.ones((4, 1)), 1, "type=<U1"),
    ],
)
def test_refusals_say_what_was_found(measure, real, made, k, message):
    with pytest.raises(SpecError, match=message):
        measure(real, made, k=k)
