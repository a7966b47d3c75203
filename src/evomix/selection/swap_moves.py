"""The compiled part of the swap search: nearest and second nearest selected candidate of every row, and one pass.

What a removal costs is known for every selected candidate, so that all swaps with one new candidate are priced by one
walk over its column. Source: Schubert and Rousseeuw, "Fast and eager k-medoids clustering" (2021), with weights, a
distance at which a row is served in any case, and lists in place of a matrix.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.compiled import compiled

_FREE = -1


class Problem(NamedTuple):
    """Rows of positive weight and their lists, by row and by column."""

    weights: FloatArray  # (r,), 0: the row does not count
    served: FloatArray  # (r,), finite: the distance at which a row is served in any case
    starts: IntArray
    columns: NDArray[np.int32]
    distances: FloatArray
    reach: FloatArray
    column_starts: IntArray
    rows: NDArray[np.int32]
    row_distances: FloatArray


class State(NamedTuple):
    """A selection and what it means for every row. ``slot`` is a place in ``chosen``."""

    chosen: IntArray  # (m,)
    slot_of: IntArray  # (c,), of each candidate; -1: not selected
    near: IntArray  # (r,), slot of the nearest; -1: the row is served otherwise
    first: FloatArray  # (r,), distance to the nearest
    second: FloatArray  # (r,), to the second nearest; where that is not listed, the reach: a lower bound
    hidden: NDArray[np.bool_]  # (r,), the second nearest is not listed
    loss: FloatArray  # (m,), what removing each one costs; a lower bound where rows are hidden
    hiding: IntArray  # (m,), how many rows nearest to it are hidden


@compiled
def look(problem: Problem, state: State, row: int) -> bool:  # pragma: no cover - compiled
    """Find the row's nearest two anew; return false if not even the nearest is listed."""
    served = problem.served[row]
    found, first = _FREE, served
    state.hidden[row] = False
    for e in range(problem.starts[row], problem.starts[row + 1]):
        distance = problem.distances[e]
        if distance >= served:
            state.near[row], state.first[row], state.second[row] = found, first, served
            return True
        slot = state.slot_of[problem.columns[e]]
        if slot < 0:
            continue
        if found >= 0:
            state.near[row], state.first[row], state.second[row] = found, first, distance
            return True
        found, first = slot, distance
    state.near[row], state.first[row], state.second[row] = found, first, min(served, problem.reach[row])
    state.hidden[row] = problem.reach[row] < served
    return found >= 0 or not state.hidden[row]


@compiled
def look_at_all(problem: Problem, state: State, lost: NDArray[np.bool_]) -> float:  # pragma: no cover - compiled
    """Find everything anew, mark rows whose nearest is not listed as ``lost`` and return the cost of the others."""
    state.loss[:] = 0.0
    state.hiding[:] = 0
    cost = 0.0
    for row in range(len(problem.weights)):
        lost[row] = False
        if problem.weights[row] > 0.0:
            if look(problem, state, row):
                _count(problem, state, row, 1)
                cost += problem.weights[row] * state.first[row]
            else:
                lost[row] = True
    return cost


@compiled
def _count(problem: Problem, state: State, row: int, sign: int) -> None:  # pragma: no cover - compiled
    slot = state.near[row]
    if slot >= 0:
        state.loss[slot] += sign * (problem.weights[row] * (state.second[row] - state.first[row]))
        state.hiding[slot] += sign * state.hidden[row]


@compiled
def _exchange(problem: Problem, state: State, slot: int, candidate: int) -> float:  # pragma: no cover - compiled
    """Put ``candidate`` in ``slot`` and return by how much the cost changes."""
    old = state.chosen[slot]
    state.slot_of[old], state.slot_of[candidate] = _FREE, slot
    state.chosen[slot] = candidate
    change = 0.0
    for column in (old, candidate):  # only rows that list one of the two can have other nearest two
        for e in range(problem.column_starts[column], problem.column_starts[column + 1]):
            row = problem.rows[e]
            if problem.row_distances[e] <= state.second[row]:
                before = state.first[row]
                _count(problem, state, row, -1)
                look(problem, state, row)
                _count(problem, state, row, 1)
                change += problem.weights[row] * (state.first[row] - before)
    return change


@compiled
def _cheapest(state: State) -> tuple[int, int]:  # pragma: no cover - compiled
    """Return the slots of least loss, among those known exactly and among those with hidden rows; -1: none."""
    return _cheaper(state, state.loss, np.arange(len(state.chosen)), (-1, -1))


@compiled
def _cheaper(
    state: State, losses: FloatArray, slots: IntArray, best: tuple[int, int]
) -> tuple[int, int]:  # pragma: no cover - compiled
    exact, hiding = best
    for slot in slots:
        if state.hiding[slot] == 0:
            if exact < 0 or losses[slot] < losses[exact]:
                exact = slot
        elif hiding < 0 or losses[slot] < losses[hiding]:
            hiding = slot
    return exact, hiding


@compiled
def _offer(
    problem: Problem, state: State, candidate: int, losses: FloatArray, touched: IntArray
) -> tuple[float, int]:  # pragma: no cover - compiled
    """Return the gain of adding ``candidate``; take from ``losses`` what it saves when a slot is left.

    The slots whose losses changed are the first of ``touched``; the second answer is how many.
    """
    gain, count = 0.0, 0
    for e in range(problem.column_starts[candidate], problem.column_starts[candidate + 1]):
        row, distance = problem.rows[e], problem.row_distances[e]
        second, slot = state.second[row], state.near[row]
        if distance >= second:
            continue
        weight, first = problem.weights[row], state.first[row]
        gain += weight * max(0.0, first - distance)
        if slot >= 0:  # were its nearest removed, the row would go to the candidate, not to its second nearest
            losses[slot] -= weight * (second - max(distance, first))
            touched[count] = slot
            count += 1
    return gain, count


@compiled
def sweep(
    problem: Problem, state: State, cost: float, tolerance: float, wanted: NDArray[np.bool_]
) -> int:  # pragma: no cover - compiled
    """Offer every candidate once, swapping at once where that lowers the cost by more than ``tolerance`` of it.

    A swap whose price is only a lower bound is never made: its slot is marked in ``wanted``.
    Returns the number of swaps.
    """
    losses, touched, swaps = state.loss.copy(), np.empty(len(problem.weights), np.int64), 0
    leaving = _cheapest(state)
    for candidate in range(len(state.slot_of)):
        if state.slot_of[candidate] >= 0:
            continue
        least = tolerance * cost
        gain, count = _offer(problem, state, candidate, losses, touched)
        exact, hiding = _cheaper(state, losses, touched[:count], leaving)
        better = exact >= 0 and gain - losses[exact] > least
        if not better and hiding >= 0 and gain - losses[hiding] > least:
            wanted[hiding] = True
        for slot in touched[:count]:
            losses[slot] = state.loss[slot]
        if better:
            old = state.chosen[exact]
            change = _exchange(problem, state, exact, candidate)
            if -change > least:
                cost += change
                swaps += 1
            else:  # the price was a difference of large numbers, and their rounding
                _exchange(problem, state, exact, old)
            losses[:] = state.loss
            leaving = _cheapest(state)
    return swaps


def fresh_state(chosen: IntArray, shape: tuple[int, int]) -> State:
    """Return a state for ``chosen`` in which nothing is known of the rows yet."""
    rows, candidates = shape
    slot_of = np.full(candidates, _FREE, np.int64)
    slot_of[chosen] = np.arange(len(chosen))
    return State(
        chosen=chosen.copy(),
        slot_of=slot_of,
        near=np.full(rows, _FREE, np.int64),
        first=np.zeros(rows),
        second=np.zeros(rows),
        hidden=np.zeros(rows, np.bool_),
        loss=np.zeros(len(chosen)),
        hiding=np.zeros(len(chosen), np.int64),
    )
