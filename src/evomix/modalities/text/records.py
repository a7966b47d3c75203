"""A text record: a text and the class it belongs to. Populations of them are one-dimensional object arrays."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from evomix.core.arrays import IntArray, Population

Record: TypeAlias = tuple[int, str]
"""Position of the class among the classes (0 where there is one only), and the text."""


def population(records: Iterable[Record]) -> Population:
    """Return records as an object array (n,).

    >>> population([(0, "fine"), (1, "poor")])[1]
    (1, 'poor')
    """
    held = list(records)
    array = np.empty(len(held), object)
    array[:] = held
    return array


def texts(records: Population) -> list[str]:
    """Return the texts of a population, in its order."""
    return [record[1] for record in records]


def classes(records: Population) -> IntArray:
    """Return the class positions of a population, int64 (n,)."""
    return np.fromiter((record[0] for record in records), np.int64, len(records))


def with_texts(records: Population, replaced: Sequence[str]) -> Population:
    """Return records of the same classes with other texts, as many."""
    return population(zip(classes(records).tolist(), replaced, strict=True))
