import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evomix.reports.wording import bound, count, one_in, percent, power_or_number, sentence, shorten, small_number


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
     (9.9999, "10"), (1e-6, "10⁻⁶"), (12345.1, "12,350"), (2, "2"), (5e-324, "5·10⁻³²⁴"), (0.0123456444, "0.01235"),
     (1.23456e-310, "1.235·10⁻³¹⁰"), (1e308, "10³⁰⁸"), (999_999.5, "1,000,000"),
     (None, "–"), ("all", "all"), (math.nan, "nan")],
)  # fmt: skip
def test_bounds_are_rounded_up(value, text):
    assert bound(value) == text


@given(st.floats(0.0, 1e5, allow_subnormal=True))
@example(4e-12)
@example(5e-324)
@example(13.0)
@example(5.0)
def test_a_factor_is_never_written_smaller_than_it_is(exponent):
    text = power_or_number(exponent)
    with mpmath.workdps(60):
        if text.startswith("10^"):
            written = mpmath.mpf(text[3:].replace(",", "")) * mpmath.log(10)
        else:
            written = mpmath.log(mpmath.mpf(text.replace(",", "")))
        assert exponent <= written <= exponent + 0.24
    assert power_or_number(0.0) == "1.00"


@pytest.mark.parametrize("exponent", [1e6, 1e15, 1e308])
def test_no_factor_is_too_large_to_be_written(exponent):
    assert power_or_number(exponent).startswith("10^")


_PLACES = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def _read(text):
    """Return the number that was written, exactly."""
    digits, _, power = text.replace(",", "").rpartition("10" if "⁻" in text or text[-1] in "⁰¹²³⁴⁵⁶⁷⁸⁹" else "\0")
    if not power or power == text.replace(",", ""):
        return Fraction(text.replace(",", ""))
    return Fraction(digits.rstrip("·") or "1") * Fraction(10) ** int(power.translate(_PLACES))


@given(st.floats(0.0, 1e308, exclude_min=True))
def test_bounds_are_never_written_smaller_than_they_are_nor_much_larger(value):
    exact = Fraction(repr(value))
    assert exact <= _read(bound(value)) <= exact * Fraction(1001, 1000)


@given(st.floats(0.0, 1.0, exclude_min=True))
@example(1e-310)
@example(5e-324)
@example(3e-7)
def test_one_in_n_is_never_less_likely_than_the_share(share):
    exact = Fraction(repr(share))
    n = _read(one_in(share))
    assert exact <= 1 / n
    assert n >= int(1 / exact) * Fraction(999, 1000)


def test_counts_and_shares():
    assert count(1234567) == "1,234,567"
    assert count("–") == "–"
    assert count(10**400) == f"{10**400:,}"
    assert count(2**53 + 1) == "9,007,199,254,740,993"
    assert small_number(10**400) == "10⁴⁰⁰"
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
