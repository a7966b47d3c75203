"""Local search on LSCost: at most m candidates, near to where the votes are, however noisy the votes.

Positive votes flow to negative ones, which must be filled, and what is left to the nearest selected candidate; the
cost is what that takes. So a small cluster far from the others keeps a candidate, where a ranking drops it. The search
fills the negative votes, swaps on the votes that are left, fills again, and ends with swaps on the exact cost.

Post-processing; costs nothing. What is certain at the end: docs/proofs/ls_cost.md. Speed: benchmarks/results/gape.md.
Source: "Understanding Private Evolution as Learning-Augmented Clustering" (2026), Definition 4.3 and Algorithm 4.2.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evomix.core.arguments import whole
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.selection.arguments import positions, public_randomness, reach, signed_votes, thresholds, vectors
from evomix.selection.exact_swaps import TOLERANCE, swap_exactly
from evomix.selection.filling import Filling
from evomix.selection.ls_cost import left_over
from evomix.selection.seeding import seed_positions
from evomix.selection.serving import Serving, inflow, list_length
from evomix.selection.swap_search import Swapped, swap_search

TRIALS_EACH: Final = 100
"""Swaps tried in vain, for each selected candidate, before the search stops without a certificate; ten are usual."""
_ALL: Final = 1 << 62
"""Passes of the swap search: each lowers the cost, so it ends by itself."""
_MOST_ENTRIES: Final = 1 << 27
"""Entries of the neighbour lists (3 GB with all that is made of them). Few selected out of very many candidates need
long lists; then not all candidates are considered."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A selection.

    Attributes:
        indices: int64 (≤ size,), positions of the selected candidates, ascending.
        weights: float64, the votes that flow to each, at least 0; their sum is that of all votes, if that is not
            negative, else they are 0.
        cost: LSCost, exact; infinity if the votes' sum is negative (by more than rounding), or if none may be selected.
        gap: largest share of the cost by which one swap of a selected for another considered candidate might still
            lower it. 0: no swap lowers it by more than 10⁻⁶ of it.
        considered: how many candidates above the threshold the search looked at; all, but for a few selected of very
            many.
    """

    indices: IntArray
    weights: FloatArray
    cost: float
    gap: float
    considered: int


def local_search(
    points: ArrayLike,
    votes: ArrayLike,
    *,
    size: int,
    radius: float,
    threshold: ArrayLike = 0.0,
    rng: np.random.Generator | None = None,
    start: ArrayLike | None = None,
    trials: int | None = None,
) -> Chosen:
    """Select at most ``size`` of the candidates above the threshold, at least LSCost as far as swaps go.

    Where no more than ``size`` candidates are above the threshold, all are selected.

    Args:
        points: floats (n, k), finite, at most 1e150 in size; the Euclidean distance is that of the votes.
        votes: floats (n,), signed, finite; their sizes sum to at most 1e150.
        size: whole, at least 1.
        radius: R, above 0; a cost is min(ρ, R/3). Infinity truncates nothing.
        threshold: τ, a number or one for each candidate; −∞ allows it in any case, ∞ never.
        rng: public randomness, for the candidates that are considered where they cannot all be; default a fixed one.
        start: integers (size,), distinct candidates above the threshold to start from; default a greedy choice.
        trials: swaps tried in vain before the search stops with a ``gap``, whole, at least 0; default 100 for each
            selected candidate.

    Raises:
        SpecError: an argument is outside these ranges.
    """
    points, rng, size = vectors(points), public_randomness(rng), whole("size", size, least=1)
    votes = signed_votes(votes, len(points))
    trials = None if trials is None else whole("trials", trials, least=0)
    cap = reach(radius) / 3.0
    eligible = np.flatnonzero(votes > thresholds(threshold, len(votes)))
    started = None if start is None else _started(start, eligible, size, len(points))
    if not eligible.size or left_over(votes) < 0.0:
        heaviest = eligible[np.argsort(-votes[eligible], kind="stable")[:size]]
        return Chosen(np.sort(heaviest), np.zeros(heaviest.size), math.inf, 0.0, eligible.size)
    considered = _considered(votes, eligible, size, started, rng)
    first = None if started is None else np.searchsorted(considered, started)
    size = min(size, considered.size)
    sources = np.flatnonzero(votes > 0.0)
    if not (votes < 0.0).any():
        serving = Serving(points, sources=sources, eligible=considered, cap=cap, size=size)
        slots, kept, cost, gap = _without_negatives(serving, votes[sources], size, first)
    else:
        filling = Filling(points, votes, considered, cap=cap, size=size)
        serving = filling.serving
        most = TRIALS_EACH * size if trials is None else trials
        slots, cost, gap = _with_negatives(filling, size, considered.size, first, most)
        kept = filling.transport.flow.kept
    weights = inflow(serving.serve(slots), kept, size) if sources.size else np.zeros(size)
    order = np.argsort(slots)
    return Chosen(considered[slots[order]], weights[order], cost, gap, considered.size)


def _without_negatives(
    serving: Serving, votes: FloatArray, size: int, start: IntArray | None
) -> tuple[IntArray, FloatArray, float, float]:
    """Return a selection where nothing has to be filled: LSCost is a k-median cost, and its swaps are exact."""
    swapped = _swapped(serving, votes, seed_positions(serving.lists, votes, size=size) if start is None else start)
    return swapped.chosen, votes, swapped.cost, 0.0


def _with_negatives(
    filling: Filling, size: int, candidates: int, start: IntArray | None, trials: int
) -> tuple[IntArray, float, float]:
    """Return a selection by filling and swapping in turn, then by exact swaps."""
    if candidates == size:
        every = np.arange(size)
        return every, filling.cost_of(filling.serving.serve(every)), 0.0
    serving = filling.serving
    chosen = start
    if chosen is None:  # swaps before anything is filled: a better start, soon made
        seeds = seed_positions(serving.lists, filling.supplies, size=size)
        chosen = _swapped(serving, filling.supplies, seeds).chosen
    least = filling.fill(serving.serve(chosen))
    while True:
        following = _swapped(serving, np.maximum(filling.transport.kept, 0.0), chosen).chosen
        cost = filling.fill(serving.serve(following))
        if not cost < least * (1.0 - TOLERANCE):
            return swap_exactly(filling, chosen, trials=trials)
        chosen, least = following, cost


def _swapped(serving: Serving, weights: FloatArray, chosen: IntArray) -> Swapped:
    """Swap on weights until none lowers the k-median cost; the lists keep what had to be made longer."""
    swapped = swap_search(serving.lists, weights, chosen, tolerance=TOLERANCE, most_passes=_ALL)
    serving.lists = swapped.lists
    return swapped


def _considered(
    votes: FloatArray, eligible: IntArray, size: int, started: IntArray | None, rng: np.random.Generator
) -> IntArray:
    """Return the candidates that lists of a bearable length can hold: all, or half the heaviest and half at random."""
    sources = int(np.count_nonzero(votes > 0.0))
    entries = sources * min(list_length(eligible.size, size), eligible.size)
    if entries <= _MOST_ENTRIES:
        return eligible
    most = max(eligible.size * _MOST_ENTRIES // entries, size)
    order = np.argsort(-votes[eligible], kind="stable")
    heavy, rest = eligible[order[: most // 2]], eligible[order[most // 2 :]]
    taken = [heavy, rng.choice(rest, most - heavy.size, replace=False), *([] if started is None else [started])]
    return np.unique(np.concatenate(taken))


def _started(start: ArrayLike, eligible: IntArray, size: int, candidates: int) -> IntArray:
    started, count = positions("start", start, candidates), min(size, eligible.size)
    if started.size != count or np.setdiff1d(started, eligible).size:
        raise SpecError(f"expected a start of {count} distinct candidates above the threshold, got start={started}")
    return started
