"""The closed form as the paper states it: its scores by hand, its floors by dense scans."""

import math

import numpy as np
import pytest

from evomix.privacy import raise_floor, water_fill, worst_case_tv
from evomix.reproduction.paper_closed_form import (
    _score_of_mifr,
    _score_of_water_filling,
    best_floors,
    paper_closed_form,
)

GAMMA = 0.35


def weight(floor):
    """Return a mixing weight that falls with the floor, as the real one does."""
    return 1.0 / (1.0 + 40.0 * floor)


PUBLICS = [(0.6, 0.4, 0.0), (0.5, 0.3, 0.15, 0.05), (0.9, 0.05, 0.05), (0.25, 0.25, 0.25, 0.25)]


@pytest.mark.parametrize("public", PUBLICS)
def test_scores_bound_the_worst_case_from_the_right_side(public):
    public = np.array(public)
    for floor in np.linspace(0.02, 1.0, 30) / len(public):
        exact = _score_of_mifr(public, floor, GAMMA)
        if math.isfinite(exact):  # Lemma F.1: the score is the worst case
            worst = worst_case_tv(raise_floor(public, floor=floor), public=public, proximity=GAMMA)
            assert exact == pytest.approx(worst, abs=1e-9)
        below = _score_of_water_filling(public, floor, GAMMA)
        if math.isfinite(below):  # (179): only nested sets are looked at
            assert below <= worst_case_tv(water_fill(public, floor=floor), public=public, proximity=GAMMA) + 1e-12


def test_scores_by_hand():
    public = np.array([0.6, 0.4, 0.0])
    # Mass 0.1 goes to the last outcome, all of it from the second: 0.6 stays, which holds γ.
    assert _score_of_mifr(public, 0.1, 0.35) == pytest.approx(0.45)
    assert _score_of_mifr(public, 0.1, 0.95) == math.inf
    # WF takes 0.05 from both large ones: (0.55, 0.35, 0.1). u = 1: min(γ + 0.1, 0.1); u = 2: min(γ + 0.05, 0.45).
    assert _score_of_water_filling(public, 0.1, 0.35) == pytest.approx(0.40)
    assert _score_of_water_filling(np.array([0.5, 0.1, 0.4]), 0.2, 0.05) == math.inf


@pytest.mark.parametrize("public", PUBLICS)
def test_best_floors_are_no_worse_than_a_dense_scan(public):
    public = np.array(public)
    scan = min(
        weight(t) * worst_case_tv(rule(public, floor=t), public=public, proximity=GAMMA)
        for t in (np.linspace(1e-3, 1.0, 1500) / len(public)).tolist()
        for rule in (water_fill, raise_floor)
    )
    found = best_floors(public, proximity=GAMMA, weight=weight)
    assert found <= scan * (1 + 1e-4)
    assert found <= paper_closed_form(public, proximity=GAMMA, weight=weight) * (1 + 1e-6)


def test_a_floor_chosen_by_a_lower_bound_can_lose(monkeypatch):
    """Were the floor of water-filling chosen at random, the closed form would be worse than the best floors."""
    from evomix.reproduction import paper_closed_form as module

    public = np.array([0.6, 0.4, 0.0])
    monkeypatch.setattr(module, "_score_of_mifr", lambda *_: math.inf)
    right = module.paper_closed_form(public, proximity=GAMMA, weight=weight)
    monkeypatch.setattr(module, "_score_of_water_filling", lambda public, floor, proximity: abs(floor - 0.01))
    assert module.paper_closed_form(public, proximity=GAMMA, weight=weight) > right * 1.05
