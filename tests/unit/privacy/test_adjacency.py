"""Sensitivities, and guarantees from one neighbour relation to the other (docs/proofs/mixing.md, section 6)."""

import inspect
import math
from itertools import combinations_with_replacement, product

import mpmath
import numpy as np
import pytest
from exact_divergence import divergence
from hypothesis import given, settings
from hypothesis import strategies as st

from evomix.core.errors import SpecError, UnsupportedAdjacency
from evomix.privacy import bounded_sensitivity, calibration, gaussian_accounting, laplace_accounting
from evomix.privacy.adjacency import (
    ADJACENCIES,
    convert_guarantee,
    l1_sensitivity,
    l2_sensitivity,
    l2_sensitivity_squared,
)
from evomix.privacy.calibration import delta
from evomix.privacy.gaussian_accounting import gaussian_delta

MASSES = [part for part in product(range(5), repeat=3) if sum(part) == 4]  # one unit as four quarter votes


def _moves(adjacency):
    others = MASSES if adjacency == "replace-one" else [(0, 0, 0)]
    return [[(a - b) / 4 for a, b in zip(one, other, strict=True)] for one in MASSES for other in others]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_sensitivities_bound_every_way_to_spread_a_vote_and_are_attained(adjacency):
    moves = _moves(adjacency)
    assert max(sum(map(abs, move)) for move in moves) == l1_sensitivity(adjacency)
    assert max(sum(x * x for x in move) for move in moves) == l2_sensitivity_squared(adjacency)


def test_the_figures():
    assert (l1_sensitivity("replace-one"), l1_sensitivity("add-remove")) == (2, 1)
    assert l2_sensitivity("add-remove") == 1.0
    assert l2_sensitivity("replace-one") == pytest.approx(math.sqrt(2))
    numerator, denominator = l2_sensitivity("replace-one").as_integer_ratio()
    assert numerator**2 > 2 * denominator**2  # rounded up


@pytest.mark.parametrize("function", [l1_sensitivity, l2_sensitivity, l2_sensitivity_squared])
def test_an_unknown_relation_is_refused_by_name(function):
    with pytest.raises(UnsupportedAdjacency, match="replace-one or add-remove; found adjacency='replace-all'"):
        function("replace-all")


# --- from one relation to the other ---


def hockey_stick(p, q, epsilon):
    return sum(max(a - math.exp(epsilon) * b, 0.0) for a, b in zip(p, q, strict=True))


def test_two_steps_are_what_the_conversion_says_and_no_less():
    """A chain of three laws, each step (ε, δ) in both directions, whose ends are exactly (2ε, (1 + e^ε)·δ) apart."""
    epsilon, spent = 0.7, 0.01
    chain = [(hit, 1 - hit) for hit in (spent * (1 + math.exp(epsilon)), spent, 0.0)]
    for one, other in ((0, 1), (1, 0), (1, 2), (2, 1)):
        assert hockey_stick(chain[one], chain[other], epsilon) <= spent * (1 + 1e-12)
    ends = hockey_stick(chain[0], chain[2], 2 * epsilon)
    converted = convert_guarantee(epsilon, spent, source="add-remove", target="replace-one")
    assert converted[0] == 2 * epsilon
    assert ends <= converted[1] <= ends * (1 + 1e-12)
    assert ends > 2 * spent  # adding the two δ would be a lie


@settings(max_examples=60, deadline=None)
@given(epsilon=st.floats(0.0, 30.0), spent=st.floats(1e-300, 0.4), stddev=st.floats(0.5, 20.0))
def test_conversion_is_rounded_up_and_above_the_proven_guarantee(epsilon, spent, stddev):
    found = convert_guarantee(epsilon, spent, source="add-remove", target="replace-one")
    with mpmath.workdps(60):
        assert found[1] >= min(mpmath.mpf(1), (1 + mpmath.exp(mpmath.mpf(epsilon))) * spent)
    proven = gaussian_delta(epsilon, stddev=stddev, adjacency="add-remove")
    twice, converted = convert_guarantee(epsilon, proven, source="add-remove", target="replace-one")
    assert gaussian_delta(twice, stddev=stddev, adjacency="replace-one") <= converted


def test_conversion_at_its_edges():
    for relation in ADJACENCIES:
        assert convert_guarantee(1.5, 1e-6, source=relation, target=relation) == (1.5, 1e-6)
    there = {"source": "add-remove", "target": "replace-one"}
    assert convert_guarantee(3.0, 0.0, **there) == (6.0, 0.0)
    assert convert_guarantee(3.0, 0.9, **there) == (6.0, 1.0)
    assert convert_guarantee(5000.0, 1e-300, **there) == (10_000.0, 1.0)
    assert convert_guarantee(0.0, 5e-324, **there)[1] >= 1e-323


def test_publishing_the_number_of_units_is_why_there_is_no_way_back():
    """(0, 0) under replace-one; under add-remove the two outcomes are disjoint, so that δ = 1 at every ε."""

    def law(units):
        return [float(count == len(units)) for count in range(4)]

    assert hockey_stick(law("ab"), law("ac"), 0.0) == 0.0
    assert hockey_stick(law("ab"), law("abc"), 50.0) == 1.0
    with pytest.raises(UnsupportedAdjacency, match="Calibrate the mechanism under add-remove"):
        convert_guarantee(1.0, 1e-6, source="replace-one", target="add-remove")


@pytest.mark.parametrize("bad", [(-1.0, 0.1), (math.inf, 0.1), (math.nan, 0.1), (1.0, 1.5), (1.0, math.nan)])
def test_bad_guarantees_are_refused(bad):
    with pytest.raises(SpecError, match="found epsilon="):
        convert_guarantee(*bad, source="add-remove", target="replace-one")


def test_conversion_refuses_an_unknown_relation():
    with pytest.raises(UnsupportedAdjacency, match="replace-all"):
        convert_guarantee(1.0, 0.1, source="add-remove", target="replace-all")


# --- a mixture fixed for n₀ units, under add-remove ---

NOISE = np.array([0.2, 0.3, 0.5])


def worst_of_adding_one(units, *, beta, draws, epsilon, soft=None):
    """The largest δ in both directions over all data sets of ``units`` votes and all votes of one more unit."""
    votes = np.eye(3) if soft is None else soft
    worst = 0.0
    for records in combinations_with_replacement(range(len(votes)), units):
        before = votes[list(records)].mean(0) if units else votes[-1]  # no unit at all: some fixed law
        for added in votes:
            after = (units * before + added) / (units + 1)
            p, q = ((1 - beta) * law + beta * NOISE for law in (before, after))
            worst = max(worst, divergence(p, q, draws, epsilon), divergence(q, p, draws, epsilon))
    return worst


@pytest.mark.parametrize("planned", [1, 2, 3])
@pytest.mark.parametrize("draws", [1, 2, 3])
def test_a_mixture_fixed_for_planned_units_is_as_private_under_add_remove(planned, draws):
    """Among data sets of at least ``planned`` − 1 units, hard votes and soft ones."""
    epsilon, beta = 0.4, 0.5
    bound = delta(epsilon, mixing_weight=beta, n=planned, draws=draws, floor=NOISE.min())
    soft = np.random.default_rng(5).dirichlet([0.3] * 3, 4)
    for units in range(planned - 1, planned + 3):
        found = worst_of_adding_one(units, beta=beta, draws=draws, epsilon=epsilon)
        assert found <= bound * (1 + 1e-12)
        assert worst_of_adding_one(units, beta=beta, draws=draws, epsilon=epsilon, soft=soft) <= bound * (1 + 1e-12)
        if draws == 1 and units == planned - 1:
            assert found == pytest.approx(bound, rel=1e-12)  # attained


@pytest.mark.parametrize("planned", [2, 3, 4])
def test_one_unit_fewer_than_the_condition_allows_is_caught(planned):
    bound = delta(0.4, mixing_weight=0.5, n=planned, draws=1, floor=NOISE.min())
    assert worst_of_adding_one(planned - 2, beta=0.5, draws=1, epsilon=0.4) > 1.1 * bound


# --- every public figure says which relation it speaks of ---

GUARANTEES = [
    function
    for module in (calibration, bounded_sensitivity, gaussian_accounting, laplace_accounting)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if not name.startswith(("_", "check_")) and function.__module__ == module.__name__
    if {"epsilon", "delta"} & set(inspect.signature(function).parameters)
]


@pytest.mark.parametrize("function", GUARANTEES, ids=lambda function: function.__name__)
def test_every_guarantee_names_its_neighbour_relation(function):
    text = inspect.getdoc(function)
    assert "neighbour relation" in text or "replace-one" in text or "as in `" in text
