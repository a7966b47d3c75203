"""Canaries: made-up texts planted among the private ones, and whether the synthetic texts give them away.

Each canary is scored by how far the synthetic texts take it up. Planted canaries are ranked among reference canaries
that were made alike and planted nowhere: exposure is log2(r + 1) − log2(rank) for r references, as Carlini et al.
2019 define it with a model's perplexity as the score. Where nothing leaks, ranks are uniform. A test of this kind
finds leaks; it cannot show that there are none, and it says nothing of the guarantee (ε, δ).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Final

import numpy as np
from scipy.stats import mannwhitneyu

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.evaluation.copies import Proportion, proportion
from evomix.evaluation.text.shingles import nearest_containment
from evomix.evaluation.text.words import normalised

FUZZY: Final = 0.8
"""Share of a canary's runs of two words, found in one synthetic text, from which it counts as there."""
_RUN: Final = 2
_SURE: Final = 0.01


@dataclass(frozen=True, slots=True)
class Exposure:
    """Ranks of the planted canaries among the references by one score.

    Attributes:
        score: "words" (share of the canary's runs of two words that one synthetic text has) or "vectors" (cosine to
            the nearest synthetic text).
        mean: mean exposure in bits; log2(e) ≈ 1.44 is what many references give where nothing leaks.
        largest: largest exposure in bits.
        possible: exposure of a canary above all references, in bits.
        auc: chance that a planted canary scores higher than a reference; 0.5 where nothing leaks.
        p_value: one-sided, of scores so high where nothing leaks (Mann-Whitney).
    """

    score: str
    mean: float
    largest: float
    possible: float
    auc: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Canaries:
    """What became of the canaries; no canary's text is kept.

    Attributes:
        planted: number of planted canaries.
        references: number of reference canaries.
        literal: share of the planted ones that stand in a synthetic text word for word.
        fuzzy: share of which at least 0.8 stands in one synthetic text.
        reference_literal: ``literal`` of the references.
        reference_fuzzy: ``fuzzy`` of the references.
        exposures: by score.
        warnings: plain sentences.
    """

    planted: int
    references: int
    literal: Proportion
    fuzzy: Proportion
    reference_literal: Proportion
    reference_fuzzy: Proportion
    exposures: tuple[Exposure, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CanarySet:
    """Canaries with their vectors.

    Attributes:
        texts: the canaries.
        vectors: unit vectors, floats (c, k), of the encoder of the synthetic texts; None: scored by words alone.
    """

    texts: Sequence[str]
    vectors: FloatArray | None = None


def measure_canaries(
    planted: CanarySet, references: CanarySet, synthetic: Sequence[str], vectors: FloatArray | None = None
) -> Canaries:
    """Look for planted canaries in synthetic texts. Canaries are no people's data: costs nothing.

    Args:
        planted: canaries that were among the private texts, at least one.
        references: canaries made the same way that were not, at least one.
        synthetic: at least one synthetic text.
        vectors: unit vectors of the synthetic texts, floats (m, k).

    Raises:
        SpecError: a set is empty or holds a canary without words, or a canary is in both.
    """
    _check(planted, references)
    plain = [f" {normalised(text)} " for text in synthetic]
    literal = [_literal(found.texts, plain) for found in (planted, references)]
    held = [
        np.where(there, 1.0, nearest_containment(found.texts, synthetic, size=_RUN).similarity)
        for there, found in zip(literal, (planted, references), strict=True)
    ]
    fuzzy = [proportion(int((share >= FUZZY).sum()), len(share)) for share in held]
    exposures = [_exposure("words", held[0], held[1])]
    if planted.vectors is not None and references.vectors is not None and vectors is not None:
        exposures.append(_exposure("vectors", *(_cosine(c.vectors, vectors) for c in (planted, references))))
    shares = [proportion(int(found.sum()), len(found)) for found in literal]
    return Canaries(
        planted=len(planted.texts),
        references=len(references.texts),
        literal=shares[0],
        fuzzy=fuzzy[0],
        reference_literal=shares[1],
        reference_fuzzy=fuzzy[1],
        exposures=tuple(exposures),
        warnings=_warnings(int(literal[0].sum()), len(planted.texts), exposures),
    )


def _check(planted: CanarySet, references: CanarySet) -> None:
    if not len(planted.texts) or not len(references.texts):
        raise SpecError(
            "expected canaries that were planted and references that were not, found "
            f"planted={len(planted.texts)}, references={len(references.texts)}; make both kinds the same way"
        )
    first, second = ({normalised(text) for text in found.texts} for found in (planted, references))
    if "" in first | second:
        raise SpecError("expected words in every canary, found one without any")
    if first & second:
        raise SpecError(
            f"expected references that were not planted, found {len(first & second)} canaries in both; draw others"
        )


def _literal(canaries: Sequence[str], plain: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell which canaries stand in some text as whole words in a row; ``plain`` is normalised, with spaces around."""
    together = "\n".join(plain)  # normalised texts hold no line break
    return np.fromiter((f" {normalised(canary)} " in together for canary in canaries), np.bool_, len(canaries))


def _cosine(canaries: FloatArray | None, vectors: FloatArray) -> FloatArray:
    assert canaries is not None
    return np.asarray((canaries @ vectors.T).max(axis=1), np.float64)


def _exposure(score: str, planted: FloatArray, references: FloatArray) -> Exposure:
    """Rank each planted canary among the references; one that ties with some stands in their middle."""
    above = (references[None, :] > planted[:, None]).sum(axis=1)
    level = (references[None, :] == planted[:, None]).sum(axis=1)
    possible = log2(len(references) + 1)
    exposure = possible - np.log2(1.0 + above + level / 2.0)
    auc = 1.0 - float(np.mean((above + level / 2.0) / len(references)))
    different = len(np.unique(np.concatenate([planted, references]))) > 1
    p_value = float(mannwhitneyu(planted, references, alternative="greater").pvalue) if different else 1.0
    return Exposure(score, float(exposure.mean()), float(exposure.max()), possible, auc, p_value)


def _warnings(literal: int, planted: int, exposures: Sequence[Exposure]) -> tuple[str, ...]:
    found = []
    if literal:
        found.append(f"CANARIES: {literal} of {planted} planted canaries stand in the synthetic texts word for word")
    leaking = [exposure.score for exposure in exposures if exposure.p_value < _SURE / len(exposures)]
    if leaking:
        found.append(f"canaries: planted ones score above references by {' and '.join(leaking)}, beyond chance")
    return tuple(found)
