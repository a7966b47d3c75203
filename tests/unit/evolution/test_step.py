import numpy as np
import pytest
from evolution_worlds import LineGenerator, noisy_votes

from evomix.core.arrays import distinct
from evomix.evolution.step import propose, step
from evomix.selection.methods import Rank


def test_distinct_keeps_first_occurrences_in_order():
    rows = np.array([[3.0, 1.0], [2.0, 2.0], [3.0, 1.0], [1.0, 3.0], [2.0, 2.0]])
    np.testing.assert_array_equal(distinct(rows), rows[[0, 1, 3]])


def test_missing_cells_are_equal_and_so_are_the_two_zeros():
    other_nan = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0]
    rows = np.array([[np.nan, 0.0], [other_nan, -0.0], [np.nan, 1.0], [0.0, np.nan]])
    np.testing.assert_array_equal(distinct(rows), rows[[0, 2, 3]])


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.uint8])
def test_distinct_knows_other_numbers_and_shapes(dtype):
    images = np.array([[[1, 2], [3, 4]], [[1, 2], [3, 5]], [[1, 2], [3, 4]]], dtype)
    np.testing.assert_array_equal(distinct(images), images[:2])
    np.testing.assert_array_equal(distinct(images[:, 0, 0]), images[:1, 0, 0])


def test_distinct_knows_texts():
    texts = np.array(["b", "a", "b", "", "a"], object)
    assert distinct(texts).tolist() == ["b", "a", ""]


def test_records_without_columns_are_all_the_same():
    assert distinct(np.empty((5, 0))).shape == (1, 0)
    assert distinct(np.empty((0, 3))).shape == (0, 3)


def test_candidates_are_the_parents_and_their_variations():
    parents = np.array([[1.0], [5.0], [1.0]])
    proposed = propose(parents, generator=LineGenerator(), scales=(0.1, 0.1), rng=np.random.default_rng(0))
    np.testing.assert_array_equal(proposed[:2], [[1.0], [5.0]])  # the repeated parent stands once
    assert len(proposed) == 2 + 2 * 3
    assert np.abs(proposed[2:].reshape(2, 3) - parents[:, 0]).max() <= 0.1


def test_without_variations_only_the_parents_are_proposed():
    parents = np.array([[1.0], [1.0]])
    proposed = propose(parents, generator=LineGenerator(), scales=(), rng=np.random.default_rng(0))
    np.testing.assert_array_equal(proposed, [[1.0]])


def test_a_step_votes_for_the_candidates_and_keeps_the_chosen():
    seen = []

    def privatise(index, candidates):
        seen.append((index, candidates))
        return noisy_votes(index, candidates)

    candidates = np.array([[0.0], [9.5], [6.0]])
    done = step(3, candidates, privatise=privatise, select=Rank(), size=2, rng=np.random.default_rng(0))
    assert [index for index, _ in seen] == [3]
    assert seen[0][1] is candidates
    np.testing.assert_array_equal(done.release.votes, [0, 1, 3])
    np.testing.assert_array_equal(done.parents, [[6.0], [9.5]])
