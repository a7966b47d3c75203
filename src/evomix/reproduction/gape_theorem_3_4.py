"""GAPE Theorem 3.4 in simulation: contraction with λ, independence of the ambient d, and the floor's rate in n."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from evomix.reports.line_chart import Series, line_chart
from evomix.reproduction.exponents import exponent
from evomix.reproduction.figure import Claim, Reproduction, Request
from evomix.reproduction.gape_contraction import FINEST, SITES, Contraction, contraction
from evomix.reproduction.gape_floor import FINEST as FLOOR_FINEST
from evomix.reproduction.gape_floor import RECORDS_PER_POINT, ROUNDS, Floor, noise_floor
from evomix.reproduction.point_evolution import EPSILON, budget_settings

RANKS: Final = (1, 2, 4, 8, 16, 32, 64)
FITTED_FROM: Final = 4
AMBIENT: Final = (8, 64, 256, 1024)
RANK: Final = 8
CONTRACTING_ROUNDS: Final = 60
SIZES: Final = (512, 1024, 2048, 4096, 8192)
DIMENSIONS: Final = (1, 2, 3)
FLOOR_AMBIENT: Final = 16
SLACK: Final = 0.1
"""How far a fitted exponent may be from the theory's, for the logarithms that the theory leaves out."""


def gape_theorem_3_4(request: Request) -> Reproduction:
    """Return the simulation; the records are made up."""
    seeds = request.seeds
    ranks, ambient = (RANKS[:5], AMBIENT[:3]) if request.quick else (RANKS, AMBIENT)
    sizes = SIZES[:3] if request.quick else SIZES
    by_rank = [contraction(rank, ranks[-1], rounds=CONTRACTING_ROUNDS, seeds=seeds) for rank in ranks]
    low = [contraction(RANK, d, rounds=CONTRACTING_ROUNDS, seeds=seeds) for d in ambient]
    full = [contraction(d, d, rounds=CONTRACTING_ROUNDS, seeds=seeds) for d in ambient[:3]]
    floors = [noise_floor(k, FLOOR_AMBIENT, sizes=sizes, seeds=seeds) for k in DIMENSIONS]
    wide = noise_floor(2, 16 * FLOOR_AMBIENT, sizes=sizes, seeds=seeds)
    return Reproduction(
        plots=(
            ("", _rank_plot(by_rank)),
            ("-ambient", _ambient_plot(low, full)),
            ("-floor", _floor_plot([*floors, wide])),
        ),
        settings=_settings(request),
        numbers={
            "contraction_by_rank": [_contraction_numbers(one) for one in by_rank],
            "contraction_by_ambient": [_contraction_numbers(one) for one in low],
            "contraction_isotropic": [_contraction_numbers(one) for one in full],
            "floors": [_floor_numbers(one) for one in [*floors, wide]],
        },
        header=("what", "setting", "measured", "standard error", "theory"),
        rows=(
            *(_rate_row("W₁ falls a round by", one) for one in by_rank),
            *(_rate_row("the same, rank 8", one) for one in low),
            *(_rate_row("the same, isotropic", one) for one in full),
            *(_floor_row(one) for one in [*floors, wide]),
        ),
        claims=(*contraction_claims(by_rank, low, full), *floor_claims(floors, wide)),
        notes=(
            (
                "The theory's rate is a bound with a small constant: −ln(1 − c/200λ) with c = 0.19 for normal steps. "
                "Only that it holds, and how the rate depends on λ, can be judged."
            ),
            (
                "In a pure subspace independence of d is geometry rather than luck: a rotation makes d vanish. The "
                "isotropic generator beside it, of effective rank d, shows what is gained."
            ),
        ),
    )


def contraction_claims(
    by_rank: Sequence[Contraction], low: Sequence[Contraction], full: Sequence[Contraction]
) -> tuple[Claim, ...]:
    """Return what the theory says of the contraction, and whether the rates agree."""
    least = min(by_rank, key=lambda one: one.rates.min() / one.promised)
    fitted = [one for one in by_rank if one.rank >= FITTED_FROM]
    slope, error = exponent([one.rank for one in fitted], [one.rate for one in fitted])
    flat, flat_error = exponent([one.dimension for one in low], [one.rate for one in low])
    steep, _ = exponent([one.dimension for one in full], [one.rate for one in full])
    return (
        Claim(
            "A round multiplies W₁ by at most 1 − c/200λ, down to the smallest scale.",
            all((one.rates >= one.promised).all() for one in by_rank),
            f"Every repetition's rate is at least {least.rates.min() / least.promised:.0f} times what is promised "
            f"(tightest at λ = {least.rank}).",
        ),
        Claim(
            f"The rate is of order 1/λ (our reading: exponent −1 within {SLACK:g}).",
            abs(slope + 1.0) <= SLACK,
            f"Fitted exponent of λ from {FITTED_FROM} on: {slope:.2f} ± {error:.2f}.",
        ),
        Claim(
            "The rate does not depend on the ambient dimension, if the effective rank does not.",
            abs(flat) <= SLACK and steep <= -1.0 + 2.0 * SLACK,
            f"Exponent of d at λ = {RANK}: {flat:.2f} ± {flat_error:.2f}, from d = {low[0].dimension} to "
            f"{low[-1].dimension}; with isotropic steps, λ = d, it is {steep:.2f}.",
        ),
    )


def floor_claims(floors: Sequence[Floor], wide: Floor) -> tuple[Claim, ...]:
    """Return what the theory says of the floor, and whether the slopes agree."""
    same = next(one for one in floors if one.dimension == wide.dimension)
    ratio = float(np.exp(np.log(wide.mean / same.mean).mean()))
    letter = [
        Claim(
            f"k = {one.dimension}: the floor falls as n^(−1/{one.dimension}) or faster, logarithms aside.",
            one.slope <= -1.0 / one.dimension + SLACK,
            f"Exponent {one.slope:.2f} ± {one.error:.2f}; at most {-1.0 / one.dimension + SLACK:.2f} would agree.",
        )
        for one in floors
    ]
    line = next((one for one in floors if one.dimension == 1), None)
    if line is not None:
        lemma = Claim(
            "k = 1: the floor falls as n^(−1/2) or faster, which is what the proof's own bounds give "
            "(1/max(2, k) in place of 1/k).",
            line.slope <= -0.5 + SLACK,
            f"Exponent {line.slope:.2f} ± {line.error:.2f}. Independent draws of m points alone leave m^(−1/2).",
        )
        letter.insert(1, lemma)
    return (
        *letter,
        Claim(
            "The floor does not depend on the ambient dimension (our reading: within a fifth).",
            abs(np.log(ratio)) <= np.log(1.2),
            f"k = {wide.dimension}: W₁ in d = {wide.ambient} over that in d = {same.ambient}, geometric mean over n, "
            f"is {ratio:.2f}.",
        ),
    )


def _rank_plot(by_rank: Sequence[Contraction]) -> str:
    ranks = [one.rank for one in by_rank]
    return line_chart(
        [
            Series(
                "measured", ranks, [one.rate for one in by_rank], spread=[one.error for one in by_rank], marker=True
            ),
            Series("promised: −ln(1 − c/200λ)", ranks, [one.promised for one in by_rank]),
        ],
        title="How fast W₁ falls, against the effective rank",
        x_label="effective rank λ",
        y_label="−ln of the factor by which W₁ falls a round",
        log_x=True,
        log_y=True,
        note=f"{SITES} made-up records, no noise, scales 2⁰ … 2^−{FINEST}. Bars: standard error.",
    )


def _ambient_plot(low: Sequence[Contraction], full: Sequence[Contraction]) -> str:
    return line_chart(
        [
            Series(
                name,
                [one.dimension for one in found],
                [one.rate for one in found],
                spread=[one.error for one in found],
                marker=True,
            )
            for name, found in ((f"steps in a subspace, λ = {RANK}", low), ("isotropic steps, λ = d", full))
        ],
        title="How fast W₁ falls, against the ambient dimension",
        x_label="ambient dimension d",
        y_label="−ln of the factor by which W₁ falls a round",
        log_x=True,
        log_y=True,
        note=f"{SITES} made-up records, no noise, scales 2⁰ … 2^−{FINEST}. Bars: standard error.",
    )


def _floor_plot(floors: Sequence[Floor]) -> str:
    return line_chart(
        [
            Series(f"k = {one.dimension}, d = {one.ambient}", one.sizes, one.mean, spread=one.spread, marker=True)
            for one in floors
        ],
        title="Where W₁ ends with noise, against the number of records",
        x_label="number n of records",
        y_label=f"W₁ after {ROUNDS} rounds",
        log_x=True,
        log_y=True,
        note=(
            f"Made-up records, uniform in a ball of dimension k and diameter 1; m = n/{RECORDS_PER_POINT} points, "
            f"projection and independent draws. All rounds cost ε = {EPSILON:g}, δ = 10⁻⁶, replace-one. Bars: ± 1 s.d."
        ),
    )


def _settings(request: Request) -> dict[str, Any]:
    return {
        "contraction": {"records": SITES, "points": SITES, "rounds": CONTRACTING_ROUNDS, "finest_scale": 2.0**-FINEST},
        "floor": budget_settings(ROUNDS)
        | {"records_per_point": RECORDS_PER_POINT, "finest_scale": 2.0**-FLOOR_FINEST, "ambient": FLOOR_AMBIENT},
        "slack_of_exponents": SLACK,
        "seeds": request.seeds,
        "quick": request.quick,
    }


def _contraction_numbers(one: Contraction) -> dict[str, Any]:
    found = {"rank": one.rank, "dimension": one.dimension, "rate": one.rate, "standard_error": one.error}
    return found | {"promised": one.promised}


def _floor_numbers(one: Floor) -> dict[str, Any]:
    found = {"k": one.dimension, "ambient": one.ambient, "n": one.sizes, "mean_w1": one.mean.tolist()}
    return found | {"sd_w1": one.spread.tolist(), "slope": one.slope, "standard_error": one.error}


def _rate_row(what: str, one: Contraction) -> tuple[str, ...]:
    factor, error = 1.0 - np.exp(-one.rate), np.exp(-one.rate) * one.error
    promised = 1.0 - np.exp(-one.promised)
    setting = f"λ = {one.rank}, d = {one.dimension}"
    return (what, setting, f"{factor:.2%}", f"{error:.2%}", f"at least {promised:.4%}")


def _floor_row(one: Floor) -> tuple[str, ...]:
    setting = f"k = {one.dimension}, d = {one.ambient}"
    return ("exponent of n in W₁", setting, f"{one.slope:.2f}", f"{one.error:.2f}", f"−1/{one.dimension}")
