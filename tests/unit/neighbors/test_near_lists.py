import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SpecError
from evomix.neighbors import centring, proposals
from evomix.neighbors.near_lists import near_lists
from evomix.neighbors.shortlist import Bound


def dense(points, rows, columns):
    points = points.astype(np.float64)
    return np.sqrt(((points[rows][:, None] - points[columns][None]) ** 2).sum(axis=2))


def assert_lists(lists, distances, counts, cap):
    """Equal to sorting all distances by (distance, position); ``distances`` must be free of rounding or of ties."""
    assert lists.starts.dtype == np.int64
    assert lists.columns.dtype == np.int32
    assert lists.shape == distances.shape
    assert lists.starts[-1] == len(lists.columns) == len(lists.distances)
    for i, row in enumerate(distances):
        order = np.argsort(row, kind="stable")
        below = order[row[order] < cap]
        kept = below[: counts[i]]
        part = slice(lists.starts[i], lists.starts[i + 1])
        np.testing.assert_array_equal(lists.columns[part], kept)
        np.testing.assert_allclose(lists.distances[part], row[kept], rtol=1e-12, atol=0)
        reach = row[below[counts[i]]] if len(kept) < len(below) else math.inf
        assert lists.reach[i] == pytest.approx(reach, rel=1e-12)


@st.composite
def lattice_problems(draw):
    """Small whole numbers, any offset: squared distances are exact, ties and copies plenty."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dimension, size = draw(st.sampled_from([0, 1, 2, 3, 16, 37])), draw(st.integers(1, 60))
    reach, offset = draw(st.integers(0, 3)), draw(st.sampled_from([0, 5, 10**6]))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    points = (rng.integers(-reach, reach + 1, (size, dimension)) + offset).astype(dtype)
    rows = rng.integers(0, size, draw(st.integers(0, 20)))
    columns = rng.choice(size, draw(st.integers(0, size)), replace=False)
    cap = draw(st.sampled_from([math.inf, 1.0, 2.5, 1e-9]))
    return points, rows, columns, draw(st.integers(1, size + 3)), cap


@given(lattice_problems())
@settings(max_examples=150, deadline=None)
def test_equal_to_sorting_all_distances(problem):
    points, rows, columns, count, cap = problem
    distances = dense(points, rows, columns)

    lists = near_lists(points, rows=rows, columns=columns, count=count, cap=cap)

    assert lists.cap == cap
    assert_lists(lists, distances, [count] * len(rows), cap)


@given(lattice_problems(), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_extended_lists_equal_lists_made_so(problem, seed):
    points, rows, columns, count, cap = problem
    distances = dense(points, rows, columns)
    rng = np.random.default_rng(seed)
    some = rng.choice(len(rows), rng.integers(0, len(rows) + 1), replace=False)
    longer = rng.integers(1, 70, len(some))

    lists = near_lists(points, rows=rows, columns=columns, count=count, cap=cap)

    counts = np.full(len(rows), count)
    counts[some] = longer
    assert_lists(lists.extend(some, longer), distances, counts, cap)
    assert_lists(lists, distances, [count] * len(rows), cap)  # the first were left alone


def near_ties(rng, rows, dimension):
    """Vectors closer together than float32 can tell, far from the origin, many of them equal."""
    return 1e5 + 1e-4 * rng.integers(0, 3, (rows, dimension)) * rng.integers(0, 2, (rows, 1))


def tied_lists(rng):
    points = near_ties(rng, 400, 24)
    points[17] = -1e9  # stretches the scale until the rest is one point to float32
    every = np.arange(400)
    lists = near_lists(points, rows=every, columns=every, count=9)
    distances = dense(points, every, every)
    smallest = np.sort(distances, axis=1)
    reached = [distances[i, lists.columns[lists.starts[i] : lists.starts[i + 1]]] for i in every]
    return np.array(reached), smallest[:, :9], lists.reach, smallest[:, 9]


def test_nearly_equal_distances_are_told_apart():
    reached, smallest, reach, following = tied_lists(np.random.default_rng(2))
    np.testing.assert_allclose(reached, smallest, rtol=1e-9)
    np.testing.assert_allclose(reach, following, rtol=1e-9)


def test_proposals_without_a_margin_are_caught(monkeypatch):
    monkeypatch.setattr(proposals.Bound, "of", classmethod(lambda *_: Bound(0.0, 0.0, 0.0)))
    reached, smallest, *_ = tied_lists(np.random.default_rng(2))
    assert not np.allclose(reached, smallest, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scores", [1 << 25, 3000])
def test_real_vectors_in_any_blocks(dtype, scores, monkeypatch):
    monkeypatch.setattr(proposals, "SCORES", scores)
    monkeypatch.setattr(centring, "CELLS", scores)
    rng = np.random.default_rng(5)
    centres = rng.normal(size=(8, 96))
    points = (centres[rng.integers(0, 8, 700)] + 1e-3 * rng.normal(size=(700, 96))).astype(dtype)
    rows, columns = rng.permutation(700)[:150], rng.permutation(700)[:600]

    lists = near_lists(points, rows=rows, columns=columns, count=12)

    assert_lists(lists, dense(points, rows, columns), [12] * 150, math.inf)


def test_what_is_not_listed_is_at_least_reach_away():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 4, (300, 3)).astype(float)
    lists = near_lists(points, rows=np.arange(300), columns=np.arange(0, 300, 2), count=7)
    distances = dense(points, np.arange(300), np.arange(0, 300, 2))
    for i in range(300):
        listed = lists.columns[lists.starts[i] : lists.starts[i + 1]]
        assert distances[i, listed].max() <= lists.reach[i]
        assert np.delete(distances[i], listed).min() >= lists.reach[i]


def test_rows_beyond_every_bound_are_compared_directly():
    points = np.array([[0.0], [1e-30], [3e-30], [-1e150], [2.0]])
    lists = near_lists(points, rows=np.array([3, 4, 1]), columns=np.array([0, 1, 2]), count=2)
    np.testing.assert_array_equal(lists.columns, [0, 1, 0, 1, 1, 0])
    np.testing.assert_allclose(lists.distances, [1e150, 1e150, 2.0, 2.0, 0.0, 1e-30])


def test_by_column_holds_the_same_entries():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(90, 4))
    lists = near_lists(points, rows=np.arange(90), columns=np.arange(50), count=6)
    kept = rng.random(90) < 0.5
    for mask in (None, kept):
        turned = lists.by_column(mask)
        row = np.repeat(np.arange(90), np.diff(lists.starts))
        entries = {
            (r, c, d) for r, c, d in zip(row, lists.columns, lists.distances, strict=True) if mask is None or mask[r]
        }
        column = np.repeat(np.arange(50), np.diff(turned.starts))
        assert set(zip(turned.rows, column, turned.distances, strict=True)) == entries
        assert all((np.diff(turned.rows[turned.starts[c] : turned.starts[c + 1]]) > 0).all() for c in range(50))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"count": 0}, "count=0"),
        ({"cap": 0.0}, "cap=0"),
        ({"cap": math.nan}, "cap=nan"),
        ({"columns": np.array([0, 0])}, "distinct columns"),
        ({"columns": np.array([5])}, "columns="),
        ({"rows": np.array([-1])}, "rows="),
        ({"points": np.array([[0.0], [np.nan]])}, "finite"),
        ({"points": np.array([[0.0], [-1e200]])}, "finite"),
        ({"points": np.zeros((3, 2), np.complex128)}, "complex128"),
        ({"points": np.zeros(3)}, "shape"),
    ],
)
def test_bad_arguments_are_refused(change, says):
    good = {"points": np.zeros((5, 2)), "rows": np.arange(2), "columns": np.arange(2), "count": 1}
    points, arguments = (good | change)["points"], good | change
    del arguments["points"]
    with pytest.raises(SpecError, match=says):
        near_lists(points, **arguments)


def test_bad_extensions_are_refused():
    lists = near_lists(np.zeros((5, 2)), rows=np.arange(3), columns=np.arange(2), count=1)
    for rows in ([3], [-1], [0, 0]):
        with pytest.raises(SpecError, match="distinct rows"):
            lists.extend(np.array(rows), 2)
    with pytest.raises(SpecError, match="count=0"):
        lists.extend(np.array([1]), 0)
