import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.reports.wording import count, percent, power_or_number, shorten, small_number


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.05, "0.05"), (1e-6, "1e-06"), (1.0, "1"), (20_000, "20,000"), (1e20, "1.000e+20"),
     (True, "True"), ("word", "word"), (math.inf, "inf"), (-3, "-3"), (12345.678, "1.235e+04")],
)  # fmt: skip
def test_small_numbers(value, text):
    assert small_number(value) == text


@given(st.floats(0.0, 600.0))
def test_a_factor_is_never_written_smaller_than_it_is(exponent):
    text = power_or_number(exponent)
    written = float(text[3:]) * math.log(10) if text.startswith("10^") else math.log(float(text.replace(",", "")))
    assert exponent - 1e-6 <= written <= exponent + 0.24


def test_counts_and_shares():
    assert count(1234567) == "1,234,567"
    assert count("–") == "–"
    assert percent(0.0625) == "6.2 %"
    assert percent(None) == "–"


@given(st.text(), st.integers(2, 30))
def test_shortened_text_is_one_printable_line(text, limit):
    line = shorten(text, limit)
    assert 0 < len(line) <= max(limit, len("(blank)"))
    assert line.isprintable()


def test_direction_marks_cannot_turn_a_page_around():
    assert "\u202e" not in shorten("a\u202eb\u2066c", 9)
