from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomix.core.errors import SpecError
from evomix.privacy.budget import Budget, rounded_up, total

amounts = st.floats(0, 1e6, allow_nan=False) | st.sampled_from([0.1, 0.2, 0.3, 0.7, 1e-6, 1e-300])


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("1.0:1e-6", Budget(1.0, 1e-6)),
        ("1:.5", Budget(1.0, 0.5)),
        ("2e-1:1e-300", Budget(0.2, 1e-300)),
        ("+.5:0.1", Budget(0.5, 0.1)),
    ],
)
def test_parse_reads_what_people_write(text, budget):
    assert Budget.parse(text) == budget


@pytest.mark.parametrize(
    "text",
    ["", "1", ":", "1:", ":1e-6", "1:0", "1:0.", "1:1e-400", " 1:.1", "1: .1", "1:.1:.1", "0:1e-6", "-1:.1",
     "1:1", "1:-0.1", "nan:.1", "inf:.1", "1e400:.1", "1_0:.1", "0x1:.1", "1,5:.1", "True:.1", "abc", "1:nan", "１:.1"],
)  # fmt: skip
def test_parse_refuses_everything_else_and_names_it(text):
    with pytest.raises(SpecError, match="EPSILON:DELTA") as refusal:
        Budget.parse(text)
    assert f"budget={text!r}" in str(refusal.value)


@pytest.mark.parametrize(("epsilon", "delta"), [(float("nan"), 0), (float("inf"), 0), (-1.0, 0), (1.0, -1e-9)])
def test_an_amount_is_finite_and_not_negative(epsilon, delta):
    with pytest.raises(SpecError, match="finite and not negative"):
        Budget(epsilon, delta)


def test_ten_tenths_are_one_although_floats_disagree():
    assert sum([0.1] * 10) != 1.0
    assert total([Budget(0.1, 0.1)] * 10) == (1, 1)
    assert Budget(1.0, 1.0).covers(total([Budget(0.1, 0.1)] * 10))
    assert not Budget(1.0, 1.0).covers(total([Budget(0.1, 0.0)] * 10 + [Budget(1e-300, 0.0)]))


def test_both_coordinates_count():
    assert not Budget(1.0, 1e-6).covers((Fraction(1, 2), Fraction(1, 10**5)))
    assert not Budget(1.0, 1e-6).covers((Fraction(2), Fraction(0)))


@given(st.lists(st.tuples(amounts, amounts), max_size=6), amounts, amounts)
def test_what_is_left_can_be_spent_and_no_more(spent, epsilon, delta):
    granted, used = Budget(epsilon, delta), total(Budget(*pair) for pair in spent)
    left = granted.minus(used)
    if granted.covers(used):
        assert granted.covers(total([left, *(Budget(*pair) for pair in spent)]))
    shown = rounded_up(used).exact()
    assert shown[0] >= used[0]
    assert shown[1] >= used[1]
    if used[0] >= granted.exact()[0]:
        assert left.epsilon == 0.0
