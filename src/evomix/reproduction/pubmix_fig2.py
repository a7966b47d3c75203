"""PubMix, Figure 2: the least mixing weight β_min(t, t) against the floor t, for several numbers of rows."""

from itertools import pairwise
from typing import Any, Final

import numpy as np

from evomix.privacy.calibration import delta as delta_of
from evomix.privacy.calibration import mixing_weight
from evomix.reports.line_chart import Series, line_chart
from evomix.reproduction.figure import NOT_COMPARABLE, Claim, Reproduction, Request

N: Final = 1200
CELLS: Final = 1000
EPSILON: Final = 5.0
DELTA: Final = 1.0 / N
DRAWS: Final = (12, 60, 120, 300, 600, 1200)
_POINTS: Final = 60
_BELOW: Final = 1e-6  # relative step under β_min at which the budget must be exceeded


def pubmix_fig2(request: Request) -> Reproduction:
    """Return the figure; it reads no data and nothing in it is random."""
    floors = np.linspace(1.0 / CELLS / _POINTS, 1.0 / CELLS, 12 if request.quick else _POINTS).tolist()
    weights = {m: [mixing_weight(EPSILON, DELTA, n=N, draws=m, floor=t) for t in floors] for m in DRAWS}
    plot = line_chart(
        [Series(f"m = {m:,}", floors, weights[m]) for m in DRAWS],
        title="Least mixing weight against the least noise mass",
        x_label="floor t of the noise distribution, up to 1/d",
        y_label="least mixing weight",
        note=f"n = {N:,}, d = {CELLS:,}, ε = {EPSILON:g}, δ = 1/n, replace-one. The paper's m are not in its text.",
    )
    shown = [0, len(floors) // 4, len(floors) // 2, len(floors) - 1]
    return Reproduction(
        plots=(("", plot),),
        settings={"n": N, "cells": CELLS, "epsilon": EPSILON, "delta": DELTA, "adjacency": "replace-one"},
        numbers={"floors": floors, "mixing_weight": {str(m): values for m, values in weights.items()}},
        header=("m", *(f"t = {floors[k] * CELLS:.3f}/d" for k in shown)),
        rows=tuple((f"{m:,}", *(f"{weights[m][k]:.4f}" for k in shown)) for m in DRAWS),
        claims=_claims(floors, weights),
    )


def _claims(floors: list[float], weights: dict[int, list[float]]) -> tuple[Claim, ...]:
    falling = [later <= earlier for values in weights.values() for earlier, later in pairwise(values)]
    growing = [
        more >= fewer for one, two in pairwise(DRAWS) for fewer, more in zip(weights[one], weights[two], strict=True)
    ]
    exact = [_is_least(weights[m][k], m, floors[k]) for m in DRAWS for k in range(len(floors))]
    return (
        Claim(
            "The least mixing weight falls as the least noise mass grows.",
            all(falling),
            f"In {sum(falling)} of {len(falling)} steps along the curves it falls or stays.",
        ),
        Claim(
            "The least mixing weight grows with the number of rows.",
            all(growing),
            f"In {sum(growing)} of {len(growing)} steps from one m to the next it grows or stays.",
        ),
        Claim(
            "The least mixing weight is the smallest one that meets the budget (Theorem 4.1).",
            all(exact),
            f"At {sum(exact)} of {len(exact)} points δ(ε) is within the budget, and beyond it at a weight smaller by "
            f"one part in {1 / _BELOW:,.0f}.",
        ),
        Claim("The curves' values.", NOT_COMPARABLE, "The paper draws them and states no number."),
    )


def _is_least(weight: float, draws: int, floor: float) -> bool:
    common: dict[str, Any] = {"n": N, "draws": draws, "floor": floor}
    met = delta_of(EPSILON, mixing_weight=weight, **common) <= DELTA
    return met and (weight == 0.0 or delta_of(EPSILON, mixing_weight=weight * (1.0 - _BELOW), **common) > DELTA)
