import numpy as np
import pytest
from point_worlds import Curve, Even

from evomix.diagnosis.reachability import Approach, approach
from evomix.diagnosis.stall import stalled

SCALES = (1.0, 0.5, 0.25, 0.125)


def share_stalled(generator, vectors, targets, start, *, rounds=12, ceiling=0.05):
    rng = np.random.default_rng(0)
    found = approach(generator, vectors, targets, start=start, scales=SCALES, rounds=rounds, rng=rng)
    return stalled(generator, vectors, found, np.full(len(targets), ceiling), variations=64, rng=rng).mean()


@pytest.fixture(scope="module")
def last_piece():
    """Records near the upper end of the curve's last piece; the start is the upper end of its first."""
    return np.random.default_rng(1).uniform(4.6, 5.0, (40, 1))


def test_a_curve_that_leads_away_first_stalls(last_piece):
    curve = Curve()
    assert share_stalled(curve, curve.plane, last_piece, np.zeros((1, 1))) == 1.0


def test_the_same_variations_do_not_stall_where_distance_goes_along_the_curve(last_piece):
    assert share_stalled(Curve(), np.asarray, last_piece, np.zeros((1, 1)), rounds=40) == 0.0


def test_on_the_right_piece_the_curve_does_not_stall(last_piece):
    curve = Curve()
    assert share_stalled(curve, curve.plane, last_piece, np.full((1, 1), 3.1), ceiling=0.01) == 0.0


@pytest.mark.parametrize(("dimension", "away"), [(2, 3.0), (20, 1.0), (200, 1.0), (200, 10.0), (1000, 5.0)])
def test_even_variations_are_slow_at_worst_and_never_stalled(dimension, away):
    rng = np.random.default_rng(0)
    targets, start = rng.standard_normal((20, dimension)), away + rng.standard_normal((20, dimension))
    assert share_stalled(Even(), np.asarray, targets, start) == 0.0


def test_a_generator_that_changes_nothing_stalls():
    class Still:
        def vary(self, parents, scale, rng):
            return parents.copy()

    targets = np.ones((5, 2), dtype=np.float32)
    assert share_stalled(Still(), np.asarray, targets, np.zeros((1, 2), np.float32)) == 1.0
    assert share_stalled(Still(), np.asarray, targets, np.zeros((1, 2), np.float32), ceiling=1.0) == 0.0  # near enough
    assert share_stalled(Still(), np.asarray, targets, targets, ceiling=0.0) == 0.0  # found exactly


def test_a_smooth_optimum_stalls_though_the_nearest_record_never_is_quite_there():
    class Circle:
        def vary(self, parents, scale, rng):
            return parents + 0.3 * scale * rng.standard_normal(parents.shape)

    def plane(angles):
        # Records are angles on a circle; targets, marked by large ones, lie outside of it.
        radius = np.where(np.abs(angles) > 50.0, 2.0, 1.0)
        return np.hstack([radius * np.cos(angles), radius * np.sin(angles)])

    targets = 32.0 * np.pi + np.random.default_rng(0).uniform(-1.0, 1.0, (20, 1))
    assert share_stalled(Circle(), plane, targets, np.zeros((1, 1)), rounds=12) == 1.0


@pytest.mark.parametrize(("last", "share"), [(0.98, 0.0), (0.995, 1.0)])
def test_a_target_that_came_nearer_in_the_last_rounds_has_not_stalled(last, share):
    class Still:
        def vary(self, parents, scale, rng):
            return parents.copy()

    curve = np.array([[3.0], [1.0], [last]])
    found = Approach(np.zeros((1, 1)), curve, np.full((1, 1), last), SCALES)
    rng = np.random.default_rng(0)
    assert stalled(Still(), np.asarray, found, np.full(1, 0.1), variations=8, rng=rng).mean() == share


def test_blocks_change_nothing(last_piece, monkeypatch):
    curve = Curve()
    monkeypatch.setattr("evomix.diagnosis.stall.ROWS", 600)
    assert share_stalled(curve, curve.plane, last_piece, np.zeros((1, 1))) == 1.0
