"""Texts as sets of runs of words (shingles), and how far each set overlaps each set of a corpus: exact, by an index."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy import sparse

from evomix.core.arrays import FloatArray, IntArray
from evomix.evaluation.text.words import normalised, words

SHINGLE: Final = 3
"""Words in a row."""
_BLOCK: Final = 512


@dataclass(frozen=True, slots=True)
class Nearest:
    """For each query its most similar text of the corpus.

    Attributes:
        similarity: float64 (q,), in [0, 1].
        position: int64 (q,), the first such text; −1 where nothing overlaps.
    """

    similarity: FloatArray
    position: IntArray


def shingles(text: str, size: int = SHINGLE) -> frozenset[str]:
    """Return the runs of ``size`` words of a text; a shorter text is one run, so that every text has one.

    >>> sorted(shingles("It works very well"))
    ['it works very', 'works very well']
    """
    found = words(text)
    if len(found) < size:
        return frozenset([normalised(text)])
    return frozenset(" ".join(found[k : k + size]) for k in range(len(found) - size + 1))


def nearest_jaccard(queries: Sequence[str], corpus: Sequence[str], *, size: int = SHINGLE) -> Nearest:
    """Return the text of the corpus with the largest |A ∩ B| / |A ∪ B| for each query; exact, not by hashing."""
    return _nearest(queries, corpus, size=size, union=True)


def nearest_containment(queries: Sequence[str], corpus: Sequence[str], *, size: int) -> Nearest:
    """Return the text of the corpus that holds the largest share |A ∩ B| / |A| of each query's runs."""
    return _nearest(queries, corpus, size=size, union=False)


def _nearest(queries: Sequence[str], corpus: Sequence[str], *, size: int, union: bool) -> Nearest:
    asked = [shingles(text, size) for text in queries]
    # Runs that no query has can overlap nothing: they count for a text's size alone and are not kept.
    places = {run: place for place, run in enumerate(sorted(frozenset[str]().union(*asked)))}
    held, sizes = _matrix((shingles(text, size) for text in corpus), places, len(corpus))
    sought, own = _matrix(iter(asked), places, len(queries))
    similarity, position = np.zeros(len(queries)), np.full(len(queries), -1, np.int64)
    transposed = held.T.tocsr()
    for start in range(0, len(queries), _BLOCK):
        shared = (sought[start : start + _BLOCK] @ transposed).tocoo()
        if not shared.nnz:
            continue
        rows, columns = start + shared.row.astype(np.int64), shared.col.astype(np.int64)
        whole = own[rows] + sizes[columns] - shared.data if union else own[rows]
        found = shared.data / whole
        best = np.lexsort((columns, -found, rows))
        first = np.unique(rows[best], return_index=True)[1]
        chosen = best[first]
        similarity[rows[chosen]], position[rows[chosen]] = found[chosen], columns[chosen]
    return Nearest(similarity, position)


def _matrix(sets: Iterator[frozenset[str]], places: dict[str, int], rows: int) -> tuple[Any, IntArray]:
    """Return which text has which run, as a sparse matrix of ones, and how many runs each text has in all."""
    sizes = np.empty(rows, np.int64)
    columns: list[int] = []
    ends = np.zeros(rows + 1, np.int64)
    for row, found in enumerate(sets):
        sizes[row] = len(found)
        columns.extend(places[run] for run in found if run in places)
        ends[row + 1] = len(columns)
    ones = np.ones(len(columns), np.int64)
    return sparse.csr_matrix((ones, np.asarray(columns, np.int64), ends), shape=(rows, max(len(places), 1))), sizes
