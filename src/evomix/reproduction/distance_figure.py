"""Figures 1(d) and 4 put together: plots, table, claims. What differs between them is whether rows are drawn."""

from typing import Any

from evomix.reports.line_chart import Series, line_chart
from evomix.reproduction.census import CELLS, COLUMNS, SHAPE, States
from evomix.reproduction.distance_claims import distance_claims, distance_notes, ratio, summary_notes
from evomix.reproduction.distance_curves import (
    LAW_CURVES,
    MECHANISMS,
    QUICK_SHARES,
    ROW_CURVES,
    SHARES,
    THRESHOLDED,
    Distances,
    all_ordered_pairs,
    distances,
    middle,
)
from evomix.reproduction.figure import Reproduction, Request
from evomix.reproduction.releases import ADJACENCY
from evomix.reproduction.state_pairs import EPSILON, KEPT, StatePair, chosen_pairs, needed


def distance_figure(request: Request, *, drawn: bool, title: str) -> Reproduction:
    """Measure the pairs and put the figure together.

    Args:
        request: with a table of states.
        drawn: whether rows are drawn from each law.
        title: what the plots are called.
    """
    states = needed(request.states)
    shares = QUICK_SHARES if request.quick else SHARES
    curves = ROW_CURVES if drawn else LAW_CURVES
    measured = [
        (pair, distances(pair, shares=shares, seeds=request.seeds, curves=curves, drawn=drawn))
        for pair in chosen_pairs(states, most=1 if request.quick else 3)
    ]
    everyone = [] if request.quick else all_ordered_pairs(states, drawn=drawn)
    return Reproduction(
        plots=tuple(
            ("" if k == 0 else f"-{pair.slug}", _plot(pair, found, states, title))
            for k, (pair, found) in enumerate(measured)
        ),
        settings=_settings(states, request),
        numbers={"pairs": [_numbers(pair, found) for pair, found in measured], "all_ordered_pairs_at_n/10": everyone},
        header=("private", "public", "n", "m", "γ", "TV of votes", *MECHANISMS, "thresholded", "Gaussian/PubMix"),
        rows=tuple(_row(pair, found) for pair, found in measured),
        claims=distance_claims(measured, seeds=request.seeds),
        notes=(*distance_notes(measured), *summary_notes(everyone)),
    )


def _plot(pair: StatePair, found: Distances, states: States, title: str) -> str:
    return line_chart(
        [Series(name, found.draws, found.mean[name], spread=found.spread[name], marker=True) for name in found.mean],
        title=f"{title}: {pair.name}",
        x_label="number m of synthetic rows",
        y_label="total variation to the private votes",
        log_x=True,
        note=(
            f"Simulation on rows of {states.source} declared public, {pair.private} and {pair.public} in place of the "
            f"paper's Texas and California (2023). n = {pair.budget.n:,} ({KEPT:.0%} of {pair.private}), d = {CELLS:,} "
            f"cells, ε = {EPSILON:g}, δ = 1/n, {ADJACENCY} for all, γ = {pair.proximity:.2f}. Bars: ± 1 s.d."
        ),
    )


def _settings(states: States, request: Request) -> dict[str, Any]:
    return {
        "epsilon": EPSILON,
        "delta": "1/n",
        "adjacency": ADJACENCY,
        "n": f"{KEPT:.0%} of the rows of the private state",
        "cells": CELLS,
        "columns": {column.name: levels for column, levels in zip(COLUMNS, SHAPE, strict=True)},
        "pairs": "states by size, 1st with 2nd, 3rd with 4th, 5th with 6th; the larger is private",
        "proximity": "mean total variation between pairs of states other than the private one",
        "rows_by_state": {name: len(cells) for name, cells in states.cells.items()},
        "seeds": request.seeds,
        "quick": request.quick,
    }


def _numbers(pair: StatePair, found: Distances) -> dict[str, Any]:
    known = {"private": pair.private, "public": pair.public, "n": pair.budget.n, "proximity": pair.proximity}
    measured = {"distance": pair.distance, "draws": found.draws, "mean": dict(found.mean), "sd": dict(found.spread)}
    return known | measured | {"designs": list(found.designs)}


def _row(pair: StatePair, found: Distances) -> tuple[str, ...]:
    m = middle(pair)
    values = [found.at(curve, m) for curve in (*MECHANISMS, THRESHOLDED)]
    first = (pair.private, pair.public, str(pair.budget.n), str(m), f"{pair.proximity:.3f}", f"{pair.distance:.3f}")
    return (*first, *(f"{value:.3f}" for value in values), f"{ratio(found, m):.2f}")
