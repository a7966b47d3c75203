"""How near synthetic texts come to private ones: by mechanism, selection and ε, in several settings.

Distances are to the private texts themselves, as in the paper: they say how well the votes were followed, and are no
estimate for texts that are yet to come. Held-out private texts and public texts of the same number stand beside them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.experiment.allocation import default_draws
from evomix.metrics import precision, recall, wasserstein
from evomix.neighbors.vectors import VectorIndex
from evomix.reproduction.releases import Budget
from evomix.reproduction.text_embedding import Embedder, fit_embedder
from evomix.reproduction.text_evolution import ROUNDS, Outcome, Scene, evolve_texts, set_scene, start
from evomix.reproduction.text_mechanisms import (
    GAUSSIAN,
    LINMIX,
    PUBMIX,
    Privatise,
    Spending,
    gaussian,
    public_mixing,
    uniform_mixing,
)
from evomix.reproduction.texts import Texts, split_texts
from evomix.selection.denoising import DENOISINGS, choose_denoising
from evomix.selection.methods import GEOMETRIC, make_selection
from evomix.selection.radius import cluster_radius

EPSILONS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, math.inf)
QUICK_EPSILONS: Final = (2.0, math.inf)
NEIGHBOURS: Final = 3
"""k of precision and recall."""
RECALL: Final = "recall"
PRECISION: Final = "precision"
DISTANCE: Final = "W1"
SMALLEST: Final = "smallest topic"
"""Share of the synthetic texts whose nearest private text is of the smallest topic."""
DIFFERENT: Final = "different texts"
"""Share of m that remains when repeats are left out."""
METRICS: Final = (RECALL, PRECISION, DISTANCE, SMALLEST, DIFFERENT)
CEILING: Final = "private texts held out"
FLOOR: Final = "public texts"


@dataclass(frozen=True, slots=True)
class Curve:
    """A mechanism with a selection.

    Attributes:
        name: in plots.
        mechanism: ``GAUSSIAN``, ``LINMIX`` or ``PUBMIX``.
        selection: as the product calls it.
        threshold: τ of GAPE in standard deviations of the noise; None for the product's.
    """

    name: str
    mechanism: str
    selection: str
    threshold: float | None = None


SUBSAMPLE: Final = Curve("subsample (PE)", GAUSSIAN, "subsample")
RANK: Final = Curve("rank (Aug-PE)", GAUSSIAN, "rank")
GAPE: Final = Curve("GAPE", GAUSSIAN, "gape")
WEIGHTED: Final = "GAPE, weighted"
"""GAPE's selected texts, each with the share of the votes that flow to it, in place of equal shares."""
LOWER: Final = Curve("GAPE, τ = σ", GAUSSIAN, "gape", threshold=1.0)
PAPER_CURVES: Final = (SUBSAMPLE, RANK, GAPE)
GAUSSIAN_CURVES: Final = (*PAPER_CURVES, LOWER, Curve("projection", GAUSSIAN, "projection"))
MIXING_CURVES: Final = (
    Curve("LinMix, subsample", LINMIX, "subsample"),
    Curve("LinMix, GAPE", LINMIX, "gape"),
    Curve("PubMix, subsample", PUBMIX, "subsample"),
    Curve("PubMix, GAPE", PUBMIX, "gape"),
)
ALL_CURVES: Final = (*GAUSSIAN_CURVES, *MIXING_CURVES)


@dataclass(frozen=True, slots=True)
class Setting:
    """How texts are divided.

    Attributes:
        name: what it is called.
        slug: of its files; empty for the first.
        shifted: whether the pool has another mixture of topics than the private texts.
        ratio: n/m, private texts a synthetic text.
        curves: what is compared.
    """

    name: str
    slug: str
    shifted: bool
    ratio: int
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """What one setting gave.

    Attributes:
        setting: the setting.
        sizes: n, m and l, the number of public texts.
        epsilons: of the curves, ascending.
        values: by curve and metric, float64 (len(epsilons), seeds).
        references: by reference and metric, float64 (seeds,).
        share: of the smallest topic among private texts, float64 (seeds,).
    """

    setting: Setting
    sizes: tuple[int, int, int]
    epsilons: tuple[float, ...]
    values: Mapping[str, Mapping[str, FloatArray]]
    references: Mapping[str, Mapping[str, FloatArray]]
    share: FloatArray


def measure(
    setting: Setting, texts: Texts, *, embedder: Embedder | None, epsilons: Sequence[float], seeds: int
) -> Measured:
    """Run every curve at every ε on ``seeds`` splits; within a split all begin with the same texts.

    Args:
        setting: the setting.
        texts: taken as public.
        embedder: None for the default one, fitted on the pool of each split.
        epsilons: budgets, infinity for votes without noise; δ = 1/(n ln n).
        seeds: repetitions.

    Raises:
        SpecError: too few texts, or an embedder that gives no vectors.
    """
    names = [curve.name for curve in setting.curves]
    names += [WEIGHTED] if GAPE in setting.curves else []
    values = {name: {metric: np.empty((len(epsilons), seeds)) for metric in METRICS} for name in names}
    references = {name: {metric: np.empty(seeds) for metric in METRICS} for name in (CEILING, FLOOR)}
    share, sizes = np.empty(seeds), (0, 0, 0)
    for seed in range(seeds):
        split = split_texts(texts, shifted=setting.shifted, ratio=setting.ratio, seed=seed)
        scene = set_scene(split, embedder or fit_embedder(list(split.public)), seed=seed)
        sizes = (len(split.private), split.size, len(split.public))
        scores = Scores.of(scene)
        share[seed] = float((split.topics == scores.smallest).mean())
        _note(references[CEILING], seed, scores(scene.held_out))
        _note(references[FLOOR], seed, scores(scene.vectors(start(scene)[: split.size])))
        radius = cluster_radius(scene.public, split.size, np.random.default_rng([seed, 3]))
        for curve in setting.curves:
            for place, epsilon in enumerate(epsilons):
                outcome = run(scene, curve, epsilon, radius=radius)
                _note(values[curve.name], (place, seed), scores(outcome.points))
                if curve == GAPE:
                    _note(values[WEIGHTED], (place, seed), scores(outcome.rows, outcome.shares))
    return Measured(setting, sizes, tuple(epsilons), values, references, share)


def run(scene: Scene, curve: Curve, epsilon: float, *, radius: float) -> Outcome:
    """Return what one run ends with.

    The selection is made as a run of the product makes it.

    Args:
        scene: the repetition.
        curve: mechanism and selection.
        epsilon: of all rounds together.
        radius: R of GAPE.
    """
    spending = spending_of(scene, epsilon)
    geometric = curve.selection in GEOMETRIC
    denoise = DENOISINGS[choose_denoising("auto", informed=curve.mechanism == PUBMIX, geometric=geometric)]
    select = make_selection(
        curve.selection,
        vectors=scene.vectors,
        denoise=denoise,
        threshold=curve.threshold,
        radius=radius if curve.selection == "gape" else None,
    )

    def set_up(nearest: IntArray, candidates: int, rng: np.random.Generator) -> Privatise:
        if curve.mechanism == PUBMIX:
            return public_mixing(spending, nearest, candidates, rng)
        return {GAUSSIAN: gaussian, LINMIX: uniform_mixing}[curve.mechanism](spending)

    return evolve_texts(scene, set_up, select)


def spending_of(scene: Scene, epsilon: float) -> Spending:
    """Return the budget of a run: δ = 1/(n ln n), and the product's usual draws for mechanisms that draw."""
    n = len(scene.private)
    budget = Budget(epsilon, 1.0 / (n * math.log(n)), n)
    return Spending(budget, ROUNDS, default_draws(n, ROUNDS) // ROUNDS, scene.candidates)


@dataclass(frozen=True, slots=True)
class Scores:
    """The metrics against the private texts of one split."""

    private: FloatArray
    search: VectorIndex
    topics: IntArray
    smallest: int
    size: int

    @classmethod
    def of(cls, scene: Scene) -> "Scores":
        """Return the metrics for a scene."""
        smallest = int(scene.split.topics.max())
        return cls(scene.private, VectorIndex(scene.private), scene.split.topics, smallest, scene.split.size)

    def __call__(self, points: FloatArray, shares: FloatArray | None = None) -> dict[str, float]:
        """Return each metric of synthetic ``points``, float64 (≤ m, k).

        Args:
            points: the vectors.
            shares: float64 (≤ m,), for W1 and topics; None for equal ones.
        """
        nearest = self.search.nearest(points)[:, 0]
        return {
            RECALL: float(recall(self.private, points, k=NEIGHBOURS)),
            PRECISION: float(precision(self.private, points, k=NEIGHBOURS)),
            DISTANCE: float(wasserstein(self.private, points, y_weights=shares)),
            SMALLEST: float(np.average(self.topics[nearest] == self.smallest, weights=shares)),
            DIFFERENT: len(np.unique(points, axis=0)) / self.size,
        }


def _note(values: Mapping[str, FloatArray], place: int | tuple[int, int], scores: Mapping[str, float]) -> None:
    for metric, score in scores.items():
        values[metric][place] = score
