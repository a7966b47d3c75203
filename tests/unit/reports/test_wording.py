import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.reports.wording import bound, count, percent, power_or_number, sentence, shorten, small_number


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.05, "0.05"), (1e-6, "10⁻⁶"), (2.5e-7, "2.5·10⁻⁷"), (1.0, "1"),
     (20_000, "20,000"), (1e20, "10²⁰"), (10**20, "10²⁰"), (0.5, "0.5"),
     (True, "True"), ("word", "word"), (math.inf, "inf"), (-3, "-3"), (12345.678, "12,346"), (1.5e300, "1.5·10³⁰⁰")],
)  # fmt: skip
def test_small_numbers(value, text):
    assert small_number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (1.1, "1.1"), (1.0000001, "1.001"), (3.7412e-8, "3.742·10⁻⁸"), (0.0, "0"), (math.inf, "inf"),
     (9.9999, "10"), (1e-6, "10⁻⁶"), (12345.1, "12,350"), (2, "2")],
)  # fmt: skip
def test_bounds_are_rounded_up(value, text):
    assert bound(value) == text


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


def test_sentences_begin_and_end_as_such():
    assert sentence("the budget is small ") == "The budget is small."
    assert sentence("Really?") == "Really?"
    assert sentence("ε = 20 is large") == "ε = 20 is large."
    assert sentence("income: odd") == "income: odd."
    assert sentence("") == ""


def test_direction_marks_cannot_turn_a_page_around():
    assert "\u202e" not in shorten("a\u202eb\u2066c", 9)
