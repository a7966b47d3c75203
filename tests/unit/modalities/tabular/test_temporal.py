from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.modalities.tabular import temporal

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001
LAYOUTS = ["%Y%m%d", "%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d %b %Y", "%j/%Y", "%Y %%%m%%%d"]


@given(st.dates(), st.sampled_from([*LAYOUTS, None]))
def test_any_date_in_any_layout_comes_back(day, layout):
    seconds = (day.toordinal() - date(1970, 1, 1).toordinal()) * 86400.0
    assert temporal.parse_one(temporal.format_one(seconds, layout or "%Y-%m-%d"), layout) == seconds


@given(st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)))  # noqa: DTZ001
def test_any_time_agrees_with_the_calendar(moment):
    seconds = (moment - EPOCH).total_seconds()
    assert temporal.parse_one(moment.isoformat(), None) == pytest.approx(seconds, abs=1e-6)
    assert temporal.format_one(seconds, "%Y-%m-%dT%H:%M:%S.%f") == moment.isoformat(timespec="microseconds")


@given(st.text())
def test_any_text_is_a_time_or_nan(text):
    for layout in (None, "%Y%m%d", "%d %b %Y", "%Y-%m-%d %H:%M:%S %z"):
        assert temporal.parse_text(pa.array([text, None], pa.large_string()), layout).shape == (2,)


@pytest.mark.parametrize(
    "word", ["2023-02-29", "2023-13-01", "2023-00-10", "2023-01-00", "0000-01-01", "2023-01-01T24:00", "20230101",
             "2023-01-01T10:60", "2023-01-01T10:00:60", "1.5", "", "today", "12023-01-01"],
)  # fmt: skip
def test_what_is_no_iso_time(word):
    assert np.isnan(temporal.parse_one(word, None))


def test_zones_move_to_utc():
    words = pa.array(["2020-01-01T12:00:00Z", "2020-01-01T12:00+02:00", "2020-01-01 12:00:00.5-0130"])
    there = (datetime(2020, 1, 1, 12) - EPOCH).total_seconds()  # noqa: DTZ001
    assert temporal.parse_text(words, None).tolist() == [there, there - 7200, there + 0.5 + 5400]
    assert temporal.parse_one("2020-01-01 12:00 +0200", "%Y-%m-%d %H:%M %z") == there - 7200


def test_the_ends_of_time():
    assert temporal.parse_one("0001-01-01", None) == temporal.FIRST_S
    assert temporal.parse_one("9999-12-31T23:59:59", None) == temporal.LAST_S
    assert temporal.format_one(temporal.FIRST_S, "%Y%m%d") == "00010101"
    # A zone may carry a time out of the calendar; it is clamped to the schema later.
    assert temporal.parse_one("0001-01-01T00:00+10:00", None) == temporal.FIRST_S - 36000
    assert np.isnan(temporal.parse_one("0001-01-01 00:00 +1000", "%Y-%m-%d %H:%M %z"))


def test_format_texts_keeps_gaps():
    texts = temporal.format_texts(np.array([0.0, np.nan, 86400.0, 0.0]), "%d/%m/%Y")
    assert texts.to_pylist() == ["01/01/1970", None, "02/01/1970", "01/01/1970"]


def test_layouts_without_a_whole_date_are_found():
    assert temporal.keeps_dates("%Y-%m-%d %H:%M")
    assert not temporal.keeps_dates("%Y-%m")
    assert not temporal.keeps_dates("%H:%M")
    assert not temporal.keeps_dates("day %Y%")
    assert temporal.layout_step_s("%Y-%m-%d %I %p") == timedelta(hours=1).total_seconds()
    assert temporal.layout_step_s("%d %b %Y") == temporal.DAY_S
