"""GAPE Figures 6 to 8: two clusters of 70 % and 30 %, three points, and which selection keeps both clusters."""

import math
from typing import Any, Final

from evomix.reports.line_chart import Series, line_chart
from evomix.reports.scatter_chart import Marks, scatter_chart
from evomix.reproduction.figure import Claim, Reproduction, Request
from evomix.reproduction.gape_two_clusters import (
    MAJORITY,
    ROUNDS,
    SCALE,
    Fates,
    N,
    fates,
    settings,
    two_clusters,
)
from evomix.reproduction.point_clusters import SEPARATION
from evomix.reproduction.point_evolution import EPSILON, evolve_points, noise_stddev, seeded
from evomix.reproduction.point_selections import SELECTIONS

NOISELESS: Final = "no noise"
NOISY: Final = f"ε = {EPSILON:g}"
SIZES: Final = (1000, 500, 200, 100, 70, 50, 30)
BUDGETS: Final = (4.0, 2.0, 1.0, 0.5, 0.25, 0.125)
SCALES: Final = (0.125, 0.25, 0.5, 1.0, 2.0)
ENOUGH: Final = 0.99
SHOWN: Final = ("rank", "subsample", "GAPE")

Cases = dict[str, dict[str, Fates]]


def gape_fig6_8(request: Request) -> Reproduction:
    """Return the three figures; the records are made up."""
    noise = {NOISELESS: 0.0, NOISY: noise_stddev(ROUNDS)}
    cases: Cases = {
        case: {name: fates(name, stddev=stddev, seeds=request.seeds) for name in SELECTIONS}
        for case, stddev in noise.items()
    }
    scans = _scans(request)
    return Reproduction(
        plots=(
            ("", _kept_by_round(cases)),
            *(
                (f"-{name.lower()}{suffix}", _trajectory(name, case, noise[case]))
                for case, suffix in ((NOISELESS, ""), (NOISY, "-noise"))
                for name in SHOWN
            ),
        ),
        settings=settings(request) | {"scales": SCALES, "sizes": SIZES, "budgets": BUDGETS},
        numbers={"cases": {case: _numbers(found) for case, found in cases.items()}, **scans},
        header=("noise", "selection", "keeps both", "minority lost in round 1", "lost at last", "gap in the majority"),
        rows=tuple(_row(case, name, one) for case, found in cases.items() for name, one in found.items()),
        claims=claims(cases),
        notes=_notes(scans),
    )


def claims(cases: Cases) -> tuple[Claim, ...]:
    """Return what the paper says of the three selections, judged by both cases together."""

    def all_of(name: str) -> list[Fates]:
        return [found[name] for found in cases.values()]

    def told(name: str, what: str) -> str:
        return ", ".join(f"{getattr(found[name], what):.0%} of seeds ({case})" for case, found in cases.items())

    gaps = [(found["subsample"].gap, found["GAPE"].gap) for found in cases.values()]
    return (
        Claim(
            "Figure 6: ranking loses the minority cluster and never gets it back (our reading: in most seeds).",
            all(one.lost > 0.5 for one in all_of("rank")),
            f"Lost within {ROUNDS} rounds in {told('rank', 'lost')}.",
        ),
        Claim(
            "Figure 6: ranking drops it at once, in the first round.",
            all(one.lost_at_once > 0.5 for one in all_of("rank")),
            f"Lost in round 1 in {told('rank', 'lost_at_once')}. It would be if every cluster's votes split evenly; "
            "with records spread over a cluster they do not, and it takes a few rounds.",
        ),
        Claim(
            "Figure 7: subsampling loses the minority cluster (in most seeds).",
            all(one.lost > 0.5 for one in all_of("subsample")),
            f"Lost in {told('subsample', 'lost')}; drawn evenly, as evomix does, in {told('subsample, even', 'lost')}.",
        ),
        Claim(
            "Figure 7: subsampling does not quite converge even to the larger cluster (our reading: its records are "
            "farther from the nearest point than under GAPE).",
            all(subsampled > chosen for subsampled, chosen in gaps),
            "Mean distance, subsampling against GAPE: "
            + ", ".join(f"{a:.3f} against {b:.3f} ({case})" for case, (a, b) in zip(cases, gaps, strict=True))
            + ".",
        ),
        Claim(
            f"Figure 8: GAPE keeps a point near each cluster (our bar: in at least {ENOUGH:.0%} of seeds).",
            all(one.kept >= ENOUGH for one in all_of("GAPE")),
            f"Kept in every round in {told('GAPE', 'kept')}.",
        ),
    )


def _scans(request: Request) -> dict[str, Any]:
    """Return the share of seeds that keep both clusters, as records, budget and scale vary, with noise."""
    seeds, noisy = request.seeds, noise_stddev(ROUNDS)
    most = 2 if request.quick else None
    return {
        "kept_by_records": {
            n: {name: fates(name, stddev=noisy, seeds=seeds, n=n).kept for name in SELECTIONS} for n in SIZES[:most]
        },
        "gape_kept_by_budget": {
            epsilon: fates("GAPE", stddev=noise_stddev(ROUNDS, epsilon=epsilon), seeds=seeds).kept
            for epsilon in BUDGETS[:most]
        },
        "kept_by_scale": {
            scale: {name: fates(name, stddev=noisy, seeds=seeds, scale=scale).kept for name in SELECTIONS}
            for scale in SCALES[:most]
        },
    }


def _notes(scans: dict[str, Any]) -> tuple[str, ...]:
    by_size = {n: found["GAPE"] for n, found in scans["kept_by_records"].items()}
    by_scale = scans["kept_by_scale"]
    steps = "; ".join(
        f"{scale:g}: " + ", ".join(f"{name} {share:.0%}" for name, share in found.items())
        for scale, found in by_scale.items()
    )
    return (
        (
            f"Where GAPE begins to fail, at {NOISY}: both clusters are kept in {_listed(by_size)} of seeds with that "
            f"many records (30 % of them in the minority; σ = {noise_stddev(ROUNDS):.2f} votes on each count)."
        ),
        f"And with {N:,} records at smaller ε: kept in {_listed(scans['gape_kept_by_budget'])}.",
        (
            f"How far variations go decides how hard ranking finds it. Kept at {NOISY}, by scale in diameters of a "
            f"cluster: {steps}. Votes split within a cluster only where variations are shorter than it is wide."
        ),
    )


def _listed(shares: dict[Any, float]) -> str:
    return ", ".join(f"{share:.0%} at {key:g}" for key, share in shares.items())


def _kept_by_round(cases: Cases) -> str:
    rounds = range(ROUNDS + 1)
    return line_chart(
        [
            Series(f"{name}, {case}", rounds, [one.kept_until(t) for t in rounds], marker=True)
            for case, found in cases.items()
            for name, one in found.items()
        ],
        title="Two clusters, 70 % and 30 %, three points: how often both are kept",
        x_label="round",
        y_label="share of seeds that kept both clusters so far",
        note=f"{N:,} made-up records, two variations of each point, a step of {SCALE:g} diameters. {_NOTE}",
    )


def _trajectory(name: str, case: str, stddev: float) -> str:
    """Return one run, that of the first seed."""
    world = two_clusters(stddev=stddev, seed=0)
    populations = evolve_points(world, SELECTIONS[name], seeded(0, 1))
    order = sorted(range(len(world.records)), key=lambda k: world.records[k, 0])
    return scatter_chart(
        [
            Marks("records", world.records[order[:: max(len(order) // 300, 1)]], kind="cloud"),
            Marks("start", populations[0], kind="rings"),
            *(Marks(f"round {t}", populations[t]) for t in (1, 2, 5)),
            Marks(f"round {ROUNDS}", populations[-1], kind="rings"),
        ],
        title=f"Three points in two clusters: {name}, {case}",
        x_label=f"the clusters ({MAJORITY:.0%} left) lie {SEPARATION:g} diameters apart",
        y_label="",
        note=f"First seed; one record in three is shown. {_NOTE}",
    )


_NOTE: Final = "Gaussian noise, replace-one, all rounds together cost ε = 4, δ = 10⁻⁶; or none."


def _numbers(found: dict[str, Fates]) -> dict[str, Any]:
    return {
        name: {
            "kept": one.kept,
            "minority_lost": one.lost,
            "minority_lost_at_once": one.lost_at_once,
            "gap": one.gap if math.isfinite(one.gap) else None,
            "rounds_kept": one.rounds,
        }
        for name, one in found.items()
    }


def _row(case: str, name: str, one: Fates) -> tuple[str, ...]:
    return (case, name, f"{one.kept:.0%}", f"{one.lost_at_once:.0%}", f"{one.lost:.0%}", f"{one.gap:.3f}")
