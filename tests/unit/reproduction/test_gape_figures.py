"""Figures 1 and 6 to 8, Theorems 3.4 and 4.2 of the GAPE paper: verdicts follow the numbers, and turn with them."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from evomix.reproduction import (
    gape_cluster_sizes,
    gape_fig1,
    gape_fig6_8,
    gape_theorem_3_4,
    gape_theorem_4_2,
    gape_two_clusters,
    point_selections,
    running,
)
from evomix.reproduction.figure import Claim, Reproduction, Request
from evomix.reproduction.gape_cluster_sizes import Kept, geometric_sizes, smallest_kept
from evomix.reproduction.gape_contraction import Contraction, contraction
from evomix.reproduction.gape_fig1 import CURVE, PLANE, Distances
from evomix.reproduction.gape_floor import Floor
from evomix.reproduction.gape_two_clusters import ROUNDS, Fates, fates
from evomix.reproduction.point_evolution import noise_stddev
from evomix.reproduction.running import verdict

QUICK = Request(None, seeds=2, quick=True)
KEEPS = Fates((ROUNDS,) * 10, (False,) * 10, (False,) * 10, 0.2)
LOSES = Fates((1,) * 10, (False,) * 10, (True,) * 10, 0.3)
AT_ONCE = Fates((0,) * 10, (True,) * 10, (True,) * 10, 0.3)


def verdicts(claims):
    return [claim.supported for claim in claims]


def case(rank=LOSES, subsample=LOSES, gape=KEEPS):
    return {"rank": rank, "subsample": subsample, "subsample, even": subsample, "GAPE": gape}


@pytest.mark.parametrize(
    ("noisy", "expected"),
    [
        (case(), [True, False, True, True, True]),
        (case(rank=KEEPS), [False, False, True, True, True]),
        (case(subsample=KEEPS), [True, False, False, False, True]),
        (case(gape=LOSES), [True, False, True, False, False]),
        (case(gape=Fates((ROUNDS,) * 9 + (4,), (False,) * 10, (False,) * 10, 0.2)), [True, False, True, True, False]),
    ],
)
def test_figure_6_to_8_is_judged_by_both_cases(noisy, expected):
    assert verdicts(gape_fig6_8.claims({"no noise": case(), "ε = 4": noisy})) == expected


def test_ranking_that_loses_at_once_is_told_apart():
    both = {"no noise": case(rank=AT_ONCE), "ε = 4": case(rank=AT_ONCE)}
    assert verdicts(gape_fig6_8.claims(both))[:2] == [True, True]


def test_two_clusters_under_each_selection():
    noisy = noise_stddev(ROUNDS)
    assert fates("GAPE", stddev=noisy, seeds=4).kept == 1.0
    assert fates("rank", stddev=0.0, seeds=12).lost > 0.5
    assert fates("subsample", stddev=noisy, seeds=12).lost > 0.5


def test_the_gap_leaves_out_runs_that_lost_the_majority(monkeypatch):
    def one(points, votes, *, rng, **_):
        return np.array([points[:, 0].argmax() if rng.random() < 0.5 else points[:, 0].argmin()])

    monkeypatch.setitem(point_selections.SELECTIONS, "one", one)
    assert fates("one", stddev=0.0, seeds=8).gap < 1.0  # the clusters lie four diameters apart
    monkeypatch.setitem(point_selections.SELECTIONS, "one", lambda points, votes, **_: points[:, 0].argmax()[None])
    assert np.isnan(fates("one", stddev=0.0, seeds=2).gap)


def test_figure_6_to_8_is_made(monkeypatch):
    monkeypatch.setattr(gape_fig6_8, "SIZES", (200,))
    monkeypatch.setattr(gape_fig6_8, "BUDGETS", (1.0,))
    monkeypatch.setattr(gape_fig6_8, "SCALES", (0.25,))
    made = gape_fig6_8.gape_fig6_8(QUICK)
    assert verdicts(made.claims)[4] is True
    assert [suffix for suffix, _ in made.plots][:4] == ["", "-rank", "-subsample", "-gape"]
    assert all(ET.fromstring(svg).tag.endswith("svg") for _, svg in made.plots)
    assert len(made.rows) == 8


def test_rank_in_place_of_gape_turns_the_verdict(monkeypatch):
    monkeypatch.setitem(point_selections.SELECTIONS, "GAPE", point_selections.rank)
    assert gape_two_clusters.fates("GAPE", stddev=0.0, seeds=12).kept < gape_fig6_8.ENOUGH
    sizes = geometric_sizes(2000, 20, 45)
    assert gape_cluster_sizes.kept("GAPE", sizes, seeds=2).all_kept < gape_cluster_sizes.ENOUGH


def runs(plane, curve, left=1.0):
    shape = (3, 2)
    far = Distances(np.full(shape, plane), np.full(shape, left))
    near = Distances(np.full(shape, curve), np.full(shape, curve))
    return {f"no noise, votes {PLANE}": {"rank": far, "GAPE": far}, f"no noise, votes {CURVE}": {"GAPE": near}}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (runs(1.0, 0.0), [True, True, True]),
        (runs(0.5, 0.0), [False, True, True]),
        (runs(1.0, 0.5), [True, False, True]),
        (runs(1.0, 0.0, left=0.5), [True, True, False]),
    ],
)
def test_figure_1_follows_the_distances(found, expected):
    assert verdicts(gape_fig1.claims(found)) == expected


@pytest.mark.parametrize("name", ["rank", "subsample", "GAPE"])
def test_the_curve_stalls_in_the_plane_and_not_along_itself(name):
    given = {"stddev": 0.0, "seeds": 1, "step": gape_fig1.STEP}
    assert gape_fig1._distances(name, PLANE, **given).stalled == 1.0
    assert gape_fig1._distances(name, CURVE, **given).arrived == 1.0


def test_without_the_detour_the_curve_does_not_stall(monkeypatch):
    monkeypatch.setattr(gape_fig1, "CORNERS", np.array([[0.0, 2.0], [3.0, 2.0]]))
    given = {"stddev": 0.0, "seeds": 1, "step": gape_fig1.STEP}
    assert gape_fig1._distances("rank", PLANE, **given).arrived == 1.0


def test_figure_1_is_made(monkeypatch):
    monkeypatch.setattr(gape_fig1, "ROUNDS", 4)
    monkeypatch.setattr(gape_fig1, "STEPS", (0.125,))
    made = gape_fig1.gape_fig1(QUICK)
    assert verdicts(made.claims)[:2] == [True, False]  # four rounds are too few to arrive
    assert len(made.rows) == 12
    assert all(ET.fromstring(svg).tag.endswith("svg") for _, svg in made.plots)


def rates(rank, dimension, rate, spread=0.0):
    return Contraction(rank, dimension, np.array([rate - spread, rate + spread]))


LOW = [rates(8, d, 0.07) for d in (8, 64, 256)]
FULL = [rates(d, d, 0.56 / d) for d in (8, 64, 256)]
LAW = [rates(lam, 64, 0.56 / lam) for lam in (1, 2, 4, 8, 16)]


@pytest.mark.parametrize(
    ("by_rank", "low", "full", "expected"),
    [
        (LAW, LOW, FULL, [True, True, True]),
        ([*LAW[:-1], rates(16, 64, 1e-6)], LOW, FULL, [False, False, True]),
        ([rates(lam, 64, 0.5 / lam**2) for lam in (1, 2, 4, 8, 16)], LOW, FULL, [True, False, True]),
        (LAW, FULL, FULL, [True, True, False]),
        (LAW, LOW, LOW, [True, True, False]),
    ],
)
def test_theorem_3_4s_contraction_follows_the_rates(by_rank, low, full, expected):
    assert verdicts(gape_theorem_3_4.contraction_claims(by_rank, low, full)) == expected


def floor(k, slope, *, ambient=16, level=1.0):
    sizes = (100, 1000, 10_000)
    curve = level * np.array(sizes, dtype=float) ** slope
    return Floor(k, ambient, sizes, np.array([curve, curve]))


@pytest.mark.parametrize(
    ("slopes", "level", "expected"),
    [
        ((-1.0, -0.5, -0.33), 1.0, [True, True, True, True, True]),
        ((-0.5, -0.5, -0.33), 1.0, [False, True, True, True, True]),
        ((-0.3, -0.3, -0.33), 1.0, [False, False, False, True, True]),
        ((-1.0, -0.5, -0.1), 2.0, [True, True, True, False, False]),
    ],
)
def test_theorem_3_4s_floor_follows_the_slopes(slopes, level, expected):
    floors = [floor(k, slope) for k, slope in zip((1, 2, 3), slopes, strict=True)]
    wide = floor(2, slopes[1], ambient=256, level=level)
    assert verdicts(gape_theorem_3_4.floor_claims(floors, wide)) == expected


def test_the_rate_is_of_order_one_over_the_rank():
    few, many = (contraction(rank, 64, rounds=40, seeds=3) for rank in (4, 32))
    assert few.rate / many.rate == pytest.approx(8.0, rel=0.35)
    assert (few.rates > few.promised).all()
    assert few.promised == pytest.approx(0.1855 / 800, rel=1e-3)


def test_theorem_3_4_is_made(monkeypatch):
    monkeypatch.setattr(gape_theorem_3_4, "RANKS", (2, 4, 8, 16))
    monkeypatch.setattr(gape_theorem_3_4, "SIZES", (128, 256, 512))
    monkeypatch.setattr(gape_theorem_3_4, "CONTRACTING_ROUNDS", 20)
    monkeypatch.setattr(gape_theorem_3_4, "AMBIENT", (8, 16, 32))
    made = gape_theorem_3_4.gape_theorem_3_4(QUICK)
    assert verdicts(made.claims)[0] is True
    assert len(made.rows) == 4 + 3 + 3 + 4
    assert all(ET.fromstring(svg).tag.endswith("svg") for _, svg in made.plots)


def test_sizes_are_a_geometric_progression():
    sizes = geometric_sizes(20_000, 20, 141)
    assert sum(sizes) == 20_000
    assert sizes[0] == 141
    assert list(sizes) == sorted(sizes)
    steps = np.diff(np.log(sizes))
    assert steps.max() - steps.min() < 0.02


def test_the_smallest_size_is_found_by_bisection(monkeypatch):
    tried = []

    def pretend(name, sizes, seed):
        tried.append((sizes, seed))
        return np.array([True, sizes[1] >= 37 or seed < 19])

    monkeypatch.setattr(gape_cluster_sizes, "_survivors", pretend)
    found = smallest_kept("GAPE", 5000, seeds=21)
    grid = gape_cluster_sizes._grid(5000)
    assert found == min(size for size in grid if size >= 37)
    assert len({sizes for sizes, _ in tried}) <= 7
    assert {sum(sizes) for sizes, _ in tried} == {5000}
    assert grid[-1] == 2500


@pytest.mark.parametrize(("lost", "expected"), [(0, True), (2, True), (3, False)])
def test_often_is_95_percent_of_the_seeds(monkeypatch, lost, expected):
    tried = []

    def pretend(name, sizes, seed):
        tried.append(seed)
        return np.array([seed >= lost, True])

    monkeypatch.setattr(gape_cluster_sizes, "_survivors", pretend)
    assert gape_cluster_sizes.kept_often("rank", (10, 10), seeds=40) is expected
    assert len(tried) == (40 if expected else 3)
    assert gape_cluster_sizes.kept("rank", (10, 10), seeds=40) == Kept(1 - lost / 40, (1 - lost / 40, 1.0))


def twenty(share):
    return dict.fromkeys(point_selections.SELECTIONS, Kept(share, (share,) * 20))


@pytest.mark.parametrize(
    ("gape", "rank", "share", "expected"),
    [
        ([20, 40, 80], [50, 90, 150], 1.0, [True, True, True, True]),
        ([20, 22, 24], [50, 90, 150], 1.0, [True, False, True, True]),
        ([10, 45, 160], [50, 90, 170], 1.0, [False, False, True, True]),
        ([20, 40, 80], [50, 30, 150], 0.9, [True, True, False, False]),
    ],
)
def test_theorem_4_2_follows_the_sizes(gape, rank, share, expected):
    sizes = (1000, 4000, 16000)
    smallest = {"rank": rank, "subsample": [60, 100, 200], "subsample, even": [60, 100, 200], "GAPE": gape}
    claims = gape_theorem_4_2.claims(sizes, smallest, (100,) * 20, twenty(share))
    assert verdicts(claims) == expected


def test_theorem_4_2_is_made(monkeypatch):
    monkeypatch.setattr(gape_theorem_4_2, "smallest_kept", lambda name, n, *, seeds: round(n**0.5))
    monkeypatch.setattr(gape_theorem_4_2, "kept", lambda name, sizes, *, seeds: Kept(1.0, (1.0,) * len(sizes)))
    made = gape_theorem_4_2.gape_theorem_4_2(QUICK)
    assert verdicts(made.claims) == [True, True, False, True]
    assert len(made.rows) == 4
    assert all(ET.fromstring(svg).tag.endswith("svg") for _, svg in made.plots)


def test_the_page_says_that_records_are_made_up(monkeypatch, tmp_path):
    plain = Reproduction((("", "<svg/>"),), {"seeds": 3}, {}, ("x",), (("1",),), ())
    monkeypatch.setattr(running, "FIGURES", {"gape-fig1": lambda request: plain})
    _, files = running.reproduce("gape-fig1", out=tmp_path, seeds=3)
    found, page = json.loads(files[-2].read_text()), files[-1].read_text()
    assert (found["simulation"], found["private"], found["data"]) == (True, False, None)
    assert "a simulation on made-up records" in found["why_not_private"]
    assert "Learning-Augmented" in found["paper"]
    assert "Repetitions: 3." in page
    assert "--data" not in page


def test_a_claim_decided_by_numpy_reads_as_any_other():
    claim = Claim("it holds", np.bool_(True), "1 < 2")
    assert claim.supported is True
    assert verdict(claim) == "supported"
