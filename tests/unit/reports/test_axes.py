import numpy as np
import pytest
from report_parts import Made

from evomix.evaluation.binning import bin_edges, bin_numbers
from evomix.reports.axes import choose_axis
from evomix.reports.charts import HEIGHT, column_chart

AMOUNT = Made("amount", "number", min=0.0, max=1e6, missing=True)


def fullest(values, edges):
    return np.bincount(bin_numbers(values, edges)).max() / len(values)


def test_an_even_column_keeps_the_cuts_and_the_ends_of_its_schema():
    age = Made("age", "integer", min=0.0, max=99.0)
    axis = choose_axis(age, np.arange(100.0))
    assert np.array_equal(axis.edges, bin_edges(age))
    assert axis.ticks == ("0", "99")
    assert axis.note is None


@pytest.mark.parametrize("kind", ["number", "integer"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_long_tail_is_spread_over_the_axis(kind, sign):
    rng = np.random.default_rng(0)
    values = sign * np.round(np.exp(rng.normal(5.0, 1.5, 5000)))
    column = Made("amount", kind, min=-1e6, max=1e6)
    assert fullest(values, bin_edges(column)) > 0.9
    axis = choose_axis(column, np.append(values, np.nan))
    assert fullest(values, axis.edges) < 0.2
    assert axis.note == "logarithmic axis"
    assert axis.edges[0] <= values.min()
    assert axis.edges[-1] >= values.max()
    assert (np.diff(axis.edges) > 0).all()
    assert len(axis.ticks) == 3
    assert not any("e+" in tick for tick in axis.ticks)


def test_a_spike_does_not_decide_for_the_rest():
    rng = np.random.default_rng(4)
    tail = np.round(np.exp(rng.normal(7.0, 1.0, 400)))
    gain = Made("gain", "integer", min=0.0, max=99_999.0)
    assert choose_axis(gain, np.append(np.zeros(4600), tail)).note == "logarithmic axis"
    even = np.append(np.zeros(4600), rng.uniform(0.0, 1e6, 400))
    assert choose_axis(AMOUNT, even).note is None


def test_bounds_far_wider_than_the_rows_leave_the_shape_visible():
    values = np.random.default_rng(1).normal(50_000.0, 1000.0, 2000)
    assert fullest(values, choose_axis(AMOUNT, values).edges) < 0.2
    days = np.random.default_rng(1).integers(18_000, 18_300, 2000).astype(float)
    axis = choose_axis(Made("day", "date", min=-719_162.0, max=2_932_896.0), days)
    assert fullest(days, axis.edges) < 0.1
    assert axis.note == "range of the rows shown"
    assert axis.ticks == ("2019-04-14", "2020-02-07")


def test_whole_numbers_fall_inside_cells_never_on_a_cut():
    values = np.random.default_rng(2).geometric(0.01, 3000) ** 2.0
    edges = choose_axis(Made("k", "integer", min=0.0, max=1e7), values).edges
    assert (edges % 1.0 == 0.5).all()


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (AMOUNT, np.full(9, 7.0)),
        (AMOUNT, np.full(9, np.nan)),
        (AMOUNT, np.empty(0)),
        (Made("share", "number", min=0.0, max=1.0), np.repeat([0.0, 0.14, 1.0], [90, 9, 1])),
        (Made("k", "integer", min=0.0, max=9.0), np.append(np.zeros(99), 9.0)),
        (Made("k", "number", min=3.0, max=3.0), np.full(9, 3.0)),
    ],
)
def test_where_closer_cuts_would_show_nothing_more_the_schema_decides(column, values):
    assert np.array_equal(choose_axis(column, values).edges, bin_edges(column))


def test_extreme_values_overflow_nothing():
    values = np.array([-1e300, 0.0, 0.0, 0.0, 0.0, 1e-300, 1e300])
    edges = choose_axis(Made("x", "number", min=-1e300, max=1e300), values).edges
    assert np.isfinite(edges).all()


def test_overlap_of_a_skewed_column_is_told_by_what_is_drawn():
    rng = np.random.default_rng(3)
    made, known = np.exp(rng.normal(3.0, 1.0, 3000)), np.exp(rng.normal(6.0, 1.0, 3000))
    chart = column_chart(AMOUNT, made, known)
    assert int(chart.overlap.split()[0]) < 30
    assert chart.note == "logarithmic axis"
    assert max(height for *_, height in chart.histogram.bars) > 0.9 * HEIGHT
