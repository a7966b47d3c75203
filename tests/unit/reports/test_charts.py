import numpy as np
import pytest
from report_parts import Made

from evomix.reports.charts import HEIGHT, MOST_BARS, WIDTH, column_chart
from evomix.reports.heatmap import MOST_COLUMNS, heat_maps
from evomix.reports.rounds import make_grid

AGE = Made("age", "integer", min=0, max=9, missing=True)


def test_histogram_is_the_distribution():
    chart = column_chart(AGE, np.array([0, 0, 0, 0, 9, 9, np.nan, np.nan]), np.array([0.0, 9.0, 9.0, 9.0]))
    first, last = chart.histogram.bars
    assert first[:3:2] == (0.0, WIDTH / 10)
    assert last[3] == pytest.approx(first[3] / 2)
    assert last[0] + last[2] == pytest.approx(WIDTH)
    assert last[1] + last[3] == pytest.approx(HEIGHT)
    tops = [float(point.split(",")[1]) for point in chart.histogram.outline.split()]
    assert min(tops) == 0.0, "the tallest of both tables fills the plot"
    assert (chart.missing, chart.reference_missing) == ("25.0 %", "0.0 %")
    assert chart.overlap == "50 %"  # ¼ + ¼ of 8 cells agree
    assert chart.histogram.ticks == ("0", "9")


def test_without_reference_there_is_no_outline_and_no_overlap():
    for reference in (None, np.empty(0)):
        chart = column_chart(AGE, np.array([1.0, 2.0]), reference)
        assert chart.histogram.outline is None
        assert chart.overlap is None


def test_common_categories_first_and_one_bar_for_the_rest():
    column = Made("c", "category", values=tuple(f"v{k}" for k in range(30)))
    codes = np.concatenate([np.full(50, 29.0), np.full(20, 3.0), np.arange(30.0)])
    chart = column_chart(column, codes, codes)
    assert len(chart.bars) == MOST_BARS
    assert [bar.label for bar in chart.bars[:2]] == ["v29", "v3"]
    assert chart.bars[-1].label == "23 more values"
    assert sum(bar.synthetic for bar in chart.bars) == pytest.approx(1.0)
    assert chart.overlap == "100 %"


@pytest.mark.parametrize("column", [AGE, Made("c", "category", values=("a",), missing=True)])
def test_empty_columns_and_empty_tables_are_said_to_be_so(column):
    assert column_chart(column, np.full(3, np.nan), None).note == "every synthetic cell is empty"
    assert column_chart(column, np.empty(0), None).note == "no rows"


def test_heat_map_leaves_out_what_would_not_fit():
    rng = np.random.default_rng(0)
    columns = [Made(f"n{k}", "number", min=0.0, max=1.0) for k in range(MOST_COLUMNS + 5)]
    (found,) = heat_maps(columns, [("Synthetic", rng.random((40, len(columns))))])
    assert len(found.squares) == MOST_COLUMNS * (MOST_COLUMNS - 1)
    assert found.labels == ()
    assert found.note == "the first 60 of 65 columns"
    assert heat_maps(columns[:1], [("Synthetic", rng.random((40, 1)))]) == ()
    assert heat_maps(columns[:2], [("Synthetic", rng.random((1, 2)))]) == ()


def test_heat_map_shades_by_strength():
    x = np.linspace(0, 1, 50)
    columns = [Made(name, "number", min=-1.0, max=1.0) for name in "abc"]
    rows = np.column_stack([x, -x, np.random.default_rng(1).random(50)])
    (found,) = heat_maps(columns, [("Synthetic", rows)])
    shades = {square.title.split(":")[0]: square.shade for square in found.squares}
    assert shades["a with b"] == 1.0
    assert shades["a with c"] < 0.5


def test_grid_keeps_order_and_fills_gaps():
    found = make_grid([{"event": "round", "round": 0, "draws": 1666}, {"round": 1, "stddev": 2.5}])
    assert found.headings == ("round", "draws", "noise (standard deviation)")
    assert found.rows == (("0", "1,666", "–"), ("1", "–", "2.5"))
    assert make_grid([]).rows == ()


def test_what_was_charged_is_never_written_smaller_in_a_grid():
    found = make_grid([{"run_id": "a", "epsilon": 0.12344, "delta": 1.00001e-7}])
    assert found.rows == (("a", "0.1235", "1.001·10⁻⁷"),)
