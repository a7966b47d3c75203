import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SpecError
from evomix.neighbors.shortlist import Bound
from evomix.neighbors.vectors import VectorIndex


def unit(rows):
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


def distances(queries, candidates, metric):
    queries, candidates = queries.astype(np.float64), candidates.astype(np.float64)
    if metric == "l2":
        return ((queries[:, None] - candidates[None]) ** 2).sum(axis=2)
    gaps = ((unit(queries)[:, None] - unit(candidates)[None]) ** 2).sum(axis=2) / 2
    zero_query, zero_candidate = ~queries.any(axis=1)[:, None], ~candidates.any(axis=1)[None]
    gaps[zero_query | zero_candidate] = 1.0
    gaps[zero_query & zero_candidate] = 0.0
    return gaps


def brute_force(queries, candidates, count, metric="l2"):
    return np.argsort(distances(queries, candidates, metric), axis=1, kind="stable")[:, :count]


@st.composite
def lattice_problems(draw):
    """Small whole numbers, any offset: squared distances are exact, ties plenty."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dimension = draw(st.sampled_from([0, 1, 2, 3, 16, 37]))
    size, reach = draw(st.integers(1, 60)), draw(st.integers(0, 3))
    offset, dtype = draw(st.sampled_from([0, 5, 10**6])), draw(st.sampled_from([np.float32, np.float64]))
    candidates = (rng.integers(-reach, reach + 1, (size, dimension)) + offset).astype(dtype)
    queries = (rng.integers(-reach, reach + 1, (draw(st.integers(0, 20)), dimension)) + offset).astype(dtype)
    return candidates, queries, draw(st.integers(1, size))


@given(lattice_problems())
@settings(max_examples=120, deadline=None)
def test_l2_equals_brute_force_ordered_by_distance_then_position(problem):
    candidates, queries, count = problem
    answer = VectorIndex(candidates).nearest(queries, count)

    assert answer.dtype == np.int64
    assert answer.shape == (len(queries), count)
    np.testing.assert_array_equal(answer, brute_force(queries, candidates, count))


@given(lattice_problems())
@settings(max_examples=120, deadline=None)
def test_cosine_orders_by_distance_up_to_rounding(problem):
    candidates, queries, count = problem
    answer = VectorIndex(candidates, metric="cosine").nearest(queries, count)

    reached = np.take_along_axis(distances(queries, candidates, "cosine"), answer, axis=1)
    smallest = np.sort(distances(queries, candidates, "cosine"), axis=1)[:, :count]
    np.testing.assert_allclose(reached, smallest, rtol=1e-12, atol=1e-15)
    assert all(len(set(row)) == count for row in answer.tolist())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["l2", "cosine"])
@pytest.mark.parametrize("count", [1, 4])
def test_real_vectors_equal_brute_force(dtype, metric, count):
    rng = np.random.default_rng(5)
    centres = rng.normal(size=(8, 96))
    candidates = (centres[rng.integers(0, 8, 700)] + 1e-3 * rng.normal(size=(700, 96))).astype(dtype)
    queries = (centres[rng.integers(0, 8, 150)] + 1e-3 * rng.normal(size=(150, 96))).astype(dtype)
    answer = VectorIndex(candidates, metric=metric).nearest(queries, count)
    np.testing.assert_array_equal(answer, brute_force(queries, candidates, count, metric))


def near_ties(rng, rows, dimension):
    """Vectors closer together than float32 can tell, far from the origin, many of them equal."""
    return 1e5 + 1e-4 * rng.integers(0, 3, (rows, dimension)) * rng.integers(0, 2, (rows, 1))


@pytest.mark.parametrize("metric", ["l2", "cosine"])
@pytest.mark.parametrize("outlier", [False, True])
def test_answer_depends_on_the_record_alone(metric, outlier):
    rng = np.random.default_rng(2)
    candidates, queries = near_ties(rng, 500, 24), near_ties(rng, 300, 24)
    if outlier:  # a candidate far away stretches the scale until the rest is one point to float32
        candidates[17] = -1e9
    index = VectorIndex(candidates, metric=metric)
    whole = index.nearest(queries, 3)

    for size in (1, 2, 33, 64, 65, 299):
        parts = [index.nearest(queries[start : start + size], 3) for start in range(0, 300, size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    order = rng.permutation(300)
    np.testing.assert_array_equal(index.nearest(queries[order], 3), whole[order])
    np.testing.assert_array_equal(index.nearest(np.asfortranarray(queries), 3), whole)
    np.testing.assert_array_equal(index.nearest(queries, 1)[:, 0], whole[:, 0])


def test_proposals_alone_would_be_wrong():
    """The float32 product cannot tell these apart; the answer must."""
    rng = np.random.default_rng(4)
    candidates = near_ties(rng, 400, 8)
    candidates[0] = 3e7
    queries = candidates[rng.integers(1, 400, 200)]
    centred, shifted = queries - candidates.mean(axis=0), candidates - candidates.mean(axis=0)
    product = centred.astype(np.float32) @ shifted.astype(np.float32).T
    naive = ((shifted**2).sum(axis=1).astype(np.float32) - 2 * product).argmin(axis=1)

    expected = brute_force(queries, candidates, 1)[:, 0]

    assert (naive != expected).any()
    np.testing.assert_array_equal(VectorIndex(candidates).nearest(queries)[:, 0], expected)


def test_large_coordinates_keep_small_differences():
    candidates = np.array([[1e5, 1.0], [1e5, 1.001], [1e5, 2.0]])
    queries = np.array([[1e5, 1.0004], [1e5, 1.0006], [1e5, 1.9]])
    assert VectorIndex(candidates).nearest(queries, 2).tolist() == [[0, 1], [1, 0], [2, 1]]


@pytest.mark.parametrize("exponent", [-1060, -600, -150, 0, 150, 490])
def test_any_magnitude(exponent):
    candidates = np.ldexp(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), exponent)
    queries = np.ldexp(np.array([[1.0, 0.25], [-1.0, 0.5], [0.25, 2.0], [2.0, 2.0]]), exponent)
    assert VectorIndex(candidates).nearest(queries)[:, 0].tolist() == [0, 1, 2, 3]
    assert VectorIndex(candidates, metric="cosine").nearest(queries)[:, 0].tolist() == [0, 1, 2, 3]


def test_all_equal_candidates_come_in_order_of_position():
    queries = np.random.default_rng(0).normal(size=(10, 5))
    for metric in ("l2", "cosine"):
        answer = VectorIndex(np.ones((5000, 5)), metric=metric).nearest(queries, 3)
        assert (answer == [0, 1, 2]).all()


def test_copies_interleave_by_position():
    a, b, query = [1.0, 0.0], [-1.0, 0.0], np.array([[0.0, 0.0]])
    assert VectorIndex(np.array([a, b, a, b, a])).nearest(query, 4).tolist() == [[0, 1, 2, 3]]


def test_cosine_rule_for_zero_vectors():
    # Distance 1 from the zero vectors 1 and 4 and from the orthogonal 3, less from 2, more from 0.
    candidates = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    index = VectorIndex(candidates, metric="cosine")
    queries = np.array([[3.0, 0.0], [0.0, 0.0], [-0.0, 0.0]])
    assert index.nearest(queries, 5).tolist() == [[2, 1, 3, 4, 0], [1, 4, 0, 2, 3], [1, 4, 0, 2, 3]]


def test_a_zero_vector_does_not_hide_nearer_ones():
    # As points, (1, 0) and the zero vector are nearer than (1, 0) and (1, 3); by angle they are not.
    index = VectorIndex(np.array([[0.0, 0.0], [1.0, 3.0]]), metric="cosine")
    assert index.nearest(np.array([[1.0, 0.0]])).tolist() == [[1]]


def test_zero_query_ties_between_all_candidates_exactly():
    # Norms of unit vectors differ in their last bits; a zero query must not see that.
    candidates = np.random.default_rng(0).normal(size=(200, 7))
    answer = VectorIndex(candidates, metric="cosine").nearest(np.zeros((1, 7)), 200)
    assert answer.tolist() == [list(range(200))]


def test_cosine_ignores_length_to_the_last_bit_for_powers_of_two():
    rows = np.random.default_rng(0).normal(size=(50, 7))
    index = VectorIndex(np.concatenate([4.0 * rows, rows]), metric="cosine")
    assert index.nearest(np.concatenate([rows, rows / 1024])).ravel().tolist() == [*range(50), *range(50)]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
@pytest.mark.parametrize("metric", ["l2", "cosine"])
def test_odd_queries_are_total_and_leave_the_others_alone(value, metric):
    rng = np.random.default_rng(0)
    index = VectorIndex(rng.normal(size=(70, 4)), metric=metric)
    queries = rng.normal(size=(9, 4))
    expected = index.nearest(queries, 2)
    queries[5, 1] = value

    answer = index.nearest(queries, 2)

    assert answer[5].tolist() == index.nearest(queries[5:6], 2)[0].tolist()
    if value != 1e308:
        assert answer[5].tolist() == [0, 1]
    np.testing.assert_array_equal(np.delete(answer, 5, axis=0), np.delete(expected, 5, axis=0))


def test_many_blocks_of_queries(monkeypatch):
    rng = np.random.default_rng(0)
    index = VectorIndex(rng.normal(size=(300, 6)))
    queries = rng.normal(size=(500, 6))
    whole = index.nearest(queries, 2)
    monkeypatch.setattr("evomix.neighbors.vectors._SCORES", 1)
    np.testing.assert_array_equal(index.nearest(queries, 2), whole)


@pytest.mark.parametrize(
    ("candidates", "metric", "message"),
    [
        (np.zeros((0, 3)), "l2", "d ≥ 1"),
        (np.zeros(3), "l2", "shape"),
        (np.zeros((1, 1 << 20), np.float32), "l2", "dimension"),
        (np.full((2, 3), np.nan), "l2", "finite"),
        (np.full((2, 3), np.inf, np.float32), "cosine", "finite"),
        (np.full((2, 3), 1e200), "l2", "finite"),
        (np.zeros((2, 3)), "manhattan", "metric='manhattan'"),
    ],
)
def test_bad_candidates_are_refused(candidates, metric, message):
    with pytest.raises(SpecError, match=message):
        VectorIndex(candidates, metric=metric)


def test_bad_queries_are_refused():
    index = VectorIndex(np.zeros((4, 3)))
    with pytest.raises(SpecError, match="embed queries"):
        index.nearest(np.zeros((1, 2)))
    for count in (0, 5):
        with pytest.raises(SpecError, match=f"count={count}"):
            index.nearest(np.zeros((1, 3)), count)


@pytest.mark.parametrize("dimension", [1, 7, 300])
def test_stated_bound_covers_the_float32_product(dimension):
    rng = np.random.default_rng(dimension)
    a, b = rng.normal(size=(40, dimension)), np.clip(rng.normal(size=(500, dimension)), -1, 1)
    product = a.astype(np.float32) @ b.astype(np.float32).T
    sizes, radii = np.linalg.norm(a, axis=1)[:, None], np.linalg.norm(b, axis=1)[None]
    bound = Bound.of(dimension)

    error = np.abs((radii**2 - 2.0 * product + sizes**2) - distances(a, b, "l2"))
    stated = bound.product * sizes * radii + bound.sums * (sizes**2 + radii**2) + bound.underflow * (1 + sizes)

    assert (error <= stated).all()
    assert (error > 1e-4 * stated).any()  # and it is a bound on this error, not on anything
