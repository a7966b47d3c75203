"""Which words synthetic texts have of the real ones', and how they repeat themselves. Reads real texts: not private."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from evomix.evaluation.text.text_set import Beside
from evomix.evaluation.text.words import normalised, words

BANDS: Final = (("all words", 0, None), ("100 most frequent", 0, 100), ("next 900", 100, 1_000), ("rarer", 1_000, None))
"""Bands of the real vocabulary by rank: name, first rank, first rank beyond."""
SEQUENCE: Final = 5
"""Words in a row that, found in another text of the set, count as repeated."""
_GRAMS: Final = (1, 2, 3)

_Words = list[list[str]]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of words.

    Attributes:
        name: what it is.
        better: "higher" where more is better; "as real" where the figure should be that of the ceiling.
        synthetic: of the synthetic texts; None where it is not defined.
        ceiling: of as many other real texts.
        floor: of as many public texts; None without any.
    """

    name: str
    better: str
    synthetic: float | None
    ceiling: float | None
    floor: float | None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Figures of words.

    Attributes:
        figures: share of the real vocabulary that occurs, by band; then diversity and repetition.
        real_words: different words of the real texts.
        texts: texts of each set that were read.
        counted_words: running words of each set that diversity is counted over: the same number for all.
    """

    figures: tuple[Figure, ...]
    real_words: int
    texts: int
    counted_words: int


def measure_vocabulary(beside: Beside) -> Vocabulary:
    """Return figures of words of sets of one size.

    Diversity falls with the number of running words, whatever they say. It is counted over as many words of each set
    as the set with the fewest has.
    """
    real = [words(text) for text in beside.real.texts]
    sets = {name: [words(text) for text in found.texts] for name, found in beside.arms.items()}
    ranked = [word for word, _ in sorted(Counter(_running(real)).items(), key=lambda item: (-item[1], item[0]))]
    most = min(sum(map(len, some)) for some in sets.values())
    cut = {name: _first_words(some, most) for name, some in sets.items()}
    found: dict[tuple[str, str], dict[str, float | None]] = {}
    for name, some in sets.items():
        known = set(_running(some))
        for band, first, beyond in BANDS:
            found.setdefault((f"share of the real vocabulary: {band}", "higher"), {})[name] = _share(
                ranked[first:beyond], known
            )
        for n in _GRAMS:
            found.setdefault((_diversity_name(n), "as real"), {})[name] = _distinct(cut[name], n)
        found.setdefault(("texts that repeat another", "as real"), {})[name] = _repeated_texts(beside.arms[name].texts)
        repeated = f"texts that share {SEQUENCE} words in a row with another"
        found.setdefault((repeated, "as real"), {})[name] = _repeated_sequences(some)
    figures = tuple(
        Figure(name, better, by_set["synthetic"], by_set["ceiling"], by_set.get("floor"))
        for (name, better), by_set in found.items()
    )
    return Vocabulary(figures, len(ranked), len(beside.synthetic), most)


def _diversity_name(n: int) -> str:
    return (
        "different words among all words (type-token ratio)"
        if n == 1
        else f"different runs of {n} words (distinct-{n})"
    )


def _running(texts: _Words) -> Iterator[str]:
    return (word for text in texts for word in text)


def _share(band: Sequence[str], known: set[str]) -> float | None:
    return sum(word in known for word in band) / len(band) if band else None


def _first_words(texts: _Words, most: int) -> _Words:
    """Return the first texts up to ``most`` words, the last one cut."""
    kept, left = [], most
    for text in texts:
        if left <= 0:
            break
        kept.append(text[:left])
        left -= len(text)
    return kept


def _grams(text: list[str], n: int) -> Iterator[tuple[str, ...]]:
    return zip(*(text[k:] for k in range(n)), strict=False)


def _distinct(texts: _Words, n: int) -> float | None:
    grams = [gram for text in texts for gram in _grams(text, n)]
    return len(set(grams)) / len(grams) if grams else None


def _repeated_texts(texts: Sequence[str]) -> float:
    plain = [normalised(text) for text in texts]
    counts = Counter(plain)
    return sum(counts[text] > 1 for text in plain) / len(plain)


def _repeated_sequences(texts: _Words) -> float:
    """Return the share of texts with a run of words that another text has; Salkar et al. 2022 count the runs."""
    grams = [set(_grams(text, SEQUENCE)) for text in texts]
    counts = Counter(gram for found in grams for gram in found)
    return sum(any(counts[gram] > 1 for gram in found) for found in grams) / len(texts)
