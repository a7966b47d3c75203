import xml.etree.ElementTree as ET

import numpy as np
import pytest

from evomix.reproduction import distance_figure as figure_module
from evomix.reproduction.distance_claims import distance_claims, summary_notes
from evomix.reproduction.distance_curves import (
    GAUSSIAN,
    LAW_CURVES,
    LINMIX,
    PUBLIC,
    PUBMIX,
    REAL,
    ROW_CURVES,
    THRESHOLDED,
    Distances,
    all_ordered_pairs,
    distances,
    draws_of,
    mixtures_at,
)
from evomix.reproduction.figure import NOT_COMPARABLE, Request
from evomix.reproduction.pubmix_fig1d import pubmix_fig1d
from evomix.reproduction.pubmix_fig4 import pubmix_fig4
from evomix.reproduction.releases import total_variation
from evomix.reproduction.state_pairs import chosen_pairs


@pytest.fixture(scope="module")
def pair(states):
    return chosen_pairs(states)[0]


@pytest.fixture(scope="module")
def laws(pair):
    return distances(pair, shares=(0.1,), seeds=2, curves=LAW_CURVES, drawn=False)


SEEDS = 10
DRAWN = (PUBMIX, GAUSSIAN, REAL)


@pytest.fixture(scope="module")
def rows(pair):
    return distances(pair, shares=(0.1,), seeds=SEEDS, curves=DRAWN, drawn=True)


def test_a_mixtures_law_is_as_far_as_its_weight_says(pair, laws):
    for name, mixture in mixtures_at(pair, laws.draws[0]).items():
        expected = mixture.weight * total_variation(pair.private_votes, mixture.noise)
        assert laws.mean[name][0] == pytest.approx(expected)
        assert laws.spread[name] == (0.0,)
    assert laws.mean[PUBLIC][0] == pytest.approx(pair.distance)
    assert laws.spread[GAUSSIAN][0] > 0.0


def test_rows_are_farther_than_their_law_by_their_own_sampling(pair, laws, rows):
    # Total variation is convex: no law's rows are nearer on average than the law itself.
    assert rows.mean[PUBMIX][0] > laws.mean[PUBMIX][0]
    assert rows.mean[GAUSSIAN][0] > laws.mean[GAUSSIAN][0]
    m = rows.draws[0]
    again = np.random.default_rng(5).multinomial(m, pair.private_votes, size=50) / m
    expected = 0.5 * np.abs(again - pair.private_votes).sum(axis=1)
    error = expected.std() * (1 / SEEDS + 1 / 50) ** 0.5
    assert rows.mean[REAL][0] == pytest.approx(expected.mean(), abs=6 * error)


def test_a_curve_does_not_depend_on_what_else_is_drawn(pair, rows):
    alone = distances(pair, shares=(0.1,), seeds=SEEDS, curves=(PUBMIX,), drawn=True)
    assert alone.mean[PUBMIX] == rows.mean[PUBMIX]


def test_numbers_of_rows_are_distinct_and_ascending(pair):
    assert draws_of(pair, (1.0, 0.1, 1e-9, 1e-8)) == (1, 34, 336)


def test_all_ordered_pairs_are_there_once(states):
    small = type(states)(states.source, None, dict(list(states.cells.items())[:3]))
    lines = all_ordered_pairs(small, drawn=False)
    assert {(line["private"], line["public"]) for line in lines} == {
        (a, b) for a in small.cells for b in small.cells if a != b
    }
    assert all(0 < line[PUBMIX] <= 1 for line in lines)


def fake(pubmix, linmix, gaussian, *, spread=0.0, thresholded=0.1):
    curves = {PUBMIX: pubmix, LINMIX: linmix, GAUSSIAN: gaussian, THRESHOLDED: (thresholded,) * 2}
    return Distances((34, 336), curves, dict.fromkeys(curves, (spread,) * 2), ())


def verdicts(pair, found):
    return [claim.supported for claim in distance_claims([(pair, found)], seeds=4)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (fake((0.1, 0.1), (0.1, 0.5), (0.8, 0.8)), [True, True, True]),
        (fake((0.1, 0.9), (0.1, 0.5), (0.8, 0.8)), [False, False, False]),
        (fake((0.2, 0.1), (0.1, 0.5), (0.8, 0.8)), [True, False, True]),
        (fake((0.1, 0.1), (0.1, 0.1), (0.8, 0.8)), [True, True, False]),  # LinMix never falls behind
        (fake((0.2, 0.1), (0.1, 0.5), (0.8, 0.8), spread=0.3), [True, True, True]),  # within chance of LinMix
        (fake((0.7, 0.1), (0.8, 0.9), (0.8, 0.8), spread=0.3), [False, True, True]),  # within chance of the Gaussian
    ],
)
def test_claims_follow_the_numbers(pair, found, expected):
    assert verdicts(pair, found) == [*expected, NOT_COMPARABLE]


LINE = {"private": "AA", "distance": 0.5, "proximity": 0.4, PUBMIX: 0.3, LINMIX: 0.2, GAUSSIAN: 0.6, THRESHOLDED: 0.1}


def test_the_summary_counts():
    fine = LINE | {"private": "BB", LINMIX: 0.9, THRESHOLDED: 0.9, GAUSSIAN: 0.2}
    factor, losses = summary_notes([LINE, fine])
    assert "All 2 ordered pairs" in factor
    assert "larger in 1" in factor
    assert "in 1 (private: AA); in 1 of them" in losses
    assert summary_notes([]) == ()


@pytest.mark.parametrize(("make", "curves"), [(pubmix_fig1d, LAW_CURVES), (pubmix_fig4, ROW_CURVES)])
def test_a_quick_figure_is_whole(request_quick, make, curves):
    made = make(request_quick)
    ((suffix, svg),) = made.plots
    assert suffix == ""
    words = " ".join(one.text or "" for one in ET.fromstring(svg).iter() if one.tag.endswith("text"))
    assert all(curve in words for curve in curves)
    assert "BB and AA in place of the paper's Texas and California" in words
    assert "replace-one" in words
    (found,) = made.numbers["pairs"]
    assert found["n"] == 336
    assert made.settings["cells"] == 225_000
    assert made.rows[0][:4] == ("BB", "AA", "336", "34")


def test_a_full_figure_has_a_plot_for_each_pair_and_all_ordered_pairs(states, monkeypatch):
    monkeypatch.setattr(figure_module, "SHARES", (0.1,))
    monkeypatch.setattr(figure_module, "all_ordered_pairs", lambda states, *, drawn: [LINE | {"drawn": drawn}])
    made = pubmix_fig1d(Request(states, seeds=2))
    assert [suffix for suffix, _ in made.plots] == ["", "-cc-dd"]
    assert made.numbers["all_ordered_pairs_at_n/10"] == [LINE | {"drawn": False}]
    assert any("All 1 ordered pairs" in note for note in made.notes)
