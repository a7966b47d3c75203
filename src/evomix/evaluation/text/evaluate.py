"""The whole evaluation of synthetic texts, one call."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from evomix.core.errors import SpecError
from evomix.evaluation.downstream import Downstream
from evomix.evaluation.evaluate import COST, as_json
from evomix.evaluation.geometry import MOST_POINTS, Points, geometry
from evomix.evaluation.text.canaries import Canaries
from evomix.evaluation.text.downstream import Task, text_downstream
from evomix.evaluation.text.learners import Learner, LinearLearner
from evomix.evaluation.text.lengths import Lengths, measure_lengths
from evomix.evaluation.text.near_copies import NearCopies, copy_warnings, public_copies, real_copies
from evomix.evaluation.text.text_set import MOST_ROWS, Beside, TextSet, set_beside
from evomix.evaluation.text.verdict import text_verdict
from evomix.evaluation.text.vocabulary import Vocabulary, measure_vocabulary
from evomix.metrics.comparison import Comparison

MEASURES: Final = ("precision", "recall", "wasserstein", "frechet", "mauve")


@dataclass(frozen=True, slots=True)
class Target:
    """What models predict.

    Attributes:
        name: what messages call it.
        task: "classification" or "regression".
        learner: what learns it.
        seeds: train/test splits, at least 1.
    """

    name: str
    task: Task
    learner: Learner
    seeds: int = 3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Corpora:
    """All texts, where the sets with vectors are samples of them: copies are searched among all.

    Attributes:
        real: all real texts.
        synthetic: all synthetic texts.
        public: all public texts.
    """

    real: Sequence[str]
    synthetic: Sequence[str]
    public: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class TextEvaluation:
    """Measured quality and measured risk of synthetic texts; neither is a privacy bound. No real text is in it.

    Attributes:
        real_rows: real texts.
        synthetic_rows: synthetic texts.
        public_rows: public texts, 0 when there are none.
        encoder: name of the encoder of the vectors.
        verdict: whether synthetic texts are closer to the real ones than public texts; None without public texts.
        cost: what reading the real texts means for their people.
        downstream: scores of models; None without a target.
        learner: what learned them; None without a target.
        geometry: texts as points; None where real texts are too few.
        lengths: in words and in characters; none where real texts are too few.
        vocabulary: figures of words; None where real texts are too few.
        copies: synthetic texts among real ones, and among public ones where there are any.
        canaries: what became of planted canaries; None without any.
        warnings: plain sentences, the loudest first.
    """

    real_rows: int
    synthetic_rows: int
    public_rows: int
    encoder: str
    verdict: str | None
    cost: str
    downstream: Downstream | None
    learner: str | None
    geometry: Comparison | None
    lengths: tuple[Lengths, ...]
    vocabulary: Vocabulary | None
    copies: tuple[NearCopies, ...]
    canaries: Canaries | None
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as JSON, with ``modality`` "text"; null where a figure is not defined."""
        found: dict[str, Any] = as_json({"modality": "text", **asdict(self)})
        return found


def evaluate_texts(
    real: TextSet,
    synthetic: TextSet,
    *,
    encoder: str,
    public: TextSet | None = None,
    corpora: Corpora | None = None,
    target: Target | None = None,
    canaries: Canaries | None = None,
    points: bool = True,
    rng_seed: int = 0,
) -> TextEvaluation:
    """Compare synthetic texts with real ones. Reads real texts without noise: ε = ∞ for their people.

    Every figure but copies uses at most 50,000 texts of each set, drawn at random; figures of points at most 4,000.
    Copies are searched among at most 200,000 texts of a corpus.

    Args:
        real: at least one text.
        synthetic: at least one text.
        encoder: name of what made the vectors.
        public: texts anyone may have: the floor. Without targets they are no floor of models.
        corpora: all texts, where the sets above are samples; None: they are all.
        target: what models shall predict; None: no models.
        canaries: what became of planted canaries, to be shown beside the rest.
        points: whether to compare texts as points.
        rng_seed: seed of everything drawn here.

    Raises:
        SpecError: a set without texts, vectors of different dimensions, seeds below 1, or a target that is missing.
    """
    _check(real, synthetic, public, target)
    rng = np.random.default_rng(rng_seed)
    beside = set_beside(real, synthetic, public, rng=rng)
    if corpora is None:
        corpora = Corpora(real.texts, synthetic.texts, () if public is None else public.texts)
    copies = _copies(corpora, rng)
    models = None
    if target is not None:
        models = text_downstream(
            real.draw(MOST_ROWS, rng),
            synthetic.draw(MOST_ROWS, rng),
            target=target.name,
            task=target.task,
            public=None if public is None else public.draw(MOST_ROWS, rng),
            learner=target.learner,
            seeds=target.seeds,
            rng_seed=rng_seed,
        )
    lying = _geometry(real, synthetic, public, rng) if points else None
    words = None if beside is None else measure_vocabulary(beside)
    lengths = () if beside is None else measure_lengths(beside)
    return TextEvaluation(
        real_rows=len(corpora.real),
        synthetic_rows=len(corpora.synthetic),
        public_rows=len(corpora.public),
        encoder=encoder,
        verdict=None if public is None or not len(public) else text_verdict(models, lying, lengths, words),
        cost=COST,
        downstream=models,
        learner=None if target is None else target.learner.title,
        geometry=lying,
        lengths=lengths,
        vocabulary=words,
        copies=copies,
        canaries=canaries,
        warnings=(
            *(warning for found in copies for warning in copy_warnings(found)),
            *(() if canaries is None else canaries.warnings),
            *(() if models is None else models.warnings),
            *_few(beside),
        ),
    )


def linear_target(name: str, task: Task, *, seeds: int = 3) -> Target:
    """Return a target that linear models on vectors learn."""
    return Target(name, task, LinearLearner(), seeds)


def _copies(corpora: Corpora, rng: np.random.Generator) -> tuple[NearCopies, ...]:
    """Search synthetic texts among all real ones but those of the control, at most a fifth, and among public ones."""
    shuffled = [corpora.real[row] for row in rng.permutation(len(corpora.real)).tolist()]
    apart = min(len(shuffled) // 5, 10_000)
    found = [real_copies(corpora.synthetic, shuffled[apart:], control=shuffled[:apart], rng=rng)]
    if len(corpora.public):
        found.append(public_copies(corpora.synthetic, corpora.public, control=corpora.real, rng=rng))
    return tuple(found)


def _geometry(real: TextSet, synthetic: TextSet, public: TextSet | None, rng: np.random.Generator) -> Comparison | None:
    points = Points(
        real=real.draw(2 * MOST_POINTS, rng).vectors,
        synthetic=synthetic.draw(MOST_POINTS, rng).vectors,
        public=None if public is None else public.draw(MOST_POINTS, rng).vectors,
    )
    compared = min(
        len(real) // 2, len(synthetic), len(public) if public is not None and len(public) else len(synthetic)
    )
    # One point has no covariance, which the Fréchet distance is of.
    measures = [name for name in MEASURES if compared > 1 or name != "frechet"]
    return geometry(points, seed=int(rng.integers(2**31)), measures=measures)


def _few(beside: Beside | None) -> tuple[str, ...]:
    return ("too few real texts to compare lengths and words",) if beside is None else ()


def _check(real: TextSet, synthetic: TextSet, public: TextSet | None, target: Target | None) -> None:
    sets = {"real": real, "synthetic": synthetic} | ({} if public is None else {"public": public})
    for name, found in sets.items():
        if not len(found) and name != "public":
            raise SpecError(f"expected texts in the {name} set, found none; there is nothing to compare")
        if found.vectors.shape[1] != real.vectors.shape[1]:
            raise SpecError(
                f"expected vectors of dimension {real.vectors.shape[1]} for the {name} texts, found "
                f"dimension={found.vectors.shape[1]}; use one encoder for all"
            )
    if target is not None and target.seeds < 1:
        raise SpecError(f"expected at least one train/test split, found seeds={target.seeds}")
