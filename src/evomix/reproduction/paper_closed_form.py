"""The closed form of the noise design as the PubMix paper states it, to be held against the exact optimum.

``evomix.privacy.design_noise`` goes about it differently: it scores every floor by the true worst case and knows one
more way of raising a floor. Source: PubMix, Remark 4.5 with Lemmas F.1 and F.2; its t₂ is the arg min (the text's
last line of the proof prints arg max).
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.privacy.floor_raising import raise_floor, water_fill
from evomix.privacy.worst_case import worst_case_tv

_FLOORS: Final = 96
_EQUAL: Final = 1e-12
_MUCH: Final = 1e9

Weight = Callable[[float], float]
Rule = Callable[..., FloatArray]


def paper_closed_form(public: FloatArray, *, proximity: float, weight: Weight) -> float:
    """Return the least worst-case distance that the paper's choice of floors reaches.

    Args:
        public: (d,) public distribution.
        proximity: γ.
        weight: β_min(t, t) of a floor t.
    """
    by_mifr = _least(lambda floor: weight(floor) * _score_of_mifr(public, floor, proximity), public.size)
    by_filling = _least(lambda floor: weight(floor) * _score_of_water_filling(public, floor, proximity), public.size)
    chosen = ((raise_floor, by_mifr), (water_fill, by_filling))
    return min(
        _reached(rule, public, floor, proximity=proximity, weight=weight) for rule, floor in chosen if floor is not None
    )


def best_floors(public: FloatArray, *, proximity: float, weight: Weight) -> float:
    """Return the least worst case of the paper's two rules, each at the floor that is truly best for it."""
    return min(_at_best_floor(rule, public, proximity=proximity, weight=weight) for rule in (raise_floor, water_fill))


def _at_best_floor(rule: Rule, public: FloatArray, *, proximity: float, weight: Weight) -> float:
    def cost(floor: float) -> float:
        return _reached(rule, public, floor, proximity=proximity, weight=weight)

    floor = _least(cost, public.size)
    return math.inf if floor is None else cost(floor)


def _reached(rule: Rule, public: FloatArray, floor: float, *, proximity: float, weight: Weight) -> float:
    return weight(floor) * worst_case_tv(rule(public, floor=floor), public=public, proximity=proximity)


def _score_of_mifr(public: FloatArray, floor: float, proximity: float) -> float:
    """Return γ plus the mass moved (Lemma F.1); infinite outside the set F of floors."""
    unchanged = public <= raise_floor(public, floor=floor) + _EQUAL
    if public[unchanged].sum() < proximity:
        return math.inf
    return proximity + float(np.maximum(floor - public, 0.0).sum())


def _score_of_water_filling(public: FloatArray, floor: float, proximity: float) -> float:
    """Return Φ (Lemma F.2); infinite outside the set G of floors."""
    if public[public <= floor].sum() >= proximity:
        return math.inf
    ascending = np.sort(public)
    raised = water_fill(ascending, floor=floor)
    order = np.argsort(ascending - raised, kind="stable")
    lost, held = np.cumsum((ascending - raised)[order]), np.cumsum(raised[order])
    first = max(int(np.count_nonzero(ascending <= floor)), 1)
    return float(np.minimum(proximity - lost, held)[first - 1 : -1].max(initial=0.0))


def _least(score: Callable[[float], float], cells: int) -> float | None:
    """Return the floor in (0, 1/d] with the least score: a scan, then a closer look; None where all are infinite."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415  (slow to load)

    floors = _scan(cells)
    scores = [score(floor) for floor in floors]
    k = int(np.argmin(scores))
    if math.isinf(scores[k]):
        return None
    around = (floors[max(k - 1, 0)], floors[min(k + 1, len(floors) - 1)])
    finite = lambda floor: min(score(float(floor)), _MUCH)  # noqa: E731  (the search cannot compare infinities)
    found = minimize_scalar(finite, bounds=around, method="bounded", options={"xatol": 1e-7})
    return float(found.x) if found.fun < scores[k] else floors[k]


@lru_cache(maxsize=8)
def _scan(cells: int) -> tuple[float, ...]:
    return tuple((np.linspace(1.0 / _FLOORS, 1.0, _FLOORS) / cells).tolist())
