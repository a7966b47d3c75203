import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.modalities.tabular.schema import Column, Schema
from evomix.modalities.tabular.transform import QuantileTransform, learn_transform, learn_transforms

FINITE = st.floats(-1e6, 1e6)


@st.composite
def learned(draw):
    low = draw(FINITE)
    bounds = [low, low + draw(st.one_of(st.just(0.0), st.floats(0, 1e12)))]
    public = draw(st.one_of(st.none(), st.lists(st.one_of(FINITE, st.just(np.nan), st.just(0.0)), max_size=60)))
    column = Column("x", "number", bounds[0], bounds[1])
    return column, learn_transform(column, None if public is None else np.array(public, dtype=np.float64))


@given(learned())
def test_bounds_are_exact_and_the_map_is_monotone(case):
    column, transform = case
    ends = np.array([column.min, column.max])
    expected = [0.5, 0.5] if column.min == column.max else [0.0, 1.0]
    assert transform.forward(ends).tolist() == expected
    assert transform.inverse(np.array(expected)).tolist() == ends.tolist()
    line = np.linspace(column.min, column.max, 301)
    levels = transform.forward(line)
    assert (np.diff(levels) >= 0).all()
    assert ((levels >= 0) & (levels <= 1)).all()
    assert np.isnan(transform.forward(np.array([np.nan]))).all()
    assert transform.forward(np.array([-np.inf, np.inf])).tolist() == expected


@given(learned())
def test_inverse_undoes_forward(case):
    column, transform = case
    line = np.linspace(column.min, column.max, 101)
    again = transform.inverse(transform.forward(line))
    np.testing.assert_allclose(again, line, rtol=0, atol=1e-9 * (column.max - column.min))


@given(learned())
def test_no_stretch_is_squeezed_below_half_its_share(case):
    column, transform = case
    if column.min == column.max:
        return
    line = np.linspace(column.min, column.max, 64)
    share = np.diff((line - column.min) / (column.max - column.min))
    assert (np.diff(transform.forward(line)) >= 0.5 * share - 1e-12).all()


def test_a_tail_does_not_squeeze_the_bulk():
    rng = np.random.default_rng(0)
    public = np.concatenate([rng.uniform(0, 100, 999), [1e6]])
    column = Column("x", "number", 0, 1e6)
    bulk = learn_transform(column, public).forward(np.array([10.0, 90.0]))
    assert bulk[1] - bulk[0] > 0.35
    straight = learn_transform(column, None).forward(np.array([10.0, 90.0]))
    assert straight[1] - straight[0] < 1e-3


def test_a_common_value_keeps_its_distance():
    public = np.concatenate([np.zeros(900), np.arange(1.0, 101.0)])
    levels = learn_transform(Column("gain", "integer", 0, 100), public).forward(np.array([0.0, 1.0, 2.0]))
    assert levels[1] - levels[0] > 0.4
    assert levels[2] - levels[1] < 0.02


def test_without_public_values_wide_positive_ranges_bend():
    wide = learn_transform(Column("income", "integer", 0, 150_000), None)
    assert 0.5 < wide.forward(np.array([37_500.0]))[0] < 0.7
    narrow = learn_transform(Column("age", "integer", 0, 120), None)
    assert narrow.forward(np.array([30.0]))[0] == 0.25
    signed = learn_transform(Column("x", "integer", -150_000, 150_000), None)
    assert signed.forward(np.array([0.0]))[0] == 0.5


def test_values_that_almost_coincide_do_no_harm():
    public = np.array([0.0, 5e-324, 1e-320, 0.5, 1.0] * 9)
    transform = learn_transform(Column("x", "number", -1, 1), public)
    levels = transform.forward(np.sort(public))
    assert np.isfinite(levels).all()
    assert (np.diff(levels) >= 0).all()


def test_many_public_values_make_few_knots():
    public = np.random.default_rng(1).normal(size=20_000)
    transform = learn_transform(Column("x", "number", public.min(), public.max()), public)
    assert len(transform.knots) <= 1026
    spread = transform.forward(public)
    half = (public - public.min()) / (public.max() - public.min()) / 2
    ranks = 2 * (spread - half)
    assert np.abs(np.quantile(ranks, [0.1, 0.5, 0.9]) - [0.1, 0.5, 0.9]).max() < 0.01


def test_state_survives_json():
    transform = learn_transform(Column("x", "number", 0, 1), np.random.default_rng(2).random(50))
    again = QuantileTransform.from_dict(json.loads(json.dumps(transform.to_dict())))
    np.testing.assert_array_equal(again.knots, transform.knots)
    np.testing.assert_array_equal(again.levels, transform.levels)


def test_one_transform_for_each_ordered_column():
    schema = Schema((Column("i", "id"), Column("b", "boolean"), Column("x", "number", 0, 1)))
    none, transform = learn_transforms(schema, np.array([[0.0, 0.5]] * 30))
    assert none is None
    assert transform is not None
    assert transform.forward(np.array([0.25]))[0] == pytest.approx(0.25)
