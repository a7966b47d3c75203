"""Plots as SVG: what is drawn stands where the numbers say, and the file is safe to show anywhere."""

import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.core.errors import SpecError
from evomix.reports.bar_chart import Bars, bar_chart, histogram
from evomix.reports.line_chart import Series, line_chart
from evomix.reports.plot_frame import COLOURS, DASHES, HEIGHT, LEFT, RIGHT, WIDTH
from evomix.reports.plot_scale import PlotScale, choose_scale, number_words

SVG = "{http://www.w3.org/2000/svg}"
WORDS = {"title": "title", "x_label": "x", "y_label": "y"}


def of_class(svg, name):
    return [one for one in ET.fromstring(svg).iter() if name in one.get("class", "").split()]


def texts(svg):
    return [one.text for one in ET.fromstring(svg).iter(f"{SVG}text")]


def curve(svg, colour=0):
    """Return the runs of points of one curve, in pixels."""
    lines = [one for one in of_class(svg, f"evx-{colour}") if one.tag == f"{SVG}polyline"]
    return [[tuple(map(float, p.split(","))) for p in one.get("points").split()] for one in lines]


def area_top(svg):
    (axis,) = [one for one in of_class(svg, "evx-axis") if one.tag == f"{SVG}path"]
    return float(re.match(r"M[\d.]+ ([\d.]+)V", axis.get("d")).group(1))


def test_points_stand_where_their_values_say():
    svg = line_chart([Series("a", [0.0, 1.0, 4.0], [0.0, 0.25, 1.0])], **WORDS)
    (points,) = curve(svg)
    xs, ys = zip(*points, strict=True)
    assert xs[0] == LEFT
    assert xs[2] == WIDTH - RIGHT
    assert (xs[1] - xs[0]) / (xs[2] - xs[0]) == pytest.approx(0.25, abs=1e-3)
    assert ys[0] == pytest.approx(area_top(svg) + HEIGHT)
    assert (ys[0] - ys[1]) / (ys[0] - ys[2]) == pytest.approx(0.25, abs=1e-3)


def test_logarithmic_axes_space_by_ratio():
    svg = line_chart([Series("a", [1, 10, 1000], [1e-4, 1e-3, 1e-1])], log_x=True, log_y=True, **WORDS)
    (points,) = curve(svg)
    for axis in (0, 1):
        first, second, last = (point[axis] for point in points)
        assert (second - first) / (last - first) == pytest.approx(1 / 3, abs=1e-3)
    assert "10" in texts(svg)
    assert "1,000" in texts(svg)


def test_a_value_that_is_not_finite_leaves_a_gap():
    svg = line_chart([Series("a", [1, 2, 3, 4, 5], [1, 2, math.nan, 4, 5])], **WORDS)
    assert [len(run) for run in curve(svg)] == [2, 2]


def test_a_lone_point_is_seen():
    svg = line_chart([Series("a", [1, 2, 3], [1.0, math.inf, 2.0])], **WORDS)
    assert len(of_class(svg, "evx-dot")) == 2
    assert of_class(line_chart([Series("a", [1, 2], [1.0, 2.0])], **WORDS), "evx-dot") == []


def test_a_mark_on_another_curve_is_a_ring():
    svg = line_chart([Series("a", [1, 2], [1, 2]), Series("here", [2], [2], marker=True, large=True)], **WORDS)
    (ring,) = of_class(svg, "evx-ring")
    assert (float(ring.get("cx")), float(ring.get("cy"))) == pytest.approx(curve(svg)[0][-1])
    assert of_class(svg, "evx-dot") == []


def test_spread_is_a_band_on_lines_and_bars_on_points():
    plain = line_chart([Series("a", [1, 2], [1.0, 2.0], spread=[0.1, 0.2])], **WORDS)
    dots = line_chart([Series("a", [1, 2, 3], [1.0, 2.0, 2.0], spread=[0.1, 0.2, 0.0], marker=True)], **WORDS)
    assert len(of_class(plain, "evx-band")) == 1
    assert of_class(plain, "evx-error") == []
    assert of_class(dots, "evx-band") == []
    assert len(of_class(dots, "evx-error")) == 2  # nothing to draw where nothing scatters
    assert len(of_class(dots, "evx-dot")) == 3


def test_the_axis_makes_room_for_the_spread():
    bare = line_chart([Series("a", [1, 2], [1.0, 2.0])], **WORDS)
    wide = line_chart([Series("a", [1, 2], [1.0, 2.0], spread=[0.0, 2.0])], **WORDS)
    assert "3" in texts(wide)
    assert "3" not in texts(bare)


def test_a_spread_below_a_logarithmic_axis_is_cut_at_its_start():
    svg = line_chart([Series("a", [1, 2], [1.0, 10.0], spread=[5.0, 1.0], marker=True)], log_y=True, **WORDS)
    bottom = area_top(svg) + HEIGHT
    lowest = max(float(y) for one in of_class(svg, "evx-error") for y in re.findall(r"V([\d.]+)", one.get("d")))
    assert lowest == pytest.approx(bottom)


def test_words_are_text_and_nothing_in_them_is_markup():
    nasty = '<script>alert(1)</script> & "quotes" \x00 \ud800'
    svg = line_chart([Series(nasty, [1, 2], [1, 2])], title=nasty, x_label=nasty, y_label=nasty, note=nasty)
    svg.encode("utf-8")
    root = ET.fromstring(svg)
    assert {one.tag for one in root.iter()} == {
        f"{SVG}{name}" for name in ("svg", "title", "style", "rect", "text", "line", "path", "g", "polyline")
    }
    assert sum("<script>alert(1)</script> &" in (text or "") for text in texts(svg)) >= 4


def test_the_file_stands_alone_and_follows_the_reader():
    svg = line_chart([Series("a", [1, 2], [1, 2])], **WORDS)
    assert "prefers-color-scheme:dark" in svg
    assert re.findall(r"href|url\(|@import|<script|onload", svg) == []
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", svg) == []


def test_long_notes_and_titles_are_wrapped_inside_the_page():
    one, many = (line_chart([Series("a", [1], [1])], note="word " * k, **WORDS) for k in (3, 200))
    heights = [float(ET.fromstring(svg).get("height")) for svg in (one, many)]
    assert heights[1] > heights[0] + 100
    lowest = max(float(text.get("y")) for text in ET.fromstring(many).iter(f"{SVG}text"))
    assert lowest < heights[1]


def test_eight_curves_look_different():
    svg = line_chart([Series(str(k), [1, 2], [k, k]) for k in range(8)], **WORDS)
    assert all(len(curve(svg, k)) == 1 for k in range(8))
    assert len(set(COLOURS)) == len(set(DASHES)) == 8
    for dash in DASHES:
        assert f"stroke-dasharray:{dash}}}" in svg


def test_a_legend_too_long_for_one_row_takes_more():
    names = [f"a rather long name of a curve {k}" for k in range(7)]
    svg = line_chart([Series(name, [1, 2], [k, k]) for k, name in enumerate(names)], **WORDS)
    assert set(names) <= set(texts(svg))
    samples = [one for one in of_class(svg, "evx-curve") if one.tag == f"{SVG}line"]
    assert len(samples) == 7
    assert all(float(one.get("x2")) < WIDTH for one in samples)
    assert len({one.get("y1") for one in samples}) > 1


def test_arrays_do_as_well_as_lists():
    x = np.array([1.0, 2.0])
    assert line_chart([Series("a", x, x, spread=x)], **WORDS) == line_chart(
        [Series("a", [1.0, 2.0], [1.0, 2.0], spread=[1.0, 2.0])], **WORDS
    )


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"x": [1, 2], "y": [1]}, "one length"),
        ({"x": [], "y": []}, "one length"),
        ({"x": [1, 2], "y": [1, 2], "spread": [1]}, "one length"),
        ({"x": [math.nan], "y": [1]}, "finite"),
        ({"x": [1], "y": [1], "spread": [-1]}, "half-widths"),
    ],
)
def test_series_that_do_not_fit_are_refused(given, why):
    with pytest.raises(SpecError, match=why):
        Series("a", **given)


@pytest.mark.parametrize("series", [[], [Series("a", [1, 2], [math.nan, math.inf])]])
def test_nothing_to_draw_is_refused(series):
    with pytest.raises(SpecError, match="at least one finite number"):
        line_chart(series, **WORDS)


@pytest.mark.parametrize("axis", ["x", "y"])
def test_a_logarithm_of_zero_is_refused(axis):
    with pytest.raises(SpecError, match=f"{axis}=0.0"):
        line_chart([Series("a", [0, 1], [0, 1])], log_x=axis == "x", log_y=axis == "y", **WORDS)


numbers = st.floats(-1e9, 1e9).filter(lambda value: value == 0.0 or abs(value) > 1e-9)


@given(st.lists(numbers, min_size=1, max_size=5), st.booleans())
def test_an_axis_shows_all_values_and_has_ticks(values, tight):
    scale = choose_scale(values, log=False, name="x", tight=tight)
    check(scale, values)
    if not tight:
        ticks, slack = [value for value, _ in scale.ticks()], 1e-6 * (scale.high - scale.low)
        assert ticks[0] <= min(values) + slack
        assert ticks[-1] >= max(values) - slack


@given(st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=5), st.booleans())
def test_a_logarithmic_axis_shows_all_values_and_has_ticks(values, tight):
    check(choose_scale(values, log=True, name="x", tight=tight), values)


def check(scale, values):
    assert scale.low <= min(values)
    assert scale.high >= max(values)
    places = [scale.place(value) for value in sorted(values)]
    assert all(0.0 <= one <= other <= 1.0 for one, other in pairwise([*places, 1.0]))
    ticks = [value for value, _ in scale.ticks()]
    assert 2 <= len(ticks) <= 14
    assert all(one < other for one, other in pairwise(ticks))
    margin = 1e-6 * (scale.high - scale.low)
    assert scale.low - margin <= ticks[0]
    assert ticks[-1] <= scale.high + margin


def test_heights_start_at_zero_unless_that_would_flatten_them():
    assert choose_scale([0.1, 0.9], log=False, name="y").low == 0.0
    assert choose_scale([0.8, 0.9], log=False, name="y").low > 0.7
    assert choose_scale([-0.1, 0.9], log=False, name="y").low < -0.1


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (0.25, "0.25"),
        (1e-4, "0.0001"),
        (2e-6, "2·10⁻⁶"),
        (1e-9, "10⁻⁹"),
        (57717.0, "57,717"),
        (-3.0, "-3"),
        (3e12, "3·10¹²"),
    ],
)
def test_numbers_in_words(value, words):
    assert number_words(value) == words


def test_ticks_say_no_rounding_noise():
    assert [words for _, words in PlotScale(0.0, 0.6).ticks()] == ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6"]


def bars(svg, colour):
    found = [one for one in of_class(svg, f"evx-{colour}") if one.tag == f"{SVG}rect"][1:]  # the first is the legend's
    return [{key: float(one.get(key)) for key in ("x", "y", "width", "height")} for one in found]


def test_bars_are_as_high_as_their_values_and_stand_side_by_side():
    svg = bar_chart([Bars("a", [1.0, 2.0]), Bars("b", [0.5, 0.0])], labels=["one", "two"], **WORDS)
    first, second = bars(svg, 0)
    assert second["height"] / first["height"] == pytest.approx(2.0, abs=0.01)
    (other,) = bars(svg, 1)  # nothing is drawn for 0
    assert other["height"] / first["height"] == pytest.approx(0.5, abs=0.01)
    assert other["x"] == pytest.approx(first["x"] + first["width"], abs=0.02)
    assert second["x"] >= other["x"] + other["width"]
    assert {"one", "two", "a", "b"} <= set(texts(svg))


def test_a_level_is_a_line_at_its_height():
    svg = bar_chart([Bars("a", [1.0])], labels=["one"], level=("floor", 0.5), **WORDS)
    (line,) = [one for one in of_class(svg, "evx-1") if one.get("x2") == f"{WIDTH - RIGHT:g}"]
    (bar,) = bars(svg, 0)
    assert float(line.get("y1")) == pytest.approx(bar["y"] + bar["height"] / 2, abs=0.02)
    assert "floor" in texts(svg)


def test_bars_stand_clear_of_the_axis():
    svg = histogram([("a", [0.0, 0.0, 1.0]), ("b", [0.0])], bins=20, **WORDS)
    first, last = bars(svg, 0)
    assert first["x"] >= LEFT + first["width"]
    assert last["x"] + last["width"] <= WIDTH - RIGHT - last["width"] / 2
    (zero,) = [
        one for one in ET.fromstring(svg).iter(f"{SVG}text") if one.text == "0" and one.get("text-anchor") == "middle"
    ]
    assert LEFT < float(zero.get("x")) < first["x"]


def test_many_labels_are_thinned():
    svg = bar_chart([Bars("a", [1.0] * 100)], labels=[f"label {k}" for k in range(100)], **WORDS)
    assert 5 <= sum(text.startswith("label") for text in texts(svg)) <= 12


def test_a_histogram_counts_shares():
    svg = histogram([("a", [0.0, 0.1, 0.2, 1.0]), ("b", [1.0])], bins=2, **WORDS)
    low, high = bars(svg, 0)
    assert low["height"] / high["height"] == pytest.approx(3.0, abs=0.02)
    (whole,) = bars(svg, 1)
    assert whole["height"] / high["height"] == pytest.approx(4.0, abs=0.02)
    assert {"0", "0.5", "1"} & set(texts(svg))


def test_a_histogram_of_one_value_has_one_bar():
    assert len(bars(histogram([("a", [0.3, 0.3])], bins=4, **WORDS), 0)) == 1


@pytest.mark.parametrize("samples", [[], [("a", [])], [("a", [math.nan])]])
def test_a_histogram_of_nothing_is_refused(samples):
    with pytest.raises(SpecError, match="samples"):
        histogram(samples, bins=3, **WORDS)


@pytest.mark.parametrize("groups", [[], [Bars("a", [1.0])]])
def test_bars_that_do_not_fill_their_slots_are_refused(groups):
    with pytest.raises(SpecError, match="slots"):
        bar_chart(groups, labels=["one", "two"], **WORDS)


@pytest.mark.parametrize("height", [-1.0, math.nan, math.inf])
def test_heights_that_cannot_be_drawn_are_refused(height):
    with pytest.raises(SpecError, match="heights"):
        Bars("a", [height])
