import math

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from evomix.cli.numbers import parse_delta, parse_epsilon, parse_proximity

REFUSED = [
    "",
    " ",
    "abc",
    "1,5",
    "0x1",
    "1_0",
    "nan",
    "inf",
    "-inf",
    "0",
    "0.0",
    "-0.0",
    "-1",
    "True",
    "None",
]
REFUSED += ["1e400", "1e-400", " 1", "1 ", "1\n", "１", "e5", ".", "1e", "1.0f"]


@pytest.mark.parametrize("text", REFUSED)
def test_refused_epsilons_are_named_with_the_value(text):
    with pytest.raises(typer.BadParameter) as caught:
        parse_epsilon(text)
    assert f"epsilon={text!r}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1.0), ("1.0", 1.0), ("1e0", 1.0), ("+.5", 0.5), ("1.", 1.0), ("1e-300", 1e-300), ("1E9", 1e9)],
)
def test_plain_epsilons_are_read(text, value):
    assert parse_epsilon(text) == value


@given(st.floats(min_value=0.0, exclude_min=True, allow_infinity=False))
def test_every_written_float_is_read_back(value):
    assert parse_epsilon(repr(value)) == value


@given(st.text(max_size=12))
def test_whatever_is_accepted_is_a_budget(text):
    try:
        value = parse_epsilon(text)
    except typer.BadParameter:
        return
    assert 0.0 < value < math.inf
    assert value == float(text)


@pytest.mark.parametrize("text", ["", "0", "-0.0", "1", "1.0", "-1e-6", "nan", "inf", "1e-400", "x"])
def test_refused_deltas(text):
    with pytest.raises(typer.BadParameter, match="delta="):
        parse_delta(text)


def test_plain_deltas_are_read():
    assert parse_delta("1e-300") == 1e-300
    assert parse_delta(".5") == 0.5


def test_proximity():
    assert parse_proximity("auto") == "auto"
    assert parse_proximity("0.25") == 0.25
    for text in ("1.01", "-0.1", "nan", "Auto", ""):
        with pytest.raises(typer.BadParameter, match="proximity="):
            parse_proximity(text)


def test_long_values_are_cut():
    with pytest.raises(typer.BadParameter) as caught:
        parse_epsilon("x" * 5000)
    assert len(str(caught.value)) < 200
