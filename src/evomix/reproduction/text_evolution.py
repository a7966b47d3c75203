"""Private Evolution on texts: vary, vote, add noise, select; a simulation on texts declared public.

The loop is that of :mod:`evomix.evolution.loop` without what only a private run needs (ledger, checkpoints), with
the vectors of texts beside them. As in the paper's experiments there are 2m random texts to begin with, m after every
round, and seven variations of each, so that a round has 8m candidates at most.
Source: "Understanding Private Evolution as Learning-Augmented Clustering" (2026), section 2.1 and appendix H.1.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.core.protocols import Selection
from evomix.core.schedule import SCHEDULES
from evomix.evolution.step import propose
from evomix.neighbors.vectors import VectorIndex
from evomix.reproduction.sentence_mixing import SentenceMixing
from evomix.reproduction.text_embedding import Embedder, TextVectors
from evomix.reproduction.text_mechanisms import Privatise
from evomix.reproduction.texts import Split

ROUNDS: Final = 10
VARIATIONS: Final = 7
START: Final = 2
"""Random texts to begin with, in units of m."""
FIRST_SCALE: Final = 1.0
LAST_SCALE: Final = 0.1

SetUp = Callable[[IntArray, int, np.random.Generator], Privatise]
"""From the public votes of the first round, (l,) positions, and its number of candidates, to a mechanism."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One repetition before any vote: parts, vectors and a generator.

    Attributes:
        split: the texts.
        vectors: from texts to vectors; knows public texts, remembers candidates.
        generator: makes texts of the pool.
        private, held_out, public: float64 (n, k), (m, k), (l, k), the vectors of the parts.
        seed: of everything that follows.
    """

    split: Split
    vectors: TextVectors
    generator: SentenceMixing
    private: FloatArray
    held_out: FloatArray
    public: FloatArray
    seed: int

    @property
    def candidates(self) -> int:
        """Most candidates of a round."""
        return self.split.size * (VARIATIONS + 1)


def set_scene(split: Split, embed: Embedder, *, seed: int) -> Scene:
    """Embed the parts of a split and prepare the generator."""
    vectors = TextVectors(embed, list(split.public))
    private, held_out = embed(list(split.private)), embed(list(split.held_out))
    generator = SentenceMixing(split.public, vectors)
    return Scene(split, vectors, generator, private, held_out, vectors(split.public), seed)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run ends with.

    Attributes:
        points: float64 (≤ m, k), the vectors of the last population, repeats included.
        rows: float64 (r, k), the vectors that the law of rows gives a share.
        shares: float64 (r,), these shares, summing to 1.
    """

    points: FloatArray
    rows: FloatArray
    shares: FloatArray


def evolve_texts(
    scene: Scene, set_up: SetUp, select: Selection, *, rounds: int = ROUNDS, variations: int = VARIATIONS
) -> Outcome:
    """Return the last population of a run, and the law of rows that the product would draw from.

    Two runs on one scene begin with the same texts, whatever their mechanism and selection.
    """
    parents = start(scene)
    noise_rng, rng = (np.random.default_rng([scene.seed, stream]) for stream in (1, 2))
    privatise: Privatise | None = None
    for index in range(rounds):
        each = variations if index else (variations + 1) // START - 1
        scales = SCHEDULES["geometric"](index, rounds, each, first=FIRST_SCALE, last=LAST_SCALE)
        candidates = propose(parents, generator=scene.generator, scales=scales, rng=rng)
        search = VectorIndex(scene.vectors(candidates))
        public = search.nearest(scene.public)[:, 0]
        if privatise is None:
            privatise = set_up(public, len(candidates), rng)
        votes = _tally(search.nearest(scene.private)[:, 0], candidates)
        release = privatise(votes, _tally(public, candidates), noise_rng)
        again = copy.deepcopy(rng)
        parents = candidates[select.parents(release, candidates, scene.split.size, rng)]
    shares = select.shares(release, candidates, scene.split.size, again)
    kept = np.flatnonzero(shares)
    return Outcome(scene.vectors(parents), scene.vectors(candidates[kept]), shares[kept])


def start(scene: Scene) -> Population:
    """Return the texts to begin with: 2m of the pool, or all of a smaller one."""
    return scene.generator.random(START * scene.split.size, np.random.default_rng([scene.seed, 0]))


def _tally(nearest: IntArray, candidates: Population) -> FloatArray:
    return np.bincount(nearest, minlength=len(candidates)).astype(np.float64)
