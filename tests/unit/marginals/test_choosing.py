"""Where not all pairs can be counted, those are that promise most, and no column is left out."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from marginal_tables import shape_of

from evomix.core.release import NoisyVotes
from evomix.marginals.choosing import chosen_sets, shows_dependence


def test_all_are_taken_where_there_is_room():
    assert chosen_sets(shape_of([2] * 4), {}, 6) == tuple(combinations(range(4), 2))
    assert chosen_sets(shape_of([2] * 3, target=1), {(0, 0): 1.0}, 1) == ((0, 2),)
    assert chosen_sets(shape_of([2]), {}, 1) == ()


def test_those_that_promise_most_come_first_after_one_for_each_column():
    shape = shape_of([2] * 5)
    found = chosen_sets(shape, {(0, 1): 9.0, (2, 3): 8.0, (0, 2): 7.0, (1, 3): 6.0, (3, 4): 1.0}, 4)
    # 4 is in one pair of promise only; it has its place before the third best of the others.
    assert found == ((0, 1), (0, 2), (2, 3), (3, 4))


def test_what_the_target_depends_on_counts_for_every_pair_of_a_column():
    shape = shape_of([2] * 6, target=5)
    assert chosen_sets(shape, {(1, 1): 5.0, (3, 3): 4.0}, 4) == ((0, 1), (1, 2), (1, 3), (1, 4))
    assert chosen_sets(shape, {(1, 1): 5.0, (3, 3): 4.0}, 5) == ((0, 1), (0, 3), (1, 2), (1, 3), (1, 4))


@given(
    st.integers(3, 9),
    st.integers(1, 40),
    st.dictionaries(st.tuples(st.integers(0, 8), st.integers(0, 8)), st.floats(-1.0, 1.0), max_size=30),
    st.booleans(),
)
def test_sets_are_distinct_pairs_and_cover_all_columns_where_they_can(columns, most, dependence, predicted):
    shape = shape_of([2] * columns, target=columns - 1 if predicted else None)
    found = chosen_sets(shape, dependence, most)
    assert len(found) == len(set(found)) == min(most, len(shape.pairs))
    assert set(found) <= set(shape.pairs)
    assert list(found) == sorted(found)
    if most >= len(shape.others):
        assert {column for pair in found for column in pair} == set(shape.others)
    assert found == chosen_sets(shape, dependence, most)


@pytest.mark.parametrize("most", [1, 2])
def test_too_few_sets_for_all_columns_take_the_best(most):
    shape = shape_of([2] * 6)
    dependence = {(0, 1): 3.0, (2, 3): 2.0, (4, 5): 1.0}
    assert chosen_sets(shape, dependence, most) == ((0, 1), (2, 3))[:most]


@pytest.mark.parametrize("cells", [2, 20, 500])
def test_dependence_is_shown_by_more_than_noise(cells):
    rng, spread = np.random.default_rng(8), 30.0
    even = np.full((cells, 4), 20_000 / (4 * cells))
    tilted = even * (1.0 + 0.8 * np.outer(np.where(np.arange(cells) % 2, 1.0, -1.0), [1.0, -1.0, 1.0, -1.0]))

    def shown(table):
        noise = rng.normal(0.0, spread, table.size)
        return shows_dependence(NoisyVotes(table.ravel() + noise, spread, 20_000), table.shape)

    assert sum(shown(even) for _ in range(100)) <= 10
    assert all(shown(tilted) for _ in range(100)) == (cells < 500)  # 500 × 4 cells of 10 records each, ±30
