import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SpecError
from evomix.modalities.tabular.embedding import TableEmbedder
from evomix.modalities.tabular.schema import Column, Schema
from evomix.modalities.tabular.transform import learn_transforms
from evomix.neighbors.tabular import CATEGORY, NUMBER

SCHEMA = Schema(
    (
        Column("age", "integer", min=0, max=100),
        Column("job", "category", values=("a", "b", "c"), missing=True),
        Column("who", "id"),
        Column("gain", "number", min=-10, max=10, missing=True),
        Column("ok", "boolean"),
    )
)
NAN = np.nan


def embedder(schema=SCHEMA, **options):
    return TableEmbedder(schema, learn_transforms(schema), **options)


def distances(space, first, second):
    gaps = space.embed(np.atleast_2d(first)) - space.embed(np.atleast_2d(second))
    return (np.where(space.kinds == CATEGORY, gaps != 0, gaps**2) * space.weights).sum(axis=1)


records = st.tuples(
    st.integers(0, 100).map(float),
    st.sampled_from([0.0, 1.0, 2.0, NAN]),
    st.one_of(st.floats(-10, 10), st.just(NAN)),
    st.sampled_from([0.0, 1.0]),
)


def test_coordinates_are_two_for_numbers_that_may_be_missing_and_one_for_the_rest():
    space = embedder()
    assert space.kinds.tolist() == [NUMBER, CATEGORY, NUMBER, CATEGORY, CATEGORY]
    assert space.sources.tolist() == [0, 1, 2, 2, 3]
    np.testing.assert_allclose(space.weights, [1, 1, 1, 0.75, 1])
    rows = space.embed(np.array([[25.0, NAN, NAN, 1.0], [100.0, 2.0, 5.0, 0.0]]))
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [[0.25, -1, 0.5, 1, 1], [1, 2, 0.75, 0, 0]])


def test_one_column_moves_the_distance_by_its_weight_at_most():
    base = np.array([0.0, 0.0, -10.0, 0.0])
    for column, value, expected in [(0, 100, 1), (0, 50, 0.25), (1, 2, 1), (2, 10, 1), (3, 1, 1)]:
        other = base.copy()
        other[column] = value
        np.testing.assert_allclose(distances(embedder(), base, other), expected)


@settings(deadline=None)
@given(st.floats(-10, 10))
def test_missing_is_between_three_quarters_and_one_from_any_value(value):
    for_gain = np.array([5.0, 1.0, value, 1.0])
    missing = np.array([5.0, 1.0, NAN, 1.0])
    assert 0.75 <= distances(embedder(), for_gain, missing)[0] <= 1.0
    assert distances(embedder(), missing, missing)[0] == 0.0


@settings(deadline=None)
@given(st.lists(records, min_size=1, max_size=20), st.data())
def test_an_embedding_depends_on_its_record_alone(rows, data):
    population = np.array(rows)
    space = embedder()
    whole = space.embed(population)
    picked = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=10))
    np.testing.assert_array_equal(space.embed(population[np.array(picked, dtype=int)]), whole[picked])
    assert np.isfinite(whole).all()


@settings(deadline=None)
@given(st.lists(records, min_size=1, max_size=30), st.lists(records, min_size=1, max_size=30))
def test_nearest_is_the_first_of_the_closest_candidates(candidates, queries):
    space = embedder(weights={"job": 0.3}, target="ok", target_weight=2.5)
    found = space.index(np.array(candidates)).nearest(np.array(queries))
    for query, position in zip(queries, found, strict=True):
        gaps = distances(space, np.array(candidates), np.array(query))
        assert gaps[position] <= gaps.min() + 1e-6
        twins = (space.embed(np.array(candidates)) == space.embed(np.array([candidates[position]]))).all(axis=1)
        assert position == np.flatnonzero(twins)[0]


def test_no_records_have_no_coordinates_and_no_neighbours():
    space = embedder()
    assert space.embed(np.empty((0, 4))).shape == (0, 5)
    assert space.index(np.zeros((1, 4))).nearest(np.empty((0, 4))).shape == (0,)


def test_what_goes_in_is_left_as_it_was():
    rows = np.array([[25.0, NAN, NAN, 1.0]])
    rows.flags.writeable = False
    embedder().embed(rows)[:] = 0


def test_weights_apply_by_name_and_the_target_weighs_more():
    space = embedder(weights={"gain": 2.0, "ok": 0.5}, target="ok", target_weight=4.0)
    np.testing.assert_allclose(space.weights, [1, 1, 2, 1.5, 2])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"weights": {"nobody": 1.0}}, "nobody"),
        ({"weights": {"who": 1.0}}, "who"),
        ({"target": "who"}, "who"),
        ({"weights": {"age": 0.0}}, "age"),
        ({"weights": {"age": NAN}}, "age"),
        ({"target": "job", "target_weight": np.inf}, "job"),
    ],
)
def test_weights_that_make_no_sense_are_refused_by_name(options, word):
    with pytest.raises(SpecError, match=word):
        embedder(**options)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 5)])
def test_records_of_another_width_are_refused(shape):
    with pytest.raises(SpecError, match="columns=4"):
        embedder().embed(np.zeros(shape))
