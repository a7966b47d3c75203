"""Figures 2, 3 and 7: their claims hold, and are denied where the code under them is wrong."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from evomix.reproduction import pubmix_fig2, pubmix_fig3, pubmix_fig7
from evomix.reproduction.figure import NOT_COMPARABLE, Request

QUICK = Request(None, seeds=1, quick=True)


def verdicts(made):
    return [claim.supported for claim in made.claims]


def test_figure_2_holds():
    made = pubmix_fig2.pubmix_fig2(QUICK)
    assert verdicts(made) == [True, True, True, NOT_COMPARABLE]
    assert made.numbers["floors"][-1] == 1e-3
    assert made.settings["n"] == 1200


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda weight, floor, draws: 0.999 * weight, [True, True, False]),
        (lambda weight, floor, draws: 1.001 * weight, [True, True, False]),
        (lambda weight, floor, draws: weight * (0.1 + floor * 900), [False, True, False]),
        (lambda weight, floor, draws: weight / draws, [True, False, False]),
    ],
)
def test_figure_2_notices_a_wrong_weight(monkeypatch, wrong, expected):
    right = pubmix_fig2.mixing_weight
    monkeypatch.setattr(
        pubmix_fig2,
        "mixing_weight",
        lambda *given, floor, draws, n: wrong(right(*given, floor=floor, draws=draws, n=n), floor, draws),
    )
    assert verdicts(pubmix_fig2.pubmix_fig2(QUICK)) == [*expected, NOT_COMPARABLE]


def test_figure_3_holds():
    assert verdicts(pubmix_fig3.pubmix_fig3(QUICK)) == [True, True, True, NOT_COMPARABLE]


def test_figure_3_notices_swapped_rules(monkeypatch):
    fill, raise_floor = pubmix_fig3.water_fill, pubmix_fig3.raise_floor
    monkeypatch.setattr(pubmix_fig3, "raise_floor", fill)
    assert verdicts(pubmix_fig3.pubmix_fig3(QUICK)) == [True, True, False, NOT_COMPARABLE]
    monkeypatch.setattr(pubmix_fig3, "water_fill", raise_floor)
    assert verdicts(pubmix_fig3.pubmix_fig3(QUICK))[1] is False


def test_figure_3_notices_a_costly_rule(monkeypatch):
    monkeypatch.setattr(pubmix_fig3, "raise_floor", lambda masses, floor: np.full(len(masses), 1 / len(masses)))
    assert verdicts(pubmix_fig3.pubmix_fig3(QUICK))[0] is False


@pytest.mark.parametrize(("d", "steps"), [(1, 4), (2, 5), (3, 6), (4, 9)])
def test_the_grid_has_every_distribution_once(d, steps):
    grid = list(pubmix_fig7._grid(d, steps))
    assert all(sum(parts) == steps and list(parts) == sorted(parts, reverse=True) for parts, _ in grid)
    assert len({parts for parts, _ in grid}) == len(grid)
    assert sum(times for _, times in grid) == math.comb(steps + d - 1, d - 1)


def gap(best, *, letter=None, exact=0.2, times=1):
    return pubmix_fig7.Gap((1.0,), times, exact, exact * 0.999, best, letter or best, best)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([gap(0.2, times=3), gap(0.202)], [True, True]),
        ([gap(0.2), gap(0.202, times=3)], [False, True]),
        ([gap(0.2, times=3), gap(0.21)], [True, False]),
        ([gap(0.2, letter=0.3, times=3), gap(0.2)], [False, True]),
    ],
)
def test_figure_7s_claims_follow_the_gaps(found, expected):
    assert [claim.supported for claim in pubmix_fig7._claims(3, found)] == expected


def test_figure_7_says_how_far_the_letter_goes_astray():
    note = pubmix_fig7._letter_note(3, [gap(0.2, letter=0.3, times=3), gap(0.2, letter=0.201)])
    assert "for 3 of the grid's 4" in note
    assert "(1), it is 0.100" in note


def least_by_all_sets(public, floor):
    """Return min over P >= floor of the worst case over every set, as one linear program."""
    d = len(public)
    sets = [np.array(s, dtype=float) for s in product((0, 1), repeat=d) if 0 < sum(s) < d]
    # Variables P_1..P_d and z; z >= min(public(S) + γ, 1) - P(S) for every S.
    above = np.array([np.append(-s, -1.0) for s in sets])
    limits = np.array([-min(s @ public + 0.35, 1.0) for s in sets])
    solved = linprog(
        np.append(np.zeros(d), 1.0),
        A_ub=above,
        b_ub=limits,
        A_eq=[np.append(np.ones(d), 0.0)],
        b_eq=[1.0],
        bounds=[(floor, 1.0)] * d + [(None, None)],
    )
    assert solved.status == 0
    return solved.fun


@pytest.mark.parametrize("public", [(1.0, 0.0, 0.0), (0.6, 0.4, 0.0), (0.6, 0.2, 0.2), (0.4, 0.4, 0.2, 0.0)])
def test_the_exact_optimum_is_that_of_all_sets(public):
    steps = 5
    found = pubmix_fig7._gap(tuple(round(steps * mass) for mass in public), 1, steps)
    floors = np.linspace(0.02, 1.0, 60) / len(public)
    scan = min(pubmix_fig7._weight(t) * least_by_all_sets(np.array(public), t) for t in floors.tolist())
    assert found.certified <= scan
    assert found.exact <= scan * (1 + 1e-6)  # the scan sees some floors only
    assert scan <= found.exact * 1.01
    assert found.letter >= found.best * (1 - 1e-6) >= found.certified * (1 - 1e-6)


def test_figure_7_holds():
    made = pubmix_fig7.pubmix_fig7(QUICK)
    assert verdicts(made)[1::2] == [True, True]  # the share without a gap needs a finer grid
    for found in made.numbers.values():
        for one in found:
            assert one["lower_bound"] <= one["exact"] * (1 + 1e-12)
            assert one["lower_bound"] <= one["best_floors"]
            assert one["best_floors"] <= one["floor_by_lemma_f2"] * (1 + 1e-6)
            assert one["exact"] <= one["evomix_closed_form"] * (1 + 1e-12)
