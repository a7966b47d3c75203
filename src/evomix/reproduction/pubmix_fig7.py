"""PubMix, Figure 7: how much the closed form of the noise design loses against the exact optimum.

The public distributions are a grid on the simplex. The worst case does not change when outcomes change places, so each
sorted grid point is solved once and counted as often as its rearrangements occur.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

import numpy as np

from evomix.privacy.calibration import mixing_weight
from evomix.privacy.noise_design import design_noise
from evomix.reports.bar_chart import histogram
from evomix.reproduction.figure import Claim, Reproduction, Request
from evomix.reproduction.paper_closed_form import best_floors, paper_closed_form

PROXIMITY: Final = 0.35
N: Final = 100
DRAWS: Final = 80
EPSILON: Final = 5.0
DELTA: Final = 1.0 / N
DIMENSIONS: Final = (3, 4)
STEPS: Final = 20  # a grid of multiples of 1/20
QUICK_STEPS: Final = 5
BOUND: Final = 0.015  # of the exact optimum: what "small" must mean
_NOTHING: Final = 1e-4  # of the exact optimum: what counts as no gap, above all solver tolerances
_BINS: Final = 20
_READINGS: Final = (
    "Remark 4.5 has the better of water-filling and least donors at optimised floors. 'Best floors' optimises the true "
    "worst case. Lemma F.2 picks the floor of water-filling by a lower bound of it instead. evomix scores the true "
    "worst case, tries fewer floors and knows one more rule."
)


@dataclass(frozen=True, slots=True)
class Gap:
    """One sorted public distribution.

    Attributes:
        public: its masses, descending.
        times: how many grid points are rearrangements of it.
        exact: the least worst-case distance, by the exact design.
        certified: a proven lower bound on it.
        best: what the paper's two rules reach, each at the floor that is truly best for it.
        letter: what they reach where Lemma F.2 picks the floor of water-filling.
        ours: what evomix's closed form reaches, which knows one more rule.
    """

    public: tuple[float, ...]
    times: int
    exact: float
    certified: float
    best: float
    letter: float
    ours: float


Reached = Callable[[Gap], float]


def pubmix_fig7(request: Request) -> Reproduction:
    """Return the figure; it reads no data and nothing in it is random."""
    steps = QUICK_STEPS if request.quick else STEPS
    gaps = {d: [_gap(parts, times, steps) for parts, times in _grid(d, steps)] for d in DIMENSIONS}
    plot = histogram(
        [
            (f"d = {d}, {reading}", [reached - gap.exact for gap in found for reached in [pick(gap)] * gap.times])
            for reading, pick in (("best floors", _best), ("floor by Lemma F.2", _letter))
            for d, found in gaps.items()
        ],
        bins=_BINS,
        title="Closed form against the exact noise design",
        x_label="worst-case total variation of the closed form, less that of the exact optimum",
        y_label="share of public distributions",
        note=(
            f"γ = {PROXIMITY:g}, n = {N}, m = {DRAWS}, ε = {EPSILON:g}, δ = 1/n; public distributions with masses in "
            f"multiples of 1/{steps}."
        ),
    )
    return Reproduction(
        plots=(("", plot),),
        settings={
            "proximity": PROXIMITY,
            "n": N,
            "draws": DRAWS,
            "epsilon": EPSILON,
            "delta": DELTA,
            "adjacency": "replace-one",
            "grid": f"all distributions with masses in multiples of 1/{steps}",
            "quick": request.quick,
        },
        numbers={f"d={d}": [_numbers(gap) for gap in found] for d, found in gaps.items()},
        header=(
            "d",
            "public distributions",
            "no gap: best floors",
            "by Lemma F.2",
            "largest gap: best floors",
            "by Lemma F.2",
            "evomix",
        ),
        rows=tuple(_row(d, found) for d, found in gaps.items()),
        claims=tuple(claim for d, found in gaps.items() for claim in _claims(d, found)),
        notes=(_READINGS, *(_letter_note(d, found) for d, found in gaps.items())),
    )


def _grid(d: int, steps: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the descending whole numbers that sum to ``steps``, and how many orders each can stand in."""
    for parts in _partitions(steps, d, steps):
        repeats = math.prod(math.factorial(count) for count in Counter(parts).values())
        yield parts, math.factorial(d) // repeats


def _partitions(total: int, d: int, largest: int) -> Iterator[tuple[int, ...]]:
    if d == 1:
        if total <= largest:
            yield (total,)
        return
    for first in range(min(total, largest), math.ceil(total / d) - 1, -1):
        for rest in _partitions(total - first, d - 1, first):
            yield (first, *rest)


def _gap(parts: tuple[int, ...], times: int, steps: int) -> Gap:
    public = np.array(parts) / steps
    design = partial(design_noise, public, proximity=PROXIMITY, epsilon=EPSILON, delta=DELTA, n=N, draws=DRAWS)
    exact, ours = design(method="exact"), design(method="closed_form")
    best = best_floors(public, proximity=PROXIMITY, weight=_weight)
    letter = paper_closed_form(public, proximity=PROXIMITY, weight=_weight)
    return Gap(tuple(public.tolist()), times, exact.objective, exact.lower_bound, best, letter, ours.objective)


@lru_cache(maxsize=1 << 14)
def _weight(floor: float) -> float:
    return mixing_weight(EPSILON, DELTA, n=N, draws=DRAWS, floor=floor)


def _best(gap: Gap) -> float:
    return gap.best


def _letter(gap: Gap) -> float:
    return gap.letter


def _ours(gap: Gap) -> float:
    return gap.ours


def _numbers(gap: Gap) -> dict[str, object]:
    return {
        "public": gap.public,
        "times": gap.times,
        "exact": gap.exact,
        "lower_bound": gap.certified,
        "best_floors": gap.best,
        "floor_by_lemma_f2": gap.letter,
        "evomix_closed_form": gap.ours,
    }


def _row(d: int, found: list[Gap]) -> tuple[str, ...]:
    shares = [f"{_share_at_zero(found, pick):.1%}" for pick in (_best, _letter)]
    largest = [f"{_largest(found, pick):.2%}" for pick in (_best, _letter, _ours)]
    return (str(d), str(sum(gap.times for gap in found)), *shares, *largest)


def _share_at_zero(found: list[Gap], reached: Reached) -> float:
    zero = sum(gap.times for gap in found if reached(gap) - gap.exact <= _NOTHING * gap.exact)
    return zero / sum(gap.times for gap in found)


def _largest(found: list[Gap], reached: Reached) -> float:
    """Return the largest gap between what was reached and the optimum, as a share of the optimum."""
    return max(reached(gap) / gap.exact - 1.0 for gap in found)


def _claims(d: int, found: list[Gap]) -> tuple[Claim, ...]:
    best, letter = (_share_at_zero(found, pick) for pick in (_best, _letter))
    largest = _largest(found, _best)
    slack = max((gap.exact - gap.certified) / gap.exact for gap in found)
    return (
        Claim(
            f"d = {d}: the closed form is the exact optimum for most public distributions.",
            min(best, letter) > 0.5,
            f"No gap beyond {_NOTHING:g} of the optimum in {best:.1%} of the grid with best floors, in {letter:.1%} "
            f"with the floor of Lemma F.2; the optimum itself is certified within {slack:.1e}.",
        ),
        Claim(
            f"d = {d}: where it is not, the gap is small (our reading: best floors, within {BOUND:.1%}).",
            largest <= BOUND,
            f"The largest gap is {largest:.2%} of the optimum.",
        ),
    )


def _letter_note(d: int, found: list[Gap]) -> str:
    worst = max(found, key=lambda gap: gap.letter / gap.exact)
    beyond = sum(gap.times for gap in found if gap.letter > (1.0 + BOUND) * gap.exact)
    where = ", ".join(f"{mass:g}" for mass in worst.public)
    return (
        f"d = {d}: with the floor of Lemma F.2 the gap exceeds {BOUND:.1%} of the optimum for {beyond} of the grid's "
        f"{sum(gap.times for gap in found)} distributions; at worst, ({where}), it is {worst.letter - worst.exact:.3f} "
        f"in total variation above the optimum's {worst.exact:.3f}."
    )
