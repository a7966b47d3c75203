"""Points in the plane as SVG: each stands where its coordinates say, one unit equally long on both axes."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.reports.plot_frame import HEIGHT, LEFT, RIGHT, WIDTH
from evomix.reports.scatter_chart import Marks, scatter_chart

WORDS = {"title": "title", "x_label": "x", "y_label": "y"}


def circles(svg, colour=0):
    found = [one for one in ET.fromstring(svg).iter() if one.tag.endswith("circle")]
    return [
        (float(one.get("cx")), float(one.get("cy"))) for one in found if f"evx-{colour}" in one.get("class").split()
    ]


@pytest.mark.parametrize("points", [[[0, 0], [1, 0], [0, 1]], [[0, 0], [9, 1], [3, 1]], [[0, 0], [1, 8], [1, 2]]])
def test_one_unit_is_as_long_upwards_as_sideways(points):
    points = np.array(points, dtype=float)
    places = np.array(circles(scatter_chart([Marks("a", points)], **WORDS)))
    moved = places - places[0]
    scale = moved[1][np.argmax(np.abs(points[1]))] / points[1].max() * (1 if points[1].argmax() == 0 else -1)
    assert scale > 0
    assert moved == pytest.approx((points - points[0]) * [scale, -scale], abs=0.05)


def test_all_points_are_within_the_area_and_fill_it_one_way():
    svg = scatter_chart([Marks("a", np.array([[0.0, 0.0], [5.0, 1.0]]), kind="cloud")], **WORDS)
    (x0, y0), (x1, y1) = circles(svg)
    assert LEFT < x0 < x1 < WIDTH - RIGHT
    assert x1 - x0 > 0.85 * (WIDTH - LEFT - RIGHT)
    assert 0 < y0 - y1 < HEIGHT


def test_kinds_are_told_apart():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    svg = scatter_chart([Marks(k, square, kind=k) for k in ("path", "cloud", "dots", "rings")], **WORDS)
    assert [len(circles(svg, colour)) for colour in range(4)] == [0, 3, 3, 3]
    (path,) = [one for one in ET.fromstring(svg).iter() if one.tag.endswith("polyline")]
    assert len(path.get("points").split()) == 3
    assert len({one.get("r") for one in ET.fromstring(svg).iter() if one.tag.endswith("circle")}) == 3


@pytest.mark.parametrize("place", [[0.0, 0.0], [1e9, -3.0], [1e-9, 0.0]])
def test_points_at_one_place_are_drawn_in_the_middle(place):
    ((x, _),) = circles(scatter_chart([Marks("a", np.array([place]))], **WORDS))
    assert x == pytest.approx((LEFT + WIDTH - RIGHT) / 2, abs=1)


@pytest.mark.parametrize("points", [np.zeros((0, 2)), np.zeros(2), np.zeros((3, 3)), np.array([[0.0, np.nan]])])
def test_what_cannot_be_drawn_is_refused(points):
    with pytest.raises(SpecError, match="name='a'"):
        Marks("a", points)


def test_nothing_to_draw_is_refused():
    with pytest.raises(SpecError, match="found none"):
        scatter_chart([], **WORDS)
