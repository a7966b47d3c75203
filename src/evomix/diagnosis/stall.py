"""Targets at a Euclidean local optimum: variations go on, and none of them comes nearer.

Example 3.3 of "Understanding Private Evolution as Learning-Augmented Clustering" (2026): a generator that moves along a
curve can lead to the data, yet if every step along the curve first leads away as the crow flies, the votes keep the
record where it is. A target counts as stalled if all of this holds:

* it is *far*: beyond 1½ times its ceiling;
* the last half of the rounds took off less than a hundredth of its distance;
* of fresh variations of its nearest record, at all scales, fewer than one in a hundred comes nearer by more than a
  hundredth of the way it went.

The last tells a stall from a generator that is slow or takes small steps: of small variations that spread evenly over k
dimensions more than a third are such successes up to k = 1000, while at an optimum all ways lead away.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.protocols import Generator
from evomix.diagnosis.pairs import Vectors
from evomix.diagnosis.reachability import Approach
from evomix.diagnosis.steps import ROWS

FAR: Final = 1.5
LITTLE: Final = 0.01
PART: Final = 0.01
RARELY: Final = 0.01
ROUNDING: Final = 1e-6
"""Part of a distance that points in single precision do not tell."""


def stalled(
    generator: Generator,
    vectors: Vectors,
    reached: Approach,
    ceiling: FloatArray,
    *,
    variations: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Return which targets have stalled, (n,). Public points only; costs nothing.

    Args:
        generator: whose variations these are.
        vectors: gives points.
        reached: the evolution.
        ceiling: float64 (n,), each target's distance from a sample of public points.
        variations: fresh ones at each scale; with four scales, 64 make 256.
        rng: public randomness.
    """
    last, earlier = reached.distances[-1], reached.distances[reached.rounds // 2]
    stuck = (last > FAR * ceiling) & (last > 0.0) & (last >= (1.0 - LITTLE) * earlier)
    places = np.flatnonzero(stuck)
    if places.size:
        stuck[places] = _success(generator, vectors, reached, places, variations=variations, rng=rng) < RARELY
    return np.asarray(stuck)


def _success(
    generator: Generator,
    vectors: Vectors,
    reached: Approach,
    places: IntArray,
    *,
    variations: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the share of variations of a target's nearest record that come nearer to it, (number of places,)."""
    drawn = [generator.vary(reached.parents, scale, rng)[places] for scale in reached.scales for _ in range(variations)]
    share = np.empty(len(places))
    block = max(ROWS // (len(drawn) + 2), 1)
    for start in range(0, len(places), block):
        part = slice(start, start + block)
        here = places[part]
        together = [reached.targets[here], reached.parents[here], *(one[part] for one in drawn)]
        points = np.asarray(vectors(np.concatenate(together)), dtype=np.float64)
        target, parent, *clouds = points.reshape(len(together), len(here), -1)
        before = np.linalg.norm(parent - target, axis=1)
        came = [before - np.linalg.norm(cloud - target, axis=1) for cloud in clouds]
        went = [np.linalg.norm(cloud - parent, axis=1) for cloud in clouds]
        # Strictly: a variation that is its parent came no nearer.
        share[part] = (np.array(came) > np.maximum(PART * np.array(went), ROUNDING * before)).mean(axis=0)
    return share
