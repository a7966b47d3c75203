import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SpecError
from evomix.neighbors.tabular import CATEGORY, NUMBER, TabularIndex

# Values on a coarse lattice: every sum is exact in float32, so float64 is an oracle to the last tie.
LATTICE = 8


def mixed_table(rows, columns, rng):
    return rng.integers(0, LATTICE, size=(rows, columns)).astype(np.float32) / np.float32(LATTICE)


def brute_force(queries, candidates, kinds, weights):
    gaps = queries[:, None, :].astype(np.float64) - candidates[None].astype(np.float64)
    terms = np.where(kinds == NUMBER, gaps**2, gaps != 0)
    return (terms * weights.astype(np.float64)).sum(axis=2).argmin(axis=1)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = draw(st.integers(0, 6))
    candidates = mixed_table(draw(st.integers(1, 1100)), columns, rng)
    queries = mixed_table(draw(st.integers(0, 40)), columns, rng)
    kinds = rng.integers(0, 2, columns).astype(np.uint8)
    weights = rng.choice(np.array([0.0, 0.25, 0.5, 1.0, 3.0], dtype=np.float32), columns)
    return candidates, queries, kinds, weights


@given(problems())
@settings(max_examples=80, deadline=None)
def test_equals_brute_force_with_ties_to_the_lowest_position(problem):
    candidates, queries, kinds, weights = problem
    index = TabularIndex(candidates, kinds=kinds, weights=weights)

    answer = index.nearest(queries)

    assert answer.dtype == np.int64
    assert answer.shape == (len(queries),)
    np.testing.assert_array_equal(answer, brute_force(queries, candidates, kinds, weights))


def float32_sums(query, candidates, kinds, weights):
    total = np.zeros(len(candidates), np.float32)
    for j, kind in enumerate(kinds):
        gap = query[j] - candidates[:, j]
        total += weights[j] * (gap * gap) if kind == NUMBER else weights[j] * (gap != 0).astype(np.float32)
    return total


def test_arithmetic_is_float32_in_column_order():
    # Candidates are the same gaps around the query in another order: their exact distances are equal, so that
    # the winner is decided by rounding alone, and another order or a fused multiply-add would pick another.
    rng = np.random.default_rng(3)
    gaps = rng.permuted(np.tile(rng.integers(1, 2**12, 7), (3000, 1)), axis=1).astype(np.float32)
    kinds, weights = np.zeros(7, np.uint8), np.full(7, 0.7, np.float32)
    index = TabularIndex(gaps, kinds=kinds, weights=weights)
    queries = np.repeat(np.arange(0, 64, dtype=np.float32)[:, None], 7, axis=1)

    answers = index.nearest(queries)

    for query, answer in zip(queries, answers, strict=True):
        assert answer == float32_sums(query, gaps, kinds, weights).argmin()
    assert len(set(answers.tolist())) > 10


def test_a_column_without_weight_is_ignored():
    candidates = np.array([[3e19, 0.5], [0.0, 0.0]], dtype=np.float32)
    index = TabularIndex(candidates, kinds=KINDS, weights=np.array([0.0, 1.0], np.float32))
    assert index.nearest(np.array([[0.0, 0.5]], np.float32)).tolist() == [0]


@pytest.fixture
def awkward():
    """Real-valued near-ties, copies, more than one tile, more than one block of queries."""
    rng = np.random.default_rng(0)
    candidates = np.round(rng.random((1300, 9)) * 5).astype(np.float32) / np.float32(3)
    candidates[700:] = candidates[rng.integers(0, 700, 600)]
    queries = np.round(rng.random((1500, 9)) * 5).astype(np.float32) / np.float32(7)
    kinds = (np.arange(9) % 3 == 0).astype(np.uint8)
    weights = (rng.random(9) + 0.1).astype(np.float32)
    return TabularIndex(candidates, kinds=kinds, weights=weights), queries


def test_answer_does_not_depend_on_the_batch(awkward):
    index, queries = awkward
    whole = index.nearest(queries)

    for size in (1, 7, 100, 511, 513):
        parts = [index.nearest(queries[start : start + size]) for start in range(0, len(queries), size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_answer_does_not_depend_on_the_order_of_queries(awkward):
    index, queries = awkward
    order = np.random.default_rng(1).permutation(len(queries))
    np.testing.assert_array_equal(index.nearest(queries[order]), index.nearest(queries)[order])


def test_answer_does_not_depend_on_memory_layout(awkward):
    index, queries = awkward
    np.testing.assert_array_equal(index.nearest(np.asfortranarray(queries)), index.nearest(queries))
    np.testing.assert_array_equal(index.nearest(queries[::3]), index.nearest(queries)[::3])


def test_a_later_copy_never_wins(awkward):
    index, queries = awkward
    assert index.nearest(queries).max() < 700


def test_all_equal_candidates_give_the_first():
    index = TabularIndex(np.ones((2000, 3), np.float32), kinds=np.zeros(3, np.uint8), weights=np.ones(3, np.float32))
    assert not index.nearest(np.random.default_rng(0).random((50, 3)).astype(np.float32)).any()


def test_no_queries_and_no_columns():
    index = TabularIndex(np.zeros((4, 2), np.float32), kinds=np.zeros(2, np.uint8), weights=np.ones(2, np.float32))
    assert index.nearest(np.empty((0, 2), np.float32)).shape == (0,)
    bare = TabularIndex(np.zeros((4, 0), np.float32), kinds=np.zeros(0, np.uint8), weights=np.zeros(0, np.float32))
    assert bare.nearest(np.empty((3, 0), np.float32)).tolist() == [0, 0, 0]


def test_negative_zero_is_zero():
    candidates = np.array([[0.0], [-0.0]], dtype=np.float32)
    for kind in (NUMBER, CATEGORY):
        index = TabularIndex(candidates, kinds=np.array([kind], np.uint8), weights=np.ones(1, np.float32))
        assert index.nearest(-candidates).tolist() == [0, 0]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_odd_values_are_total_and_per_record(value, weight):
    rng = np.random.default_rng(0)
    candidates = rng.random((600, 2)).astype(np.float32)
    index = TabularIndex(candidates, kinds=np.zeros(2, np.uint8), weights=np.array([weight, 1.0], dtype=np.float32))
    queries = rng.random((20, 2)).astype(np.float32)
    expected = index.nearest(queries)
    queries[3, 0] = value

    answer = index.nearest(queries)

    assert answer[3] == (0 if weight else expected[3])
    assert answer[3] == index.nearest(queries[3:4])[0]
    np.testing.assert_array_equal(np.delete(answer, 3), np.delete(expected, 3))


KINDS, WEIGHTS = np.zeros(2, np.uint8), np.ones(2, np.float32)


@pytest.mark.parametrize(
    ("candidates", "kinds", "weights", "message"),
    [
        (np.zeros((0, 2), np.float32), KINDS, WEIGHTS, "d ≥ 1"),
        (np.zeros(2, np.float32), KINDS, WEIGHTS, "shape"),
        (np.zeros((3, 2), np.float32), KINDS[:1], WEIGHTS, "one kind"),
        (np.zeros((3, 2), np.float32), KINDS + np.uint8(2), WEIGHTS, "kinds of 0"),
        (np.zeros((3, 2), np.float32), KINDS, -WEIGHTS, "not negative"),
        (np.zeros((3, 2), np.float32), KINDS, WEIGHTS * np.float32("nan"), "not negative"),
        (np.full((3, 2), np.nan, np.float32), KINDS, WEIGHTS, "finite candidates"),
    ],
)
def test_bad_arguments_are_refused(candidates, kinds, weights, message):
    with pytest.raises(SpecError, match=message):
        TabularIndex(candidates, kinds=kinds, weights=weights)


def test_queries_of_another_width_are_refused():
    index = TabularIndex(np.zeros((3, 2), np.float32), kinds=KINDS, weights=WEIGHTS)
    with pytest.raises(SpecError, match="embed queries and candidates alike"):
        index.nearest(np.zeros((3, 3), np.float32))
