"""From released candidates to as many records as were asked for: post-processing."""

from typing import Final

import numpy as np

from evomix.core.arrays import IntArray, Population
from evomix.core.protocols import Embedder, Generator

SCALES: Final = (0.2, 0.05)
"""How far a repeated candidate may wander, tried in this order."""


def harvest(
    candidates: Population,
    chosen: IntArray,
    *,
    generator: Generator,
    embedder: Embedder,
    spares: Population | None,
    rng: np.random.Generator,
) -> Population:
    """Return one record for each position in ``chosen``.

    A candidate stands for all records that are nearest to it. So its first appearance is the candidate itself and
    each further one another record of its cell: a spare one that no one has used yet, else a variation that still
    has the candidate as nearest. Rows spread inside the cells that were voted for and never move mass between them.
    Where no variation stays (a domain of few categories), the candidate is repeated, as such records are in real
    tables.

    Args:
        candidates: (d, …), released.
        chosen: positions of the candidates to use, with repeats.
        generator: proposes variations.
        embedder: the geometry of the votes.
        spares: public records that may fill cells, if there are any.
        rng: public randomness.
    """
    rows = candidates[chosen]
    first = np.zeros(len(chosen), bool)
    first[np.unique(chosen, return_index=True)[1]] = True
    pending = np.flatnonzero(~first)
    index = embedder.index(candidates)
    if spares is not None and pending.size:
        found = _matched(chosen[pending], index.nearest(spares), rng)
        rows[pending[found >= 0]] = spares[found[found >= 0]]
        pending = pending[found < 0]
    for scale in SCALES:
        if not pending.size:
            break
        varied = generator.vary(candidates[chosen[pending]], scale, rng)
        stays = index.nearest(varied) == chosen[pending]
        rows[pending[stays]] = varied[stays]
        pending = pending[~stays]
    return rows


def _matched(wanted: IntArray, cells: IntArray, rng: np.random.Generator) -> IntArray:
    """Return for each wanted cell the position of a member of it, each member once, -1 when all are used.

    Args:
        wanted: int64 (k,), cells with repeats.
        cells: int64 (l,), the cell of each member.
        rng: decides which members of a cell are used.
    """
    members = rng.permutation(len(cells))
    members = members[np.argsort(cells[members], kind="stable")]
    starts = np.searchsorted(cells[members], wanted, side="left")
    ends = np.searchsorted(cells[members], wanted, side="right")
    order = np.argsort(wanted, kind="stable")
    turn = np.empty(len(wanted), np.int64)  # how often this cell was wanted before
    turn[order] = np.arange(len(wanted)) - np.searchsorted(wanted[order], wanted[order], side="left")
    taken = np.full(len(wanted), -1, np.int64)
    there = starts + turn < ends
    taken[there] = members[(starts + turn)[there]]
    return taken
