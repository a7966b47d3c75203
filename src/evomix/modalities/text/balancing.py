"""Classes in the shares that the schema gives: post-processing of the law that final rows are drawn by."""

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.modalities.text.classes import Classes
from evomix.modalities.text.records import population


def with_class_shares(shares: FloatArray, classes: IntArray, wanted: FloatArray) -> FloatArray:
    """Return ``shares`` with each class scaled to what is wanted of it, float64 (d,), summing to 1.

    Within a class the ratios stay; where all are 0 its candidates share alike. Classes without candidates leave theirs
    to the others.

    Args:
        shares: float64 (d,), at least 0.
        classes: int64 (d,), of the candidates.
        wanted: float64 (c,), at least 0.

    >>> with_class_shares(np.array([0.1, 0.3, 0.6]), np.array([0, 0, 1]), np.array([0.8, 0.2])).round(6).tolist()
    [0.2, 0.6, 0.2]
    """
    held = np.bincount(classes, shares, minlength=len(wanted))
    counts = np.bincount(classes, minlength=len(wanted))
    within = np.where(held[classes] > 0.0, shares / np.where(held > 0.0, held, 1.0)[classes], 1.0 / counts[classes])
    scaled = within * wanted[classes]
    total = scaled.sum()
    return np.asarray(scaled / total if total > 0.0 else shares, np.float64)


def with_every_class(records: Population, labelled: NDArray[np.bool_], count: int) -> Population:
    """Return public records, those without a label given to the classes in turn: they are examples for all alike.

    Args:
        records: object (m,).
        labelled: bool (m,), whose class was told.
        count: how many classes there are.
    """
    turns = (np.cumsum(~labelled) - 1) % count
    return population(
        record if told else (int(turn), record[1]) for record, told, turn in zip(records, labelled, turns, strict=True)
    )


def fresh_shares(classes: Classes, public: IntArray | None) -> FloatArray:
    """Return the shares of classes among fresh texts, float64 (c,): the schema's, else of public records and even ones.

    Half of them even, so that a class that is rare or absent in public has candidates to be voted for.

    Args:
        classes: of the label.
        public: int64 (m,), classes of the public records; ``None`` without any.
    """
    if classes.shares is not None:
        return classes.shares
    even = np.full(len(classes), 1.0 / len(classes))
    if public is None or not public.size:
        return even
    return np.asarray((even + np.bincount(public, minlength=len(classes)) / public.size) / 2.0)
