"""PubMix, Figure 3: two ways of raising the small masses of one distribution to a floor."""

from itertools import chain, combinations
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.privacy.floor_raising import raise_floor, water_fill
from evomix.reports.bar_chart import Bars, bar_chart
from evomix.reproduction.figure import NOT_COMPARABLE, Claim, Reproduction, Request
from evomix.reproduction.releases import total_variation

MASSES: Final = (0.01, 0.02, 0.04, 0.07, 0.09, 0.11, 0.13, 0.15, 0.18, 0.20)
FLOOR: Final = 0.06
_ROUNDING: Final = 1e-12


def pubmix_fig3(request: Request) -> Reproduction:
    """Return the figure; it reads no data, nothing in it is random, and a quick one is the same."""
    del request
    masses = np.array(MASSES)
    levelled, kept = water_fill(masses, floor=FLOOR), raise_floor(masses, floor=FLOOR)
    raised = {"original": masses, "water-filling (WF)": levelled, "least donors (MIFR)": kept}
    plot = bar_chart(
        [Bars(name, values.tolist()) for name, values in raised.items()],
        labels=[str(k + 1) for k in range(len(MASSES))],
        title="Raising a floor: from all large masses alike, or from few",
        x_label="outcome",
        y_label="mass",
        level=(f"floor t = {FLOOR:g}", FLOOR),
        note="A distribution of our own; the paper's masses are not in its text.",
    )
    return Reproduction(
        plots=(("", plot),),
        settings={"masses": list(MASSES), "floor": FLOOR},
        numbers={name: values.tolist() for name, values in raised.items()},
        header=("", "least mass", "TV to the original", "mass left as it was"),
        rows=tuple(
            (name, f"{v.min():.3f}", f"{total_variation(v, masses):.3f}", f"{_unchanged(v, masses):.3f}")
            for name, v in raised.items()
        ),
        claims=_claims(masses, levelled, kept),
    )


def _claims(masses: FloatArray, levelled: FloatArray, kept: FloatArray) -> tuple[Claim, ...]:
    need = float(np.maximum(FLOOR - masses, 0.0).sum())
    costs = [total_variation(raised, masses) for raised in (levelled, kept)]
    above = masses > FLOOR
    amounts = (masses - levelled)[above & (levelled > FLOOR + _ROUNDING)]
    best = _most_unchanged(masses, need)
    return (
        Claim(
            "Both ways reach the floor at the least total variation to the original that any distribution can have.",
            min(levelled.min(), kept.min()) >= FLOOR - _ROUNDING
            and max(abs(cost - need) for cost in costs) < _ROUNDING,
            f"The small masses lack {need:.3f}; the ways cost {costs[0]:.3f} and {costs[1]:.3f}.",
        ),
        Claim(
            "Water-filling takes the same amount from every large mass that stays above the floor.",
            float(np.ptp(amounts)) < _ROUNDING,
            f"Amounts taken lie between {amounts.min():.4f} and {amounts.max():.4f}.",
        ),
        Claim(
            "The other way leaves as much mass unchanged as can be.",
            abs(_unchanged(kept, masses) - best) < _ROUNDING,
            f"It leaves {_unchanged(kept, masses):.3f}; of all sets of donors the best leaves {best:.3f}.",
        ),
        Claim("The drawn masses.", NOT_COMPARABLE, "The paper draws its example and states no number."),
    )


def _unchanged(raised: FloatArray, masses: FloatArray) -> float:
    return float(masses[np.abs(raised - masses) < _ROUNDING].sum())


def _most_unchanged(masses: FloatArray, need: float) -> float:
    """Return the most mass that any set of donors leaves, by trying all sets."""
    large = np.flatnonzero(masses > FLOOR).tolist()
    every_set = chain.from_iterable(combinations(large, size) for size in range(len(large) + 1))
    able = [s for s in map(list, every_set) if (masses[s] - FLOOR).sum() >= need - _ROUNDING]
    return float(masses[large].sum() - min(masses[s].sum() for s in able))
