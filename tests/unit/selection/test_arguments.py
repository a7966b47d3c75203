"""What no selection on points accepts, whichever of them is asked; and that what all accept ends in numbers."""

import math

import numpy as np
import pytest

from evomix.core.errors import SpecError
from evomix.selection import cluster_radius, gape, local_search, ls_cost, project

SIZE = 12
POINTS = np.random.default_rng(0).normal(size=(SIZE, 2))
VOTES = np.random.default_rng(1).normal(size=SIZE) + 0.5
CALLS = {
    "gape": lambda given: gape(**given),
    "local_search": lambda given: local_search(**{"radius": 2.0} | given),
    "ls_cost": lambda given: ls_cost(given["points"], given["votes"], [0, 1], radius=given.get("radius", 2.0)),
    "project": lambda given: project(given["points"], given["votes"]),
    "project to units": lambda given: project(given["points"], given["votes"], units=100),
    "cluster_radius": lambda given: cluster_radius(
        given["points"], given["size"], given.get("rng", np.random.default_rng(0))
    ),
}
WRONG = {
    "points": {
        "nan": np.where(np.eye(SIZE, 2) == 1.0, np.nan, POINTS),
        "infinite": np.full((SIZE, 2), np.inf),
        "truths": POINTS > 0.0,
        "complex": POINTS + 0j,
        "words": POINTS.astype(str),
        "objects": POINTS.astype(object),
        "too large": 1e160 * POINTS,
        "too large for a double": POINTS.astype(np.longdouble) * np.longdouble(10) ** 400,
        "huge whole numbers": [[10**400, 1]] * SIZE,
        "ragged": [[1.0], [1.0, 2.0]],
        "one dimension": POINTS[:, 0],
        "none": None,
    },
    "votes": {
        "nan": VOTES * np.nan,
        "infinite": VOTES * np.inf,
        "truths": VOTES > 0.0,
        "complex": VOTES + 0j,
        "words": VOTES.astype(str),
        "objects": VOTES.astype(object),
        "an infinite sum": np.full(SIZE, 1.7e308),
        "infinite sizes": np.tile([1.7e308, -1.7e308], SIZE // 2),
        "ragged": [[1.0], [1.0, 2.0]],
        "short": VOTES[:3],
        "none": None,
    },
    "size": {"1.5": 1.5, "word": "3", "none": None, "true": True, "zero": 0, "nan": math.nan, "list": [3]},
    "radius": {"word": "1", "list": [1.0], "complex": 1j, "huge": 10**400, "0": 0.0, "nan": math.nan, "true": True},
    "threshold": {"word": "0", "complex": 1j, "nan": math.nan, "true": True, "words": ["0"] * SIZE, "short": [0.0]},
    "rng": {"seed": 0, "old": np.random.RandomState(0), "module": np.random},
}
TAKES = {
    "gape": {"points", "votes", "size", "radius", "threshold", "rng"},
    "local_search": {"points", "votes", "size", "radius", "threshold", "rng"},
    "ls_cost": {"points", "votes", "radius"},
    "project": {"points", "votes"},
    "project to units": {"points", "votes"},
    "cluster_radius": {"points", "size", "rng"},
}


@pytest.mark.parametrize(
    ("call", "argument", "kind"),
    [(call, name, kind) for call in CALLS for name in sorted(TAKES[call]) for kind in WRONG[name]],
)
def test_wrong_arguments_are_refused_by_name(call, argument, kind):
    given = {"points": POINTS, "votes": VOTES, "size": 3} | {argument: WRONG[argument][kind]}
    with pytest.raises(SpecError, match="generator" if argument == "rng" else argument):
        CALLS[call](given)


@pytest.mark.parametrize("units", ["1", [1], 1j, 10**400, 0, -1.0, math.nan, math.inf, True])
def test_wrong_units_are_refused(units):
    with pytest.raises(SpecError, match="units"):
        project(POINTS, VOTES, units=units)


def test_units_that_make_too_much_of_the_votes_are_refused():
    with pytest.raises(SpecError, match="units"):
        project(POINTS, VOTES, units=1e-300)


@pytest.mark.parametrize("trials", [-1, 1.5, "3", True, math.nan])
def test_wrong_trials_are_refused(trials):
    with pytest.raises(SpecError, match="trials"):
        local_search(POINTS, VOTES, size=3, radius=2.0, trials=trials)


POSITIONS = [
    [math.nan, 1, 2],
    [0.5, 1, 2],
    [0.0, 1.0, 2.0],
    [True, False, True],
    ["0", "1", "2"],
    [0, 0, 1],
    [-1, 0, 1],
    [0, 1, SIZE],
    [0, 1, 10**400],
    np.array([0, 1, 2**64 - 1], np.uint64),
    [[0], [1, 2]],
    [[0, 1, 2]],
    5,
    "abc",
]


@pytest.mark.parametrize("positions", POSITIONS, ids=str)
def test_wrong_positions_are_refused(positions):
    with pytest.raises(SpecError, match="start"):
        local_search(POINTS, np.ones(SIZE), size=3, radius=2.0, start=positions)
    with pytest.raises(SpecError, match="chosen"):
        ls_cost(POINTS, np.ones(SIZE), positions, radius=2.0)


def test_a_start_is_checked_where_it_is_not_used():
    with pytest.raises(SpecError, match="start"):
        local_search(POINTS, -np.ones(SIZE), size=3, radius=2.0, start=[0.5, 1, 2])


def test_numbers_of_every_kind_count_as_what_they_hold():
    points, votes = np.round(9.0 * POINTS), np.round(9.0 * VOTES)
    expected = local_search(points, votes, size=3, radius=6.0)
    for kind in (np.int8, np.int64, np.float16, np.float32, np.longdouble):
        found = local_search(points.astype(kind), votes.astype(kind), size=np.int8(3), radius=np.float32(6.0))
        assert np.array_equal(found.indices, expected.indices)
        assert found.cost == expected.cost
    assert np.array_equal(gape(points.tolist(), votes.tolist(), size=10**400), np.flatnonzero(votes > 0.0))


@pytest.mark.parametrize("radius", [1e-300, 2.0, 1e155, 1.7e308, math.inf, None])
@pytest.mark.parametrize("weight", [1e-300, 1.0, 1e148])
@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e149])
def test_what_is_accepted_ends_in_numbers(scale, weight, radius):
    """At either end of the ranges: no warning, which would be an error here, and no NaN."""
    points, votes = scale * POINTS, weight * VOTES
    assert gape(points, votes, size=3, radius=radius).size <= 3
    if radius is not None:
        found = local_search(points, votes, size=3, radius=radius)
        assert np.isfinite(found.weights).all()
        assert 0.0 <= found.cost < math.inf
        assert 0.0 <= ls_cost(points, votes, [0, 1], radius=radius) < math.inf
    assert project(points, votes).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("radius", [1e160, 1.7e308])
def test_a_radius_beyond_all_distances_is_no_radius(radius):
    points = np.random.default_rng(0).normal(size=(400, 2))
    votes = np.random.default_rng(1).normal(size=400) + 0.5
    found, expected = (local_search(points, votes, size=20, radius=each) for each in (radius, math.inf))
    assert np.array_equal(found.indices, expected.indices)
    assert (found.cost, found.gap) == (expected.cost, 0.0)
