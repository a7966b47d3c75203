"""Synthetic texts that repeat texts of a corpus, word for word or nearly. A measured risk, never a bound.

Of a public corpus the pairs can be shown. Of real texts only shares are kept: no real text leaves this file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.evaluation.copies import Proportion, proportion
from evomix.evaluation.text.shingles import nearest_jaccard
from evomix.evaluation.text.words import normalised

NEAR: Final = 0.8
"""Jaccard similarity of runs of three words from which two texts count as near duplicates."""
MOST_CORPUS: Final = 200_000
"""Texts of a corpus that are searched."""
MOST_QUERIES: Final = 20_000
_SHOWN: Final = 10
_WORTH_SHOWING: Final = 0.3
NOTABLE: Final = 0.01
LOUD: Final = 0.5


@dataclass(frozen=True, slots=True)
class ClosePair:
    """A synthetic text and the public text it is nearest to, with their Jaccard similarity."""

    similarity: float
    synthetic: str
    public: str


@dataclass(frozen=True, slots=True)
class NearCopies:
    """How many synthetic texts a corpus has already.

    Attributes:
        corpus: "public" or "real".
        corpus_texts: texts that were searched.
        exact: share equal to a text of the corpus but for case, spaces and punctuation.
        near: share at least 0.8 similar to one, the equal ones among them.
        control: what the control is.
        control_exact: ``exact`` of the control; None without one.
        control_near: ``near`` of the control; None without one.
        percentiles: of the similarity to the nearest text: 50, 90, 99 and 100 %.
        closest: the closest pairs, none of which twice; always empty for real texts.
    """

    corpus: str
    corpus_texts: int
    exact: Proportion
    near: Proportion
    control: str
    control_exact: Proportion | None
    control_near: Proportion | None
    percentiles: tuple[float, ...]
    closest: tuple[ClosePair, ...]


def public_copies(
    synthetic: Sequence[str], public: Sequence[str], *, control: Sequence[str], rng: np.random.Generator
) -> NearCopies:
    """Search synthetic texts in a public corpus; real texts are the control, and shares alone are kept of them.

    Args:
        synthetic: m ≥ 1 texts.
        public: at least one text; beyond 200,000 a sample.
        control: real texts; of each kind at most 20,000 are looked up.
        rng: draws the samples.
    """
    corpus = _drawn(public, MOST_CORPUS, rng)
    made = _drawn(synthetic, MOST_QUERIES, rng)
    found = nearest_jaccard(made, corpus)
    order = np.lexsort((found.position, -found.similarity))
    pairs = dict.fromkeys(
        ClosePair(float(found.similarity[k]), made[k], corpus[found.position[k]])
        for k in order.tolist()
        if found.similarity[k] >= _WORTH_SHOWING
    )
    apart = _counted(_drawn(control, MOST_QUERIES, rng), corpus) if len(control) else None
    return _copies("public", made, corpus, found.similarity, "real texts", apart, tuple(pairs)[:_SHOWN])


def real_copies(
    synthetic: Sequence[str], real: Sequence[str], *, control: Sequence[str], rng: np.random.Generator
) -> NearCopies:
    """Search synthetic texts among real ones; other real texts are the control. Reads real texts: not private.

    Args:
        synthetic: m ≥ 1 texts.
        real: at least one text, none of the control among them; beyond 200,000 a sample.
        control: other real texts: what chance explains.
        rng: draws the samples.
    """
    corpus = _drawn(real, MOST_CORPUS, rng)
    made = _drawn(synthetic, MOST_QUERIES, rng)
    similarity = nearest_jaccard(made, corpus).similarity
    apart = _counted(_drawn(control, MOST_QUERIES, rng), corpus) if len(control) else None
    return _copies("real", made, corpus, similarity, "other real texts", apart, ())


def copy_warnings(copies: NearCopies) -> tuple[str, ...]:
    """Return what is to be said of copies of real texts beyond what the control has of them."""
    chance = copies.control_near
    if chance is None or copies.corpus != "real":
        return ()
    figures = (
        f"{copies.near.share:.0%} of the synthetic texts repeat a real text nearly or fully, where chance explains "
        f"{chance.share:.0%}"
    )
    if copies.near.share >= LOUD and copies.near.low > chance.high:
        return (f"COPIES: {figures}. Do not share these texts: they repeat real records.",)
    return (f"copies: {figures}",) if copies.near.low - chance.high > NOTABLE else ()


def _copies(
    name: str,
    made: Sequence[str],
    corpus: Sequence[str],
    similarity: FloatArray,
    control: str,
    apart: tuple[Proportion, Proportion] | None,
    closest: tuple[ClosePair, ...],
) -> NearCopies:
    exact, near = _shares(made, corpus, similarity)
    return NearCopies(
        corpus=name,
        corpus_texts=len(corpus),
        exact=exact,
        near=near,
        control=control,
        control_exact=None if apart is None else apart[0],
        control_near=None if apart is None else apart[1],
        percentiles=tuple(np.percentile(similarity, (50, 90, 99, 100)).tolist()),
        closest=closest,
    )


def _counted(texts: Sequence[str], corpus: Sequence[str]) -> tuple[Proportion, Proportion]:
    return _shares(texts, corpus, nearest_jaccard(texts, corpus).similarity)


def _shares(texts: Sequence[str], corpus: Sequence[str], similarity: FloatArray) -> tuple[Proportion, Proportion]:
    known = {normalised(text) for text in corpus}
    equal = np.fromiter((normalised(text) in known for text in texts), np.bool_, len(texts))
    near = equal | (similarity >= NEAR)
    return proportion(int(equal.sum()), len(texts)), proportion(int(near.sum()), len(texts))


def _drawn(texts: Sequence[str], most: int, rng: np.random.Generator) -> Sequence[str]:
    if len(texts) <= most:
        return texts
    return [texts[k] for k in rng.choice(len(texts), size=most, replace=False).tolist()]
