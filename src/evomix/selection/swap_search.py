"""Weighted k-median by swaps on neighbour lists, certified: at the end no swap lowers the cost.

For a selection S the cost is ``Σ_v w_v · min(min_{s∈S} ρ(v, s), cap)``, with the cap of the lists. These are short and
the answer is still exact. What a list leaves out is at least its reach away. So a row whose second nearest selected
candidate is not listed makes the removal of its nearest look cheaper than it is, never dearer, and no other price
depends on it. Such prices are lower bounds: if they rule a swap out it is ruled out, and if they do not, the lists in
question are made longer and the swap is priced again. Only swaps with an exact price are made.

Post-processing; costs nothing. Source: Schubert and Rousseeuw, "Fast and eager k-medoids clustering" (2021).
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.neighbors.near_lists import NearLists
from evomix.selection import swap_moves
from evomix.selection.swap_moves import Problem, State

_LONGER: Final = 4
"""A list that was too short grows by this factor."""
_SHORTEST: Final = 16


@dataclass(frozen=True, slots=True)
class Swapped:
    """A selection that swaps have improved.

    Attributes:
        chosen: int64 (m,), positions among the columns of the lists.
        cost: the cost of ``chosen``, exact but for the rounding of its sum.
        passes: how often all candidates were offered.
        complete: no swap of one selected for one other candidate lowers the cost by more than ``tolerance`` of it
            (nor by more than 10⁻¹² of Σ w·(distance to the second nearest), the rounding of prices); false: stopped
            by ``most_passes``.
        lists: the lists given, those made longer that were too short; worth passing to the next search.
    """

    chosen: IntArray
    cost: float
    passes: int
    complete: bool
    lists: NearLists


def swap_search(
    lists: NearLists,
    weights: NDArray[Any],
    chosen: NDArray[Any],
    *,
    tolerance: float = 1e-6,
    most_passes: int = 100,
) -> Swapped:
    """Exchange selected candidates for others while that lowers the cost.

    Args:
        lists: neighbour lists of r rows among c candidates.
        weights: floats (r,), at least 0. Rows of weight 0 do not count.
        chosen: integers (m,), the start: distinct positions among the candidates, m ≥ 1.
        tolerance: a swap must lower the cost by more than this share of it; above 0, below 1.
        most_passes: stop after as many passes over the candidates.

    Raises:
        SpecError: an argument is outside these ranges.
    """
    weights, chosen = _checked(lists, weights, chosen)
    if not 0.0 < tolerance < 1.0 or most_passes < 1:
        raise SpecError(
            "expected a tolerance between 0 and 1 and at least one pass, got "
            f"tolerance={tolerance}, most_passes={most_passes}"
        )
    state = swap_moves.fresh_state(chosen, lists.shape)
    lists, problem = _covered(lists, weights, state)
    complete = False
    for passes in range(1, most_passes + 1):  # noqa: B007 (told to the caller)
        cost = swap_moves.look_at_all(problem, state, np.empty(len(weights), np.bool_))
        wanted = np.zeros(len(chosen), np.bool_)
        if swap_moves.sweep(problem, state, cost, tolerance, wanted):
            continue
        if not wanted.any():
            complete = True
            break
        lists = _lengthened(lists, np.flatnonzero(state.hidden & (state.near >= 0) & wanted[state.near]))
        problem = _problem(lists, weights)
    cost = swap_moves.look_at_all(problem, state, np.empty(len(weights), np.bool_))
    return Swapped(state.chosen, cost, passes, complete, lists)


def _covered(lists: NearLists, weights: FloatArray, state: State) -> tuple[NearLists, Problem]:
    """Make lists longer until every row that counts lists its nearest selected candidate."""
    while True:
        problem, lost = _problem(lists, weights), np.zeros(len(weights), np.bool_)
        swap_moves.look_at_all(problem, state, lost)
        if not lost.any():
            return lists, problem
        lists = _lengthened(lists, np.flatnonzero(lost))


def _lengthened(lists: NearLists, rows: IntArray) -> NearLists:
    lengths = np.diff(lists.starts)[rows]
    return lists.extend(rows, np.maximum(_LONGER * lengths, _SHORTEST))


def _problem(lists: NearLists, weights: FloatArray) -> Problem:
    # A finite stand-in for "nothing else serves this row", beyond every distance that is ever compared with it.
    reach = lists.reach[np.isfinite(lists.reach)]
    beyond = 2.0 * max(float(lists.distances.max(initial=0.0)), float(reach.max(initial=0.0))) or 1.0
    columns = lists.by_column(weights > 0.0)
    return Problem(
        weights,
        np.full(len(weights), lists.cap if math.isfinite(lists.cap) else beyond),
        lists.starts,
        lists.columns,
        lists.distances,
        lists.reach,
        columns.starts,
        columns.rows,
        columns.distances,
    )


def _checked(lists: NearLists, weights: NDArray[Any], chosen: NDArray[Any]) -> tuple[FloatArray, IntArray]:
    rows, candidates = lists.shape
    weights, chosen = np.asarray(weights, np.float64), np.asarray(chosen, np.int64)
    if weights.shape != (rows,) or not (np.isfinite(weights) & (weights >= 0.0)).all():
        raise SpecError(f"expected a weight of at least 0 for each of {rows} rows, got shape {weights.shape}")
    inside = chosen.ndim == 1 and chosen.size and chosen.min() >= 0 and chosen.max() < candidates
    if not inside or len(np.unique(chosen)) < len(chosen):
        raise SpecError(f"expected distinct positions among {candidates} candidates, at least one, got chosen={chosen}")
    return weights, chosen
