import numpy as np
import pytest

from evomix.diagnosis.contraction import contraction, rounds_needed

HALVES = 0.5 ** np.arange(5.0)


def test_the_factor_of_a_curve_that_falls_evenly():
    assert contraction(HALVES, 0.0) == pytest.approx(0.5)
    assert contraction(np.stack([HALVES, 3.0 * HALVES**2]), np.zeros(2)) == pytest.approx([0.5, 0.25])


def test_rounds_beyond_the_goal_do_not_count():
    curve = np.array([1.0, 0.5, 0.25, 0.25, 0.25])
    assert contraction(curve, 0.3) == pytest.approx(0.5)
    assert contraction(curve, 0.0) == pytest.approx(0.25**0.25)
    assert contraction(curve, 2.0) == pytest.approx(0.25**0.25)  # there from the start: all rounds


def test_curves_at_their_end():
    assert contraction(np.array([1.0, 0.0]), 0.0) == 0.0
    assert np.isnan(contraction(np.zeros(3), 0.0))
    assert contraction(np.array([1.0, 1.1]), 0.0) == 1.0


def test_rounds_that_were_seen_and_rounds_that_are_foretold():
    assert rounds_needed(HALVES, 0.25) == 2
    assert rounds_needed(HALVES, 5.0) == 0
    assert rounds_needed(HALVES, 0.25 / 1.1 * 0.999) == 3
    assert rounds_needed(HALVES, 2.0**-10) == 10  # 1.1 of it comes before the tenth, after the ninth
    assert rounds_needed(np.array([8.0, 1.0, 0.5, 0.25]), 0.05) == 6  # only the last half goes on: × ½ a round


def test_no_end_in_sight():
    assert rounds_needed(np.array([1.0, 0.9, 0.9, 0.9]), 0.1) is None
    assert rounds_needed(HALVES, 0.0) is None
    assert rounds_needed(np.array([1.0, 0.9985]), 0.1) is None  # 1500 rounds
