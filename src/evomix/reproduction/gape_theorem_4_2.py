"""GAPE Theorem 4.2 in simulation: how small a cluster may be that is kept, against n; and twenty unequal clusters."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from evomix.reports.line_chart import Series, line_chart
from evomix.reproduction.exponents import exponent
from evomix.reproduction.figure import Claim, Reproduction, Request
from evomix.reproduction.gape_cluster_sizes import (
    ENOUGH,
    ROUNDS,
    SCALES,
    STEP,
    Kept,
    geometric_sizes,
    kept,
    points_of,
    smallest_kept,
)
from evomix.reproduction.point_clusters import SEPARATION
from evomix.reproduction.point_evolution import EPSILON, budget_settings
from evomix.reproduction.point_selections import SELECTIONS

SIZES: Final = (1000, 2000, 4000, 8000, 16000)
CLUSTERS: Final = 20
N: Final = 20_000
MULTIPLE: Final = 1.0
"""c: the smallest of the twenty clusters has c·√n records. Fixed after three runs on seeds never used by the figure."""
SLACK: Final = 0.15
"""How far a fitted exponent may be from 1/2; the theory leaves logarithms out."""

Smallest = Mapping[str, Sequence[int]]


def gape_theorem_4_2(request: Request) -> Reproduction:
    """Return the simulation; the records are made up."""
    sizes, n = (SIZES[:3], 4000) if request.quick else (SIZES, N)
    smallest = {name: [smallest_kept(name, one, seeds=request.seeds) for one in sizes] for name in SELECTIONS}
    unequal = geometric_sizes(n, CLUSTERS, round(MULTIPLE * n**0.5))
    twenty = {name: kept(name, unequal, seeds=request.seeds) for name in SELECTIONS}
    return Reproduction(
        plots=(("", _size_plot(sizes, smallest)), ("-twenty", _twenty_plot(unequal, twenty))),
        settings=_settings(request, sizes, unequal),
        numbers={
            "n": sizes,
            "smallest_kept": smallest,
            "exponent": {name: exponent(sizes, found) for name, found in smallest.items()},
            "twenty_sizes": unequal,
            "twenty": {name: {"all": one.all_kept, "each": one.by_cluster} for name, one in twenty.items()},
        },
        header=("selection", *(f"least size kept, n = {one:,}" for one in sizes), "exponent", "keeps all twenty"),
        rows=tuple(_row(name, sizes, smallest[name], twenty[name]) for name in SELECTIONS),
        claims=claims(sizes, smallest, unequal, twenty),
        notes=(
            (
                "The start has equally many points in every cluster, whatever their sizes: a small cluster's votes are "
                "at first spread over as many candidates as a large one's: the dilution behind the theorem's bound."
            ),
            (
                f"A size counts as kept when every round keeps it in at least {ENOUGH:.0%} of {request.seeds} seeds; "
                f"sizes are a factor {STEP:.2f} apart. Points m = √n, {len(SCALES)} variations of each."
            ),
        ),
    )


def claims(
    sizes: Sequence[int], smallest: Smallest, unequal: Sequence[int], twenty: Mapping[str, Kept]
) -> tuple[Claim, ...]:
    """Return what the theorem says of cluster sizes, and what was found."""
    gape = smallest["GAPE"]
    multiples = [found / n**0.5 for n, found in zip(sizes, gape, strict=True)]
    slopes = {name: exponent(sizes, found) for name, found in smallest.items()}
    slope, error = slopes["GAPE"]
    kept_all = {name: one.all_kept for name, one in twenty.items()}
    return (
        Claim(
            "With m of order √n a cluster of order √n records is kept by GAPE (enough: the exponent is at most 1/2).",
            slope <= 0.5 + SLACK,
            f"The least size kept in {ENOUGH:.0%} of seeds is {min(multiples):.2f}·√n to {max(multiples):.2f}·√n; "
            f"exponent {slope:.2f} ± {error:.2f}.",
        ),
        Claim(
            "The order √n is also needed: the least size grows as n^(1/2). (Our question, not the theorem's.)",
            abs(slope - 0.5) <= SLACK,
            f"Exponent {slope:.2f} ± {error:.2f}, sizes {', '.join(map(str, gape))}.",
        ),
        Claim(
            "Ranking and subsampling need larger clusters than GAPE, at every n.",
            all(other > own for name in ("rank", "subsample") for other, own in zip(smallest[name], gape, strict=True)),
            "; ".join(
                f"{name}: {', '.join(map(str, found))} (exponent {slopes[name][0]:.2f})"
                for name, found in smallest.items()
            )
            + ".",
        ),
        Claim(
            f"{len(unequal)} clusters from {unequal[0]:,} to {unequal[-1]:,} records: GAPE keeps all of them (our bar: "
            f"in {ENOUGH:.0%} of seeds).",
            kept_all["GAPE"] >= ENOUGH,
            "All kept: " + ", ".join(f"{name} {share:.0%}" for name, share in kept_all.items()) + ".",
        ),
    )


def _size_plot(sizes: Sequence[int], smallest: Smallest) -> str:
    return line_chart(
        [
            *(Series(name, sizes, found, marker=True) for name, found in smallest.items()),
            Series("√n", sizes, [n**0.5 for n in sizes]),
        ],
        title=f"The smallest of two clusters that is kept in {ENOUGH:.0%} of seeds",
        x_label="number n of records",
        y_label="records of the smaller cluster",
        log_x=True,
        log_y=True,
        note=f"Made-up records, m = √n points. {_BUDGET}",
    )


def _twenty_plot(unequal: Sequence[int], twenty: Mapping[str, Kept]) -> str:
    return line_chart(
        [Series(name, unequal, one.by_cluster, marker=True) for name, one in twenty.items()],
        title=f"{len(unequal)} clusters of unequal sizes: how often each is kept",
        x_label="records of the cluster",
        y_label="share of seeds that kept it in every round",
        log_x=True,
        note=f"{sum(unequal):,} made-up records, m = {points_of(sum(unequal))} points. {_BUDGET}",
    )


_BUDGET: Final = f"Gaussian noise, replace-one; all {ROUNDS} rounds together cost ε = {EPSILON:g}, δ = 10⁻⁶."


def _settings(request: Request, sizes: Sequence[int], unequal: Sequence[int]) -> dict[str, Any]:
    return budget_settings(ROUNDS) | {
        "n": sizes,
        "points": "√n",
        "scales_in_diameters": SCALES,
        "separation_in_diameters": SEPARATION,
        "enough": ENOUGH,
        "step_of_sizes": STEP,
        "twenty_clusters": {"n": sum(unequal), "smallest": f"{MULTIPLE:g}·√n", "sizes": "geometric progression"},
        "seeds": request.seeds,
        "quick": request.quick,
    }


def _row(name: str, sizes: Sequence[int], found: Sequence[int], one: Kept) -> tuple[str, ...]:
    slope, error = exponent(sizes, found)
    return (name, *map(str, found), f"{slope:.2f} ± {error:.2f}", f"{one.all_kept:.0%}")
