"""GAPE Figure 1: a curve on which Private Evolution stalls, although the generator reaches the records along it.

Example 3.3 of the paper has a picture and no numbers. Here the curve is a comb of long vertical pieces; the start is
the upper end of the first, the records lie about the upper end of the last. A small step along the curve leads down,
away from the records as the crow flies, so the start keeps all votes. Along the curve it leads towards them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.reports.line_chart import Series, line_chart
from evomix.reports.scatter_chart import Marks, scatter_chart
from evomix.reproduction.figure import Claim, Reproduction, Request
from evomix.reproduction.point_evolution import (
    EPSILON,
    World,
    budget_settings,
    evolve_points,
    noise_stddev,
    seeded,
    where_they_are,
)
from evomix.reproduction.point_generators import CurveSteps
from evomix.reproduction.point_selections import SELECTIONS

CORNERS: Final = np.array([[0, 2], [0, 0], [1, 0], [1, 2], [2, 2], [2, 0], [3, 0], [3, 2]], dtype=np.float64)
HEIGHT: Final = 2.0
N: Final = 1000
SIZE: Final = 10
VARIATIONS: Final = 7
ROUNDS: Final = 50
STEP: Final = 0.125
"""Standard deviation of a step, in heights of a vertical piece."""
STEPS: Final = (0.125, 0.25, 0.5, 1.0, 2.0)
_SPREAD: Final = 0.2
"""The records lie on the last so much of the curve."""
PLANE: Final = "in the plane"
CURVE: Final = "along the curve"
STALLED: Final = 0.99
ARRIVED: Final = 0.05
WAY_LEFT: Final = 0.95
"""Shares of the distance at the start: a run above the first stalled, one below the second arrived."""

Runs = dict[str, dict[str, "Distances"]]


@dataclass(frozen=True, slots=True)
class Distances:
    """How far the records are from their nearest point, as shares of that at the start, by repetition and round.

    Attributes:
        plane: float64 (seeds, T + 1), straight distances.
        curve: the same along the curve.
    """

    plane: FloatArray
    curve: FloatArray

    @property
    def stalled(self) -> float:
        """Share of repetitions that came no nearer in the plane."""
        return float(np.mean(self.plane[:, -1] >= STALLED))

    @property
    def arrived(self) -> float:
        """Share of repetitions that came to the records."""
        return float(np.mean(self.plane[:, -1] <= ARRIVED))


def gape_fig1(request: Request) -> Reproduction:
    """Return the figure; the records are made up."""
    noisy = noise_stddev(ROUNDS)
    names = ("rank", "subsample", "GAPE")
    runs: Runs = {
        f"{case}, votes {metric}": {
            name: _distances(name, metric, stddev=stddev, seeds=request.seeds, step=STEP) for name in names
        }
        for case, stddev in (("no noise", 0.0), (f"ε = {EPSILON:g}", noisy))
        for metric in (PLANE, CURVE)
    }
    by_step = {
        step: {name: _distances(name, PLANE, stddev=noisy, seeds=request.seeds, step=step).stalled for name in names}
        for step in (STEPS[:2] if request.quick else STEPS)
    }
    return Reproduction(
        plots=(("", _picture(noisy)), ("-rounds", _by_round(runs))),
        settings=_settings(request),
        numbers={
            "runs": {case: {name: _numbers(one) for name, one in found.items()} for case, found in runs.items()},
            "stalled_by_step": {f"{step:g}": found for step, found in by_step.items()},
        },
        header=("noise and metric", "selection", "stalled", "arrived", "last distance", "along the curve"),
        rows=tuple(_row(case, name, one) for case, found in runs.items() for name, one in found.items()),
        claims=claims(runs),
        notes=(
            (
                "Distances are the mean over the records to their nearest point, as shares of that at the start. "
                f"Stalled: at least {STALLED:g} at the end; arrived: at most {ARRIVED:g}."
            ),
            "With longer steps a variation can leap over the detour. Stalled with votes in the plane and noise, by "
            "step in heights of a vertical piece: "
            + "; ".join(
                f"{step:g}: " + ", ".join(f"{name} {share:.0%}" for name, share in found.items())
                for step, found in by_step.items()
            )
            + ". The noise then lets candidates without votes pass, and GAPE keeps those that lie far from the rest.",
        ),
    )


def claims(runs: Runs) -> tuple[Claim, ...]:
    """Return what the paper says of the curve, judged by all selections together."""
    in_plane, on_curve = (
        [(case, name, one) for case, found in runs.items() if case.endswith(metric) for name, one in found.items()]
        for metric in (PLANE, CURVE)
    )
    left = [float(one.curve[:, -1].mean()) for _, _, one in in_plane]
    return (
        Claim(
            "Example 3.3: Private Evolution stalls at a local optimum of the Euclidean metric, whatever the selection.",
            all(one.stalled == 1.0 for _, _, one in in_plane),
            "Stalled: " + _listed(in_plane, "stalled") + ".",
        ),
        Claim(
            "The records were reachable: with votes by the distance along the curve it does not stall.",
            all(one.arrived == 1.0 for _, _, one in on_curve),
            "Arrived: " + _listed(on_curve, "arrived") + ".",
        ),
        Claim(
            "No progress is made along the curve either (our reading: at least "
            f"{WAY_LEFT:.0%} of the way to the records is still ahead).",
            min(left) >= WAY_LEFT,
            f"With votes in the plane at least {min(left):.1%} of the way is left after {ROUNDS} rounds, mean over "
            "seeds: points move to the records' height and stay there.",
        ),
    )


def _listed(found: Sequence[tuple[str, str, Distances]], what: str) -> str:
    return ", ".join(f"{getattr(one, what):.0%} ({name}, {case.split(',')[0]})" for case, name, one in found)


def _world(metric: str, *, stddev: float, step: float, seed: int) -> tuple[CurveSteps, FloatArray, World]:
    """Return the curve, the records' ways along it, and the world in which distances are taken in ``metric``."""
    curve = CurveSteps(CORNERS, step * HEIGHT, VARIATIONS)
    ways = curve.length - _SPREAD * seeded(seed, 0).random((N, 1))
    place = curve.in_plane if metric == PLANE else where_they_are
    start = np.zeros((SIZE, 1))
    return curve, ways, World(place(ways), start, curve, SIZE, ROUNDS, stddev, place)


def _distances(name: str, metric: str, *, stddev: float, seeds: int, step: float) -> Distances:
    plane, along = [], []
    for seed in range(seeds):
        curve, ways, world = _world(metric, stddev=stddev, step=step, seed=seed)
        populations = evolve_points(world, SELECTIONS[name], seeded(seed, 1))
        plane.append([_mean_gap(curve.in_plane(ways), curve.in_plane(points)) for points in populations])
        along.append([_mean_gap(ways, points) for points in populations])
    shares = [np.array(found) / np.array(found)[:, :1] for found in (plane, along)]
    return Distances(*shares)


def _mean_gap(records: FloatArray, points: FloatArray) -> float:
    return float(np.linalg.norm(records[:, None] - points, axis=2).min(axis=1).mean())


def _picture(stddev: float) -> str:
    """Return one run with GAPE, that of the first seed, in both metrics."""
    ends = {}
    for metric in (PLANE, CURVE):
        curve, ways, world = _world(metric, stddev=stddev, step=STEP, seed=0)
        populations = evolve_points(world, SELECTIONS["GAPE"], seeded(0, 1))
        middle = np.concatenate(populations[: ROUNDS + 1 : 5])
        ends[metric] = (curve.in_plane(middle), curve.in_plane(populations[-1]))
    return scatter_chart(
        [
            Marks("what the generator can make", CORNERS, kind="path"),
            Marks("records", curve.in_plane(ways), kind="cloud"),
            Marks("start", CORNERS[:1], kind="rings"),
            Marks("every 5th round, votes along the curve", ends[CURVE][0]),
            Marks("last round, votes in the plane", ends[PLANE][1], kind="rings"),
            Marks("last round, votes along the curve", ends[CURVE][1], kind="rings"),
        ],
        title="A curve on which Private Evolution stalls",
        x_label="",
        y_label="",
        note=f"GAPE, {N:,} made-up records, m = {SIZE}, {VARIATIONS} variations, first seed. {_BUDGET}",
    )


def _by_round(runs: Runs) -> str:
    return line_chart(
        [
            Series(f"{name}, {case}", range(ROUNDS + 1), one.plane.mean(axis=0))
            for case, found in runs.items()
            if case.startswith("ε")
            for name, one in found.items()
        ],
        title="Distance of the records from their nearest point",
        x_label="round",
        y_label="mean straight distance, as a share of that at the start",
        note=f"Made-up records, mean over seeds. {_BUDGET}",
    )


_BUDGET: Final = f"Gaussian noise, replace-one; all {ROUNDS} rounds together cost ε = {EPSILON:g}, δ = 10⁻⁶."


def _settings(request: Request) -> dict[str, Any]:
    return budget_settings(ROUNDS) | {
        "n": N,
        "points": SIZE,
        "variations": VARIATIONS,
        "step_in_heights": STEP,
        "curve": CORNERS.tolist(),
        "records": f"uniform over the last {_SPREAD:g} of the curve",
        "start": "all points at the curve's beginning",
        "seeds": request.seeds,
        "quick": request.quick,
    }


def _numbers(one: Distances) -> dict[str, Any]:
    means = {"plane": one.plane.mean(axis=0).tolist(), "curve": one.curve.mean(axis=0).tolist()}
    return {"stalled": one.stalled, "arrived": one.arrived, "mean_share_of_start_by_round": means}


def _row(case: str, name: str, one: Distances) -> tuple[str, ...]:
    last = [f"{found[:, -1].mean():.2f}" for found in (one.plane, one.curve)]
    return (case, name, f"{one.stalled:.0%}", f"{one.arrived:.0%}", *last)
