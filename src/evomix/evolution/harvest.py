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
    rng: np.random.Generator,
) -> Population:
    """Return one record for each position in ``chosen``.

    A candidate stands for all records that are nearest to it. So its first appearance is the candidate itself and
    each further one a variation, kept only if the candidate is still its nearest: rows spread inside the cells
    that were voted for and never move mass between them. Where no variation stays (a domain of few categories),
    the candidate is repeated, as such records are in real tables.

    Args:
        candidates: (d, …), released.
        chosen: positions of the candidates to use, with repeats.
        generator: proposes variations.
        embedder: the geometry of the votes.
        rng: public randomness.
    """
    rows = candidates[chosen]
    first = np.zeros(len(chosen), bool)
    first[np.unique(chosen, return_index=True)[1]] = True
    pending = np.flatnonzero(~first)
    index = embedder.index(candidates)
    for scale in SCALES:
        if not pending.size:
            break
        varied = generator.vary(candidates[chosen[pending]], scale, rng)
        stays = index.nearest(varied) == chosen[pending]
        rows[pending[stays]] = varied[stays]
        pending = pending[~stays]
    return rows
