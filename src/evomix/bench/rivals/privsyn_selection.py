"""Which marginals PrivSyn measures: pairs that depend on each other, joined where they form cliques.

Source: Zhang, Wang, Li, Honorio, Backes, He, Chen and Zhang, "PrivSyn: differentially private data synthesis" (2021),
sections 4.1 to 4.3 and Algorithms 1 and 2. Public or already noisy numbers in, positions out; costs nothing but
:func:`dependences`, whose answers are exact.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from evomix.bench.rivals.grid import marginal
from evomix.core.arrays import FloatArray, IntArray
from evomix.privacy.adjacency import Adjacency

MOST_CELLS: Final = 5_000
"""Cells of a joined marginal stay below this (2021)."""
MOST_SHARED: Final = 2
"""Attributes that a joined marginal may share with those joined before (2021)."""
MOST_CLIQUES: Final = 100_000
"""Cliques that are looked at, so that very wide tables end; far beyond what thirty columns have."""

Attributes = tuple[int, ...]


def dependences(codes: IntArray, sizes: Sequence[int]) -> FloatArray:
    """Return for each pair of columns Σ |n_ab − n_a·n_b/n|, float64 (pairs,), pairs as ``combinations`` lists them.

    The ℓ1 distance of the counts from those of independent columns ("InDif").
    """
    ones = [marginal(codes, sizes, (j,)) for j in range(len(sizes))]
    pairs = combinations(range(len(sizes)), 2)
    expected = ((pair, np.outer(ones[pair[0]], ones[pair[1]]).ravel() / len(codes)) for pair in pairs)
    return np.array([np.abs(marginal(codes, sizes, pair) - product).sum() for pair, product in expected])


def dependence_sensitivity(adjacency: Adjacency) -> float:
    """Return how far one dependence may move between neighbouring tables.

    Replace-one: the counts of the pair move by 2 in ℓ1. With p, q the shares of the two columns, the product n·p⊗q
    moves by at most n·(‖p − p'‖ + ‖q − q'‖) = 4: together 6. Add-remove, from n to n + 1: counts move by 1, and the
    product by less than 3, as n_a·n_b/n loses the share 1/(n + 1) of its mass n and gains (2n + 1)/(n + 1): together 4,
    the figure of the paper (Lemma 3).
    """
    return 6.0 if adjacency == "replace-one" else 4.0


def choose_pairs(scores: FloatArray, cells: FloatArray, *, noise: float) -> list[int]:
    """Return the positions of the pairs worth measuring ("DenseMarg"): each lowers the expected error the most.

    A pair left out costs its dependence. The pairs taken cost the ℓ1 noise that an optimal split of the budget gives
    them: ``noise``·(Σ c^⅔)^1.5 with c their numbers of cells.

    Args:
        scores: noisy dependences, float64 (pairs,).
        cells: cells of each pair, float64 (pairs,).
        noise: expected ℓ1 error of one cell measured with all of the budget.
    """
    weights = cells ** (2.0 / 3.0)
    taken, mass, error, left = [], 0.0, float(scores.sum()), float(scores.sum())
    free = np.full(len(scores), fill_value=True)
    while free.any():
        totals = np.where(free, noise * (mass + weights) ** 1.5 + left - scores, np.inf)
        best = int(np.argmin(totals))
        if not totals[best] < error:
            break
        error, mass, left = float(totals[best]), mass + float(weights[best]), left - float(scores[best])
        free[best] = False
        taken.append(best)
    return taken


def join_cliques(pairs: Sequence[Attributes], sizes: Sequence[int]) -> list[Attributes]:
    """Return the pairs with cliques of them joined to one marginal each, larger cliques first.

    A clique is joined if it has fewer than MOST_CELLS cells and shares at most MOST_SHARED attributes with all joined
    before; pairs inside a joined marginal are dropped.
    """
    joined: list[Attributes] = []
    covered: set[int] = set()
    for clique in sorted(_cliques(pairs, sizes), key=lambda found: (-len(found), found)):
        if len(covered.intersection(clique)) <= MOST_SHARED:
            joined.append(clique)
            covered.update(clique)
    return [*joined, *(pair for pair in pairs if not any(set(pair) <= set(clique) for clique in joined))]


def connect(marginals: Sequence[Attributes], scores: FloatArray, columns: int) -> list[Attributes]:
    """Return the marginals and, for each column in none of them, its pair with the partner it depends on most."""
    table = np.full((columns, columns), -np.inf)
    table[np.triu_indices(columns, 1)] = scores
    table = np.maximum(table, table.T)
    found = list(marginals)
    for j in range(columns):
        if not any(j in attributes for attributes in found):
            partner = int(np.argmax(table[j]))
            found.append((min(j, partner), max(j, partner)))
    return found


def _cliques(pairs: Sequence[Attributes], sizes: Sequence[int]) -> list[Attributes]:
    """Return the cliques of three and more columns with fewer than MOST_CELLS cells, each ascending."""
    later: dict[int, set[int]] = {}
    for i, j in pairs:
        later.setdefault(min(i, j), set()).add(max(i, j))
    found: list[Attributes] = []
    for clique in _grown((), set(later), later, sizes):
        found.append(clique)
        if len(found) >= MOST_CLIQUES:
            break
    return found


def _grown(
    clique: Attributes, open_to: set[int], later: dict[int, set[int]], sizes: Sequence[int]
) -> Iterator[Attributes]:
    for j in sorted(open_to):
        larger = (*clique, j)
        if math.prod(sizes[k] for k in larger) >= MOST_CELLS:
            continue
        if len(larger) > 2:
            yield larger
        others = later.get(j, set())
        yield from _grown(larger, open_to & others if clique else others, later, sizes)
