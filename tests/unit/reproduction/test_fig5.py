import numpy as np
import pytest

from evomix.reproduction.census import CELLS, COLUMNS, decode
from evomix.reproduction.distance_curves import GAUSSIAN, LINMIX, PUBMIX, ROW_CURVES
from evomix.reproduction.figure import NOT_COMPARABLE
from evomix.reproduction.pubmix_fig5 import (
    ALL_REAL,
    CONSTANT,
    Accuracies,
    _better_than,
    _features,
    _forest_error,
    _levels,
    pubmix_fig5,
)
from evomix.reproduction.state_pairs import chosen_pairs


@pytest.fixture(scope="module")
def made(request_quick):
    return pubmix_fig5(request_quick)


def test_levels_are_one_to_five_and_never_among_the_features():
    cells = np.arange(CELLS)
    assert set(_levels(cells).tolist()) == {1, 2, 3, 4, 5}
    assert _features(cells).shape == (CELLS, len(COLUMNS) - 1)
    assert len(np.unique(_features(cells), axis=0)) == CELLS // 5
    empty = cells[decode(cells)[:, -1] == 0]
    assert set(_levels(empty).tolist()) == {1}


def test_a_forest_learns_what_the_rows_say():
    rng = np.random.default_rng(0)
    cells = rng.choice(CELLS, size=1500)
    codes = decode(cells)
    codes[:, -1] = np.minimum(codes[:, 0], 5) - 1  # the level is decided by the first feature
    least = [column.least for column in COLUMNS]
    ruled = np.ravel_multi_index((codes - least).T, [column.levels for column in COLUMNS])
    assert _forest_error(ruled[:1000], ruled[1000:], 0) < 0.3
    assert _forest_error(rng.permutation(cells[:1000]), ruled[1000:], 0) > 1.0


def test_the_constant_is_the_mean_of_the_public_rows(made, states):
    numbers = made.numbers["pairs"][0]
    pair = chosen_pairs(states, seed=0)[0]
    mean = _levels(states.cells["AA"]).mean()
    expected = np.sqrt(np.mean((_levels(pair.held_out) - mean) ** 2))
    assert numbers["rmse_reference"][CONSTANT][0] == pytest.approx(expected)


def test_a_quick_figure_is_whole(made):
    numbers = made.numbers["pairs"][0]
    assert set(numbers["rmse"]) == set(ROW_CURVES)
    assert all(np.array(found).shape == (1, 2) for found in numbers["rmse"].values())
    assert "in place of the" in made.plots[0][1]
    ratio = np.mean(np.array(numbers["rmse_reference"][ALL_REAL]) / np.array(numbers["rmse"][PUBMIX][0]))
    assert numbers["relative_accuracy"][PUBMIX][0] == pytest.approx(ratio)
    assert [claim.supported for claim in made.claims][-1] == NOT_COMPARABLE


@pytest.mark.parametrize(
    ("other", "supported"),
    [((0.5, 0.6), True), ((0.1, 0.2), False), ((0.3, 0.4), False), ((0.2, 0.9), False)],
    ids=["better", "worse", "equal", "better by chance"],
)
def test_claims_compare_within_repetitions(states, other, supported):
    pair = chosen_pairs(states)[0]
    errors = {PUBMIX: np.array([[0.3, 0.4]]), GAUSSIAN: np.array([other]), LINMIX: np.array([other])}
    found = Accuracies(pair, (34,), errors, {})
    assert _better_than([found], GAUSSIAN).supported is supported
